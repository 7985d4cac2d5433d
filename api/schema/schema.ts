// The schema of every built-in type, in one dialect: what the codec, defaulting, merge patch, apply, validation and
// OpenAPI read. Built type by type on first use from the rows of tables.ts. Pure data: no decision is made here.
import type { Dialect, DialectName } from '../../config/dialect.ts';
import { TABLES } from './tables.ts';

/** How a value of the type stands in JSON: an object with the fields as members, or one of the special forms. */
export type Form =
  | 'message'
  | 'quantity'
  | 'time'
  | 'microTime'
  | 'duration'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json'
  | 'any'
  | 'stringList'
  | 'schemaOrBool'
  | 'schemaOrArray'
  | 'schemaOrStringArray';

export type FieldKind = 'string' | 'int32' | 'int64' | 'bool' | 'bytes' | 'double' | 'message';
export type Cardinality = 'one' | 'list' | 'map';
export type ListType = 'atomic' | 'set' | 'map';

export interface FieldSchema {
  /** The name in JSON. For an inline field, whose members are lifted into the parent, its Protobuf name. */
  readonly name: string;
  /** The Protobuf number. */
  readonly number: number;
  readonly kind: FieldKind;
  /** Map keys are strings. */
  readonly cardinality: Cardinality;
  /** The type of the value, list element or map value; undefined unless kind is `message`. */
  readonly type: TypeSchema | undefined;
  /** As OpenAPI lists it. */
  readonly required: boolean;
  /** Absent differs from the zero value. */
  readonly optional: boolean;
  /** Written to JSON even when empty. */
  readonly emitEmpty: boolean;
  /** Lifted into the parent in JSON, nested in Protobuf. */
  readonly inline: boolean;
  /** Name of the enumeration of its known texts, for `Schema.enumeration`. */
  readonly enumeration: string | undefined;
  /** `merge`, `replace`, `retainKeys` or several of them, comma-separated. */
  readonly patchStrategy: string | undefined;
  readonly patchMergeKey: string | undefined;
  readonly listType: ListType | undefined;
  readonly listMapKeys: readonly string[] | undefined;
  /** The default that OpenAPI publishes. */
  readonly publishedDefault: string | undefined;
  /** What an unset field gets on a write; shared, so copy it before putting it into an object. */
  readonly defaultValue: unknown;
}

/** A struct of which one member is set, named by the discriminator. */
export interface UnionSchema {
  readonly discriminator: string;
  readonly members: readonly { readonly field: string; readonly value: string }[];
}

export interface TypeSchema {
  readonly dialect: Dialect;
  /** `core/v1.Pod`. */
  readonly name: string;
  /** API group and version that the file's kinds are served under; empty where there are none. */
  readonly group: string;
  readonly version: string;
  /** `Pod`. */
  readonly kind: string;
  readonly form: Form;
  /** JSON has kind and apiVersion before the fields; Protobuf has them in the envelope. */
  readonly hasTypeMeta: boolean;
  /** Never encoded as Protobuf. */
  readonly jsonOnly: boolean;
  /** Name of the OpenAPI definition. */
  readonly openapiName: string;
  /** OpenAPI has a definition of it. */
  readonly published: boolean;
  readonly openapiType: { readonly type: string; readonly format: string | undefined } | undefined;
  readonly mapType: 'atomic' | undefined;
  readonly unions: readonly UnionSchema[];
  /** The members of the JSON object in the order in which they are written, inline ones lifted. */
  readonly fields: readonly FieldSchema[];
  /** The fields of the Protobuf message. */
  readonly wireFields: readonly FieldSchema[];
  /** A JSON member by name. */
  field(name: string): FieldSchema | undefined;
}

export interface Schema {
  readonly dialect: Dialect;
  /** Every type's name. */
  readonly typeNames: readonly string[];
  /**
   * A type by name, such as `core/v1.PodSpec`.
   *
   * @throws RangeError when there is none: names come from our own tables.
   */
  type(name: string): TypeSchema;
  /**
   * The type of a kind, undefined when the schema has none (custom kinds). Kinds that every group shares
   * (`DeleteOptions`, `Status`, `WatchEvent`) are found under any group and version that has a file.
   */
  kind(group: string, version: string, kind: string): TypeSchema | undefined;
  /** The known texts of an enumeration, in this dialect. */
  enumeration(name: string): readonly string[];
}

