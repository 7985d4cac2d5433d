// The schema of a custom kind in one version, at work: brings objects into the form they are stored in, gives them their
// defaults, and says what is wrong with them. Compiled on first use; the same for every object of the kind.
import { decode } from '../../codec/decode.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { TypeSchema } from '../../schema/schema.ts';
import { type FieldError, NO_FIELD_ERRORS } from '../../status/field-error.ts';
import { listTypeCheck } from '../checks/list-types.ts';
import { type PlacedCheck, placedCheckOf } from '../checks/placed-checks.ts';
import { valueCheckOf } from '../checks/value-checks.ts';
import { ValueReport } from '../checks/value-report.ts';
import { type Defaulter, defaulterOf, dropNulls, giveDefaults } from './defaulting.ts';
import { type Coercer, coercerOf, type Unreadable } from './embedded-metadata.ts';
import { embeddedCheck } from './embedded-objects.ts';
import { Pruned, pruneObject } from './pruning.ts';
import { givesAnything, type Members, type Structure, structureOf } from './structure.ts';

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
  #mayGiveMetadata = false;
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
   * stored has been through this, if perhaps under another schema.
   */
  read(object: JsonObject): Shaped {
    const shaped = this.shape(object);
    const unknown = this.coerce(shaped.object);
    return unknown.length === 0 ? shaped : { ...shaped, unknownFields: [...shaped.unknownFields, ...unknown] };
  }

  /**
   * Brings the metadata of whole objects inside an object into its form, in place where it is not; returns the paths of what was taken
   * out. Throws DecodeError for metadata that is none, where that is to be told.
   */
  coerce(object: JsonObject, unreadable: Unreadable = 'told'): readonly string[] {
    this.#compile();
    if (this.#coercer === undefined) return NOTHING_TOLD;
    const pruned = new Pruned();
    this.#coercer(object, pruned, unreadable);
    return pruned.paths;
  }

  /**
   * Gives an object its defaults, in place, those of metadata in the form of metadata. False: they are more than an object may be,
   * and not all were given.
   *
   * @param keepsNulls whether nulls stay that the schema refuses, as they do wherever nothing is pruned. Otherwise they are taken out.
   */
  complete(object: JsonObject, keepsNulls = false): boolean {
    this.#compile();
    if (this.#defaulter === undefined) return true;
    const fits = giveDefaults(this.#defaulter, object as Members, keepsNulls || !this.prunes);
    if (this.#mayGiveMetadata) this.coerce(object, 'kept');
    return fits;
  }

  /** A stored object as it is read: what the schema knows of it, with its defaults. It is consumed. */
  asStored(object: JsonObject): JsonObject {
    const { object: shaped } = this.shape(object);
    this.coerce(shaped, 'dropped');
    this.complete(shaped);
    return shaped;
  }

  /** An object that was converted into this version: without what the schema does not know or refuses as null, and given nothing. */
  converted(object: JsonObject): JsonObject {
    const { object: shaped } = this.shape(object);
    this.#compile();
    if (this.#defaulter !== undefined && this.prunes) dropNulls(this.#defaulter, shaped as Members);
    return shaped;
  }

  /** What is wrong with an object, which is new where nothing is said of an update. Needs `loadPatterns`. */
  errorsIn(object: JsonObject, update?: CustomUpdate): readonly FieldError[] {
    const { schema, prefix } = this.#parts;
    if (schema === undefined) return [];
    this.#errorsIn ??= objectErrors(schema, prefix);
    return this.#errorsIn(object, update);
  }

  /** Does what the first object would otherwise wait for, a part at a time: of a schema of megabytes each takes some milliseconds. */
  *preparing(): Generator<void> {
    const { schema, prefix } = this.#parts;
    yield;
    const { structure } = this;
    yield;
    this.#compile();
    if (schema === undefined || structure === undefined) return;
    yield;
    const values = valueCheckOf(schema, prefix);
    yield;
    const embedded = embeddedChecksOf(schema, prefix);
    yield;
    this.#errorsIn ??= errorsBy(values, embedded, listChecksOf(schema, prefix));
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
    this.#mayGiveMetadata = this.#coercer !== undefined && givesAnything(structure);
  }
}

/** What an object takes the place of. */
export interface CustomUpdate {
  readonly before: JsonObject;
  /** Nothing but the status was written. */
  readonly isStatusAlone: boolean;
}

type ObjectErrors = (object: JsonObject, update?: CustomUpdate) => readonly FieldError[];

/**
 * What a schema says is wrong with an object: with its values first, then with whole objects among them, then with lists that are
 * sets or maps. Needs `loadPatterns`.
 */
export function objectErrors(schema: JsonObject, prefix: string): ObjectErrors {
  return errorsBy(valueCheckOf(schema, prefix), embeddedChecksOf(schema, prefix), listChecksOf(schema, prefix));
}

function embeddedChecksOf(schema: JsonObject, prefix: string): PlacedCheck | undefined {
  return placedCheckOf(schema, (one) => embeddedCheck(one, prefix));
}

function listChecksOf(schema: JsonObject, prefix: string): PlacedCheck | undefined {
  return placedCheckOf(schema, (one) => listTypeCheck(one, prefix));
}

/** Who writes the status is not told of objects and lists. Lists that repeat something already, since they were let in so, may go on. */
function errorsBy(
  values: PlacedCheck,
  embedded: PlacedCheck | undefined,
  lists: PlacedCheck | undefined,
): ObjectErrors {
  return (object, update) => {
    const report = new ValueReport();
    values(object, report);
    if (update?.isStatusAlone === true) return report.errors;
    embedded?.(object, report);
    const ofLists = errorsOf(lists, object);
    if (ofLists.length === 0) return report.errors;
    if (update !== undefined && errorsOf(lists, update.before).length > 0) return report.errors;
    return [...report.errors, ...ofLists];
  };
}

function errorsOf(check: PlacedCheck | undefined, object: JsonObject): readonly FieldError[] {
  if (check === undefined) return NO_FIELD_ERRORS;
  const report = new ValueReport();
  check(object, report);
  return report.errors;
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
