// What a custom type has beyond a built-in one: the definition it comes from, and its schema at work.
import type { JsonObject } from '../json-value.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { CustomSchema } from './custom-schema.ts';
import type { DefinedColumn, DefinedVersion, Definition } from './definition.ts';

/** A version of a custom kind as plain data: enough to make its answers from what is stored, on any thread. */
export interface CustomForm {
  /** Differs for versions and states of definitions that answer otherwise. */
  readonly key: string;
  readonly apiVersion: string;
  readonly columns: readonly DefinedColumn[];
  readonly keepsUnknown: boolean;
  /** Where objects have to be brought into the version; absent: they are sent as they lie. */
  readonly schema?: JsonObject;
}

/** The words of a dialect that a schema at work needs. */
export interface SchemaWords {
  /** What names of our own in a schema begin with. */
  readonly prefix: string;
  /** `meta/v1.ObjectMeta`. */
  readonly metadata: TypeSchema;
}

export class CustomType {
  readonly definition: Definition;
  readonly version: DefinedVersion;
  readonly form: CustomForm;
  readonly #words: SchemaWords;
  #schema: CustomSchema | undefined;

  constructor(definition: Definition, version: DefinedVersion, words: SchemaWords) {
    this.definition = definition;
    this.version = version;
    this.form = formOf(definition, version);
    this.#words = words;
  }

  /** Compiled on first use. */
  get schema(): CustomSchema {
    this.#schema ??= schemaAtWork(this.version.schema, this.definition.keepsUnknown, this.#words);
    return this.#schema;
  }

  /** Stored objects may be in another form than this version's: of another version, or of an earlier schema. */
  get needsForm(): boolean {
    return needsForm(this.definition, this.version);
  }

  /** True where objects may lie in a version that only the definition's webhook brings into this one. */
  get mayBeOutside(): boolean {
    return this.definition.webhook !== undefined && this.needsForm;
  }

  /** True for an object that the definition's webhook has to convert before it can be brought into this version. */
  isConvertedOutside({ apiVersion }: JsonObject): boolean {
    return this.definition.webhook !== undefined && apiVersion !== this.form.apiVersion;
  }

  /** An object of any version of the kind in this one, already converted where a webhook does that. It is consumed. */
  inVersion(object: JsonObject): JsonObject {
    return broughtInto(this.form.apiVersion, this.schema, object);
  }
}

function needsForm({ hasChanged, storageVersion }: Definition, { name }: DefinedVersion): boolean {
  return hasChanged || name !== storageVersion;
}

function formOf(definition: Definition, version: DefinedVersion): CustomForm {
  const { name, revision, group, keepsUnknown } = definition;
  const schema = needsForm(definition, version) ? { schema: version.schema ?? {} } : undefined;
  return {
    key: `${name} ${revision} ${version.name}`,
    apiVersion: `${group}/${version.name}`,
    columns: version.columns,
    keepsUnknown,
    ...schema,
  };
}

function schemaAtWork(schema: JsonObject | undefined, keepsUnknown: boolean, words: SchemaWords): CustomSchema {
  return new CustomSchema({ schema, keepsUnknown, ...words });
}

function broughtInto(apiVersion: string, schema: CustomSchema, object: JsonObject): JsonObject {
  const { object: shaped } = schema.shape({ ...object, apiVersion });
  schema.complete(shaped);
  return shaped;
}

const converters = new WeakMap<CustomForm, (object: JsonObject) => JsonObject>();

/** Brings stored objects, which are consumed, into a form; undefined where they are sent as they lie. */
export function converterInto(form: CustomForm, words: SchemaWords): ((object: JsonObject) => JsonObject) | undefined {
  const { schema, keepsUnknown, apiVersion } = form;
  if (schema === undefined) return undefined;
  let convert = converters.get(form);
  if (convert === undefined) {
    const isAny = Object.keys(schema).length === 0;
    const atWork = schemaAtWork(isAny ? undefined : schema, keepsUnknown, words);
    convert = (object) => broughtInto(apiVersion, atWork, object);
    converters.set(form, convert);
  }
  return convert;
}