type FieldRow = readonly [name: string, number: number, type: string, flags: string, extras?: FieldExtras];
interface FieldExtras {
  readonly enum?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly listType?: ListType;
  readonly listMapKeys?: readonly string[];
  readonly schemaDefault?: string;
  readonly default?: string;
}
type TypeRow = readonly [flags: string, fields: readonly FieldRow[], extras?: TypeExtras];
interface TypeExtras {
  readonly form?: Form;
  readonly mapType?: 'atomic';
  readonly openapiType?: string;
  readonly openapiFormat?: string;
  readonly unions?: readonly UnionSchema[];
}
type FileRow = readonly [group: string, version: string, openapiPackage: string];

/** Line kind and name → JSON, for example `T core/v1.Pod`. */
let tableRows: ReadonlyMap<string, string> | undefined;

function rowsOf(text: string): ReadonlyMap<string, string> {
  const rows = new Map<string, string>();
  for (let start = 0; start < text.length; ) {
    const nameEnd = text.indexOf(' ', start + 2);
    const end = text.indexOf('\n', nameEnd);
    const lineEnd = end < 0 ? text.length : end;
    rows.set(text.slice(start, nameEnd), text.slice(nameEnd + 1, lineEnd));
    start = lineEnd + 1;
  }
  return rows;
}

const schemas = new Map<DialectName, Schema>();

/** The schema in a dialect; the same object each time. */
export function schemaOf(dialect: Dialect): Schema {
  let schema = schemas.get(dialect.name);
  if (schema === undefined) {
    tableRows ??= rowsOf(TABLES);
    schema = new TableSchema(dialect, tableRows);
    schemas.set(dialect.name, schema);
  }
  return schema;
}

const SHARED_FILE = 'meta/v1';
const SCALARS: ReadonlySet<string> = new Set<FieldKind>(['string', 'int32', 'int64', 'bool', 'bytes', 'double']);

class TableSchema implements Schema {
  readonly dialect: Dialect;
  readonly typeNames: readonly string[];
  readonly #rows: ReadonlyMap<string, string>;
  readonly #types = new Map<string, TypeSchema>();
  readonly #enumerations = new Map<string, readonly string[]>();
  readonly #files = new Map<string, FileRow>();
  /** `<group>/<version>` → file. */
  readonly #fileOfVersion = new Map<string, string>();

  constructor(dialect: Dialect, rows: ReadonlyMap<string, string>) {
    this.dialect = dialect;
    this.#rows = rows;
    const names: string[] = [];
    for (const [key, row] of rows) {
      const name = key.slice(2);
      if (key.startsWith('T ')) names.push(name);
      if (!key.startsWith('F ')) continue;
      const file = JSON.parse(dialect.spell(row)) as FileRow;
      this.#files.set(name, file);
      if (file[1] !== '') this.#fileOfVersion.set(`${file[0]}/${file[1]}`, name);
    }
    this.typeNames = names;
  }

  type(name: string): TypeSchema {
    const type = this.#find(name);
    if (type === undefined) throw new RangeError(`the schema has no type ${name}`);
    return type;
  }

  kind(group: string, version: string, kind: string): TypeSchema | undefined {
    const file = this.#fileOfVersion.get(`${group}/${version}`);
    if (file === undefined) return undefined;
    return this.#find(`${file}.${kind}`) ?? this.#find(`${SHARED_FILE}.${kind}`);
  }

  enumeration(name: string): readonly string[] {
    let texts = this.#enumerations.get(name);
    if (texts === undefined) {
      const row = this.#rows.get(`E ${name}`);
      if (row === undefined) throw new RangeError(`the schema has no enumeration ${name}`);
      texts = JSON.parse(this.dialect.spell(row)) as readonly string[];
      this.#enumerations.set(name, texts);
    }
    return texts;
  }

