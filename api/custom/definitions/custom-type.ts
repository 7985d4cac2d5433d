// What a custom type has beyond a built-in one: the definition it comes from, and its schema at work.
import { remembered } from '../../../values/remembered.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { CustomSchema } from '../forms/custom-schema.ts';
import type { DefinedColumn, DefinedVersion, Definition } from './definition.ts';
import { type SchemaWords, VersionSchemas } from './version-schemas.ts';

/** A version of a custom kind as plain data: enough to make its answers from what is stored, on any thread. */
export interface CustomForm {
  /** Differs for versions and states of definitions that answer otherwise. */
  readonly key: string;
  readonly apiVersion: string;
  readonly columns: readonly DefinedColumn[];
  readonly keepsUnknown: boolean;
  /**
   * The schemas of all versions as JSON, by `apiVersion`, where objects may have to be brought into this one: what lies in another
   * has the defaults of that one. Absent: they are sent as they lie.
   */
  readonly schemaTexts?: Readonly<Record<string, string | undefined>>;
  /** Of the definition, where this is the stored version: what was written under it is sent as it lies. */
  readonly storedGeneration?: number;
}

/** Of a schema as JSON. */
const LARGE_LENGTH = 128 * 1024;

export class CustomType {
  readonly definition: Definition;
  readonly version: DefinedVersion;
  readonly form: CustomForm;
  readonly schemas: VersionSchemas;

  constructor(definition: Definition, version: DefinedVersion, schemas: VersionSchemas) {
    this.definition = definition;
    this.version = version;
    this.form = formOf(definition, version);
    this.schemas = schemas;
    typesByForm.set(this.form, this);
  }

  /** Compiled on first use. */
  get schema(): CustomSchema {
    return this.schemas.of(this.version);
  }

  /** A schema that takes long to parse and to compile. */
  get isLarge(): boolean {
    return (this.version.schemaText?.length ?? 0) > LARGE_LENGTH;
  }

  /** And has not been yet. */
  get isLargeAndUnread(): boolean {
    return this.isLarge && !this.schemas.hasRead(this.version);
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
    return broughtInto(this.form.apiVersion, this.schema, this.#own(object), object);
  }

  /** A stored object as it is read in the version that it lies in: so a webhook is sent it. It is consumed. */
  asItLies(object: JsonObject): JsonObject {
    const own = this.#own(object);
    return own === undefined ? object : own.asStored(object);
  }

  /** What a webhook has made of an object in this version, which gives it no defaults. It is consumed. */
  fromOutside(object: JsonObject): JsonObject {
    return this.schema.converted({ ...object });
  }

  /** The schema that an object of another version lies in. */
  #own({ apiVersion }: JsonObject): CustomSchema | undefined {
    if (apiVersion === this.form.apiVersion) return undefined;
    const { group, versions } = this.definition;
    const version = versions.find(({ name }) => `${group}/${name}` === apiVersion);
    return version && this.schemas.of(version);
  }
}

function needsForm(definition: Definition, { name }: DefinedVersion): boolean {
  const { generation, storageVersion, isSharedWithOthers = false } = definition;
  return isSharedWithOthers || generation > 1 || name !== storageVersion;
}

function formOf(definition: Definition, version: DefinedVersion): CustomForm {
  const { name, revision, group, keepsUnknown, generation, storageVersion } = definition;
  return {
    key: `${name} ${revision} ${version.name}`,
    apiVersion: `${group}/${version.name}`,
    columns: version.columns,
    keepsUnknown,
    ...(needsForm(definition, version) ? { schemaTexts: schemaTextsOf(definition) } : undefined),
    ...(version.name === storageVersion ? { storedGeneration: generation } : undefined),
  };
}

/** Shared by the forms of all versions: there may be thousands. */
const schemaTextsOf = remembered(
  ({ group, versions }: Definition): NonNullable<CustomForm['schemaTexts']> =>
    Object.fromEntries(versions.map(({ name, schemaText }) => [`${group}/${name}`, schemaText])),
);

/** Defaults are those of the version that an object lies in (`own`, where that is another): what is asked for gives none. */
function broughtInto(
  apiVersion: string,
  schema: CustomSchema,
  own: CustomSchema | undefined,
  object: JsonObject,
): JsonObject {
  const read = (own ?? schema).asStored({ ...object, apiVersion });
  return own === undefined ? read : schema.converted(read);
}

/** On the thread that made the form, what is compiled there serves it too. */
const typesByForm = new WeakMap<CustomForm, CustomType>();
const converters = new WeakMap<CustomForm, (object: JsonObject) => JsonObject>();

/** Brings stored objects, which are consumed, into a form; undefined where they are sent as they lie. */
export function converterInto(form: CustomForm, words: SchemaWords): ((object: JsonObject) => JsonObject) | undefined {
  if (form.schemaTexts === undefined) return undefined;
  const type = typesByForm.get(form);
  if (type !== undefined) return (object) => type.inVersion(object);
  let convert = converters.get(form);
  if (convert === undefined) {
    convert = converterOf(form, form.schemaTexts, words);
    converters.set(form, convert);
  }
  return convert;
}

function converterOf(
  { apiVersion, keepsUnknown }: CustomForm,
  texts: NonNullable<CustomForm['schemaTexts']>,
  words: SchemaWords,
): (object: JsonObject) => JsonObject {
  const versions = Object.values(texts).map((schemaText) => ({ schemaText }));
  const schemas = new VersionSchemas({ versions, keepsUnknown }, words);
  const schemaOf = (version: string): CustomSchema => schemas.of({ schemaText: texts[version] });
  return (object) => {
    const lies = String(object.apiVersion);
    const own = lies !== apiVersion && Object.hasOwn(texts, lies) ? schemaOf(lies) : undefined;
    return broughtInto(apiVersion, schemaOf(apiVersion), own, object);
  };
}
