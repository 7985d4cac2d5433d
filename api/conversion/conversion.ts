// Objects of one version of a kind as objects of another (SPEC.md "Versioning"): through the hub version of the kind, by
// the steps of the tables beside this file. Pure; nothing is lost on the way there and back. Defaults and validity are of
// the version that a client speaks, and not decided here.
import { decode } from '../codec/decode.ts';
import { jsonCopy } from '../json/json-copy.ts';
import type { JsonObject } from '../json/json-value.ts';
import { apiVersionOf } from '../resources/resource-table.ts';
import type { Schema, TypeSchema } from '../schema/schema.ts';
import { isSameForm } from './same-form.ts';
import type { StepContext, VersionSteps } from './step.ts';
import { STEPS } from './steps.ts';

/** A kind in one version. */
export interface VersionedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Converter {
  /** The versions say the same in the same words: only the apiVersion differs. */
  readonly isRelabeling: boolean;
  /** A canonical object of the one version as a canonical object of the other, which shares no part that may change. */
  readonly convert: (object: JsonObject) => JsonObject;
}

export interface Conversions {
  /**
   * Converts between two versions of a kind, in whatever groups they are; from a version to itself, it brings what is
   * said in two ways into the one that is stored. Throws RangeError where the two are not versions of one kind.
   */
  between(from: VersionedKind, to: VersionedKind): Converter;
}

const instances = new WeakMap<Schema, Conversions>();

/** The conversions between the types of a schema; the same object each time. */
export function conversionsOf(schema: Schema): Conversions {
  let conversions = instances.get(schema);
  if (conversions === undefined) {
    conversions = new SchemaConversions(schema);
    instances.set(schema, conversions);
  }
  return conversions;
}

class SchemaConversions implements Conversions {
  readonly #context: StepContext;
  readonly #converters = new Map<TypeSchema, Map<TypeSchema, Converter>>();

  constructor(schema: Schema) {
    this.#context = { schema, dialect: schema.dialect };
  }

  between(from: VersionedKind, to: VersionedKind): Converter {
    const source = this.#typeOf(from);
    const target = this.#typeOf(to);
    let fromSource = this.#converters.get(source);
    if (fromSource === undefined) {
      fromSource = new Map();
      this.#converters.set(source, fromSource);
    }
    let converter = fromSource.get(target);
    if (converter === undefined) {
      converter = this.#make(source, target);
      fromSource.set(target, converter);
    }
    return converter;
  }

  #typeOf({ group, version, kind }: VersionedKind): TypeSchema {
    const type = this.#context.schema.kind(group, version, kind);
    if (type === undefined) throw new RangeError(`no kind ${kind} in ${apiVersionOf(group, version)}`);
    return type;
  }

  #make(source: TypeSchema, target: TypeSchema): Converter {
    const first = stepsOf(source);
    const last = stepsOf(target);
    requireOneKind(source, first, target, last);
    const apiVersion = apiVersionOf(target.group, target.version);
    const isPlain = first === undefined && last === undefined;
    if ((isPlain || first?.up === last?.up) && isSameForm(source, target) && !(source === target && !isPlain)) {
      return { isRelabeling: true, convert: (object) => ({ ...object, apiVersion }) };
    }
    const context = this.#context;
    const convert = (object: JsonObject): JsonObject => {
      const inHub = first === undefined ? object : first.up(object, context);
      const converted = last === undefined ? inHub : last.down(inHub, context);
      // A copy: canonical form is reached in place, and the object given is still someone's.
      return decode(jsonCopy({ ...converted, apiVersion, kind: target.kind }), target).object;
    };
    return { isRelabeling: false, convert };
  }
}

function stepsOf({ name }: TypeSchema): VersionSteps | undefined {
  return Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
}

function requireOneKind(
  source: TypeSchema,
  first: VersionSteps | undefined,
  target: TypeSchema,
  last: VersionSteps | undefined,
): void {
  if (hubOf(source, first) === hubOf(target, last)) return;
  throw new RangeError(`${source.name} and ${target.name} are not versions of one kind`);
}

/** What all versions of a kind have in common: its hub, or its group and name where all have one form. */
function hubOf(type: TypeSchema, steps: VersionSteps | undefined): string {
  return (steps?.hub ?? type.name).replace(/\/[^.]*/, '');
}