  #find(name: string): TypeSchema | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const row = this.#rows.get(`T ${name}`);
    if (row === undefined) return undefined;
    const dot = name.lastIndexOf('.');
    const type = new TableType(this, name, this.#files.get(name.slice(0, dot))!, JSON.parse(this.dialect.spell(row)));
    this.#types.set(name, type);
    return type;
  }
}

class TableType implements TypeSchema {
  readonly dialect: Dialect;
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly form: Form;
  readonly hasTypeMeta: boolean;
  readonly jsonOnly: boolean;
  readonly openapiName: string;
  readonly published: boolean;
  readonly openapiType: TypeSchema['openapiType'];
  readonly mapType: 'atomic' | undefined;
  readonly unions: readonly UnionSchema[];
  readonly wireFields: readonly FieldSchema[];
  #fields: readonly FieldSchema[] | undefined;
  #byName: ReadonlyMap<string, FieldSchema> | undefined;

  constructor(schema: Schema, name: string, file: FileRow, [flags, fields, extras = {}]: TypeRow) {
    const [group, version, openapiPackage] = file;
    this.dialect = schema.dialect;
    this.name = name;
    this.group = group;
    this.version = version;
    this.kind = name.slice(name.lastIndexOf('.') + 1);
    this.form = extras.form ?? 'message';
    this.hasTypeMeta = flags.includes('t');
    this.jsonOnly = flags.includes('j');
    this.published = !flags.includes('u');
    this.openapiName = `${schema.dialect.openapiNamePrefix}${openapiPackage}.${this.kind}`;
    this.openapiType =
      extras.openapiType === undefined ? undefined : { type: extras.openapiType, format: extras.openapiFormat };
    this.mapType = extras.mapType;
    this.unions = extras.unions ?? [];
    this.wireFields = fields.map((row) => new TableField(schema, row));
  }

  get fields(): readonly FieldSchema[] {
    this.#fields ??= this.wireFields.flatMap((field) => (field.inline ? field.type!.fields : [field]));
    return this.#fields;
  }

  field(name: string): FieldSchema | undefined {
    this.#byName ??= new Map(this.fields.map((field) => [field.name, field]));
    return this.#byName.get(name);
  }
}

class TableField implements FieldSchema {
  readonly name: string;
  readonly number: number;
  readonly kind: FieldKind;
  readonly cardinality: Cardinality;
  readonly required: boolean;
  readonly optional: boolean;
  readonly emitEmpty: boolean;
  readonly inline: boolean;
  readonly enumeration: string | undefined;
  readonly patchStrategy: string | undefined;
  readonly patchMergeKey: string | undefined;
  readonly listType: ListType | undefined;
  readonly listMapKeys: readonly string[] | undefined;
  readonly publishedDefault: string | undefined;
  readonly defaultValue: unknown;
  readonly #schema: Schema;
  readonly #typeName: string;

  constructor(schema: Schema, [name, number, typeName, flags, extras = {}]: FieldRow) {
    this.name = name;
    this.number = number;
    this.kind = SCALARS.has(typeName) ? (typeName as FieldKind) : 'message';
    this.cardinality = flags.includes('r') ? 'list' : flags.includes('m') ? 'map' : 'one';
    this.required = flags.includes('q');
    this.optional = flags.includes('p');
    this.emitEmpty = flags.includes('e');
    this.inline = flags.includes('i');
    this.enumeration = extras.enum;
    this.patchStrategy = extras.patchStrategy;
    this.patchMergeKey = extras.patchMergeKey;
    this.listType = extras.listType;
    this.listMapKeys = extras.listMapKeys;
    this.publishedDefault = extras.schemaDefault;
    const isText = this.kind === 'string' && this.cardinality === 'one';
    const { default: value } = extras;
    this.defaultValue = value === undefined || isText ? value : JSON.parse(value);
    this.#schema = schema;
    this.#typeName = typeName;
  }

  get type(): TypeSchema | undefined {
    return this.kind === 'message' ? this.#schema.type(this.#typeName) : undefined;
  }
}
