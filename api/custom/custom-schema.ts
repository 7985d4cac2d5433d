// The schema of a custom kind in one version, at work: brings objects into the form they are stored in, gives them their
// defaults, and says what is wrong with them. Compiled on first use; the same for every object of the kind.
import { decode } from '../codec/decode.ts';
import type { JsonObject } from '../json-value.ts';
import type { TypeSchema } from '../schema/schema.ts';
import type { FieldError } from '../status/field-error.ts';
import { type Defaulter, defaulterOf, giveDefaults } from './defaulting.ts';
import { type Coercer, coercerOf } from './embedded-metadata.ts';
import { embeddedCheck } from './embedded-objects.ts';
import { listTypeCheck } from './list-types.ts';
import { type PlacedCheck, placedCheckOf } from './placed-checks.ts';
import { Pruned, pruneObject } from './pruning.ts';
import { type Members, type Structure, structureOf } from './structure.ts';
import { valueCheckOf } from './value-checks.ts';
import { ValueReport } from './value-report.ts';

/** What an object of the kind is without its metadata's schema; `keepsUnknown`: nothing is pruned. */
export interface SchemaParts {
  readonly schema: JsonObject | undefined;
  readonly keepsUnknown: boolean;
  /** What names of our own in a schema begin with. */
  readonly prefix: string;
  /** `meta/v1.ObjectMeta`. */
  readonly metadata: TypeSchema;
}

export interface Shaped {
  readonly object: JsonObject;
  /** Paths of what was taken out, at most 100. */
  readonly unknownFields: readonly string[];
}

const NOTHING_TOLD: readonly string[] = Object.freeze([]);

export class CustomSchema {
  readonly #parts: SchemaParts;
  #structure: Structure | undefined;
  #defaulter: Defaulter | undefined;
  #errorsIn: ObjectErrors | undefined;
  #coercer: Coercer | undefined;
  #isCompiled = false;

  constructor(parts: SchemaParts) {
    this.#parts = parts;
  }

  /** What names of our own in the schema begin with. */
  get prefix(): string {
    return this.#parts.prefix;
  }

  /** The type of their metadata. */
  get metadata(): TypeSchema {
    return this.#parts.metadata;
  }

  /** What the schema does not know is taken out, but where it says otherwise itself. */
  get prunes(): boolean {
    return !this.#parts.keepsUnknown;
  }

  /** What the objects consist of; undefined where anything goes. */
  get structure(): Structure | undefined {
    const { schema, prefix } = this.#parts;
    if (schema !== undefined) this.#structure ??= structureOf(schema, prefix);
    return this.#structure;
  }

  /**
   * An object without what the schema does not know, its metadata in canonical form. The object is consumed. Throws
   * DecodeError for metadata that is none.
   */
  shape(object: JsonObject): Shaped {
    const members = object as Members;
    let unknownFields = NOTHING_TOLD;
    const { metadata } = members;
    if (metadata !== undefined && metadata !== null) {
      const decoded = decode(metadata, this.#parts.metadata);
      members.metadata = decoded.object;
      unknownFields = decoded.unknownFields.map((path) => `metadata.${path}`);
    }
    const { structure } = this;
    if (structure === undefined || this.#parts.keepsUnknown) return { object, unknownFields };
    const pruned = new Pruned();
    pruneObject(members, structure, pruned);
    if (pruned.paths.length > 0) unknownFields = [...unknownFields, ...pruned.paths];
    return { object, unknownFields };
  }

  /**
   * The same of an object that comes from outside: the metadata of whole objects inside it is brought into its form as well. What is
   * stored has been through this.
   */
  read(object: JsonObject): Shaped {
    const shaped = this.shape(object);
    this.#compile();
    if (this.#coercer === undefined) return shaped;
    const pruned = new Pruned();
    this.#coercer(shaped.object, pruned);
    if (pruned.paths.length === 0) return shaped;
    return { object: shaped.object, unknownFields: [...shaped.unknownFields, ...pruned.paths] };
  }

  /** Gives an object its defaults, in place. False: they are more than an object may be, and not all were given. */
  complete(object: JsonObject): boolean {
    this.#compile();
    return this.#defaulter === undefined || giveDefaults(this.#defaulter, object as Members);
  }

  /** What is wrong with an object. Needs `loadPatterns`. */
  errorsIn(object: JsonObject): readonly FieldError[] {
    const { schema, prefix } = this.#parts;
    if (schema === undefined) return [];
    this.#errorsIn ??= objectErrors(schema, prefix);
    return this.#errorsIn(object);
  }

  /** Does what the first object would otherwise wait for, a part at a time: of a schema of megabytes each takes some milliseconds. */
  *preparing(): Generator<void> {
    const { schema, prefix } = this.#parts;
    yield;
    const { structure } = this;
    yield;
    this.#compile();
    if (schema === undefined || structure === undefined) return;
    const checks: (PlacedCheck | undefined)[] = [];
    for (const make of CHECKS) {
      yield;
      checks.push(make(schema, prefix));
    }
    this.#errorsIn ??= errorsBy(checks);
    const probe = probeOf(structure);
    yield;
    this.#errorsIn(probe);
    yield;
    this.complete(probe as JsonObject);
  }

  #compile(): void {
    if (this.#isCompiled) return;
    this.#isCompiled = true;
    const { structure } = this;
    if (structure === undefined) return;
    this.#defaulter = defaulterOf(structure);
    this.#coercer = coercerOf(structure, this.#parts.metadata);
  }
}

type ObjectErrors = (object: JsonObject) => readonly FieldError[];

/**
 * What a schema says is wrong with an object: with its values first, then with whole objects among them, then with lists that are
 * sets or maps. Needs `loadPatterns`.
 */
export function objectErrors(schema: JsonObject, prefix: string): ObjectErrors {
  return errorsBy(CHECKS.map((make) => make(schema, prefix)));
}

type MakeCheck = (schema: JsonObject, prefix: string) => PlacedCheck | undefined;

const CHECKS: readonly MakeCheck[] = [
  valueCheckOf,
  (schema, prefix) => placedCheckOf(schema, (one) => embeddedCheck(one, prefix)),
  (schema, prefix) => placedCheckOf(schema, (one) => listTypeCheck(one, prefix)),
];

function errorsBy(made: readonly (PlacedCheck | undefined)[]): ObjectErrors {
  const checks = made.filter((check) => check !== undefined);
  return (object) => {
    const report = new ValueReport();
    for (const check of checks) check(object, report);
    return report.errors;
  };
}

/** Places of a probe. */
const PROBE_MAX = 64;

/** An object of nothing but objects, which has whatever is made late of their schemas made. */
function probeOf(structure: Structure): JsonObject {
  const probe: Record<string, unknown> = {};
  const waiting: [Structure, Record<string, unknown>][] = [[structure, probe]];
  let places = 1;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [{ properties }, object] = next;
    for (const [name, below] of properties) {
      if (below.properties.size === 0 || name === '__proto__' || places >= PROBE_MAX) continue;
      places++;
      const inside: Record<string, unknown> = {};
      object[name] = inside;
      waiting.push([below, inside]);
    }
  }
  return probe;
}
