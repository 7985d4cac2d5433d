// Turns the parsed schema files into the rows of api/schema/tables.ts: links type and enumeration names, checks what
// a table must not get wrong, and writes each type as one line of JSON that is parsed when the type is first used.
import type { OptionStructure, Options, OptionValue, ParsedField, ParsedFile, ParsedMessage } from './parse.ts';
import { parseProto } from './parse.ts';

const SCALARS: ReadonlySet<string> = new Set(['string', 'int32', 'int64', 'bool', 'bytes', 'double']);

const FORMS: ReadonlySet<OptionValue> = new Set(
  (
    'quantity time microTime duration intOrString rawExtension fieldsV1 json any stringList ' +
    'schemaOrBool schemaOrArray schemaOrStringArray'
  ).split(' '),
);

/** Option → the key it has in a field's row. */
const FIELD_EXTRAS: Readonly<Record<string, string>> = {
  enum: 'enum',
  patch_strategy: 'patchStrategy',
  patch_merge_key: 'patchMergeKey',
  list_type: 'listType',
  list_map_key: 'listMapKeys',
  schema_default: 'schemaDefault',
  default_value: 'default',
};

/** Option → the letter it has in a field's row. */
const FIELD_FLAGS: Readonly<Record<string, string>> = { required: 'q', ptr: 'p', emit_empty: 'e', inline: 'i' };

/** Option → the key it has in a type's row. */
const TYPE_EXTRAS: Readonly<Record<string, string>> = {
  form: 'form',
  map_type: 'mapType',
  openapi_type: 'openapiType',
  openapi_format: 'openapiFormat',
  union: 'unions',
};

const TYPE_FLAGS: Readonly<Record<string, string>> = { type_meta: 't', unpublished: 'u', json_only: 'j' };

/** A schema file by name and text, as read from api/schema. */
export interface SchemaSource {
  readonly path: string;
  readonly text: string;
}

/**
 * Compiles all schema files together.
 *
 * @param sources every .proto file but options.proto, in any order.
 * @returns the text of api/schema/tables.ts; the same for the same sources.
 * @throws an Error naming file and place when a file cannot be read or linked.
 */
export function compileSchema(sources: readonly SchemaSource[]): string {
  const files = sources
    .map(({ path, text }) => parseProto(path, text))
    .sort((a, b) => (a.package < b.package ? -1 : 1));
  const names = new Set(files.flatMap((file) => file.messages.map((message) => `${file.package}.${message.name}`)));
  const enumerations = new Map(files.flatMap(enumerationsOf));
  const fileRows = files.map((file) => [
    tableName(file.package),
    text(file.options, 'api_group'),
    text(file.options, 'api_version'),
    text(file.options, 'openapi_package'),
  ]);
  const typeRows = files.flatMap((file) =>
    file.messages.map((message) => [
      `${tableName(file.package)}.${message.name}`,
      typeRow(new Scope(file, message, names, enumerations)),
    ]),
  );
  return tablesText(fileRows, [...enumerations], typeRows);
}

/** `meta.v1` → `meta/v1`: the tables write packages with a slash, so that the last dot ends the package. */
const tableName = (packageName: string): string => packageName.replace('.', '/');

function enumerationsOf(file: ParsedFile): [string, string][] {
  return file.options
    .filter(([name]) => name === 'enumeration')
    .map(([, value]) => value as OptionStructure)
    .map(({ name, values }) => [`${tableName(file.package)}.${name}`, JSON.stringify(values)]);
}

function text(options: Options, name: string): string {
  const value = options.find(([option]) => option === name)?.[1];
  return typeof value === 'string' ? value : '';
}

class Scope {
  readonly file: ParsedFile;
  readonly message: ParsedMessage;
  readonly #names: ReadonlySet<string>;
  readonly #enumerations: ReadonlyMap<string, string>;

  constructor(
    file: ParsedFile,
    message: ParsedMessage,
    names: ReadonlySet<string>,
    enumerations: ReadonlyMap<string, string>,
  ) {
    this.file = file;
    this.message = message;
    this.#names = names;
    this.#enumerations = enumerations;
  }

  type(name: string): string {
    if (SCALARS.has(name)) return name;
    const full = name.includes('.') ? name : `${this.file.package}.${name}`;
    if (!this.#names.has(full)) this.fail(`there is no type ${name}`);
    const dot = full.lastIndexOf('.');
    return `${tableName(full.slice(0, dot))}${full.slice(dot)}`;
  }

  enumeration(name: OptionValue): string {
    const full = String(name);
    const dot = full.lastIndexOf('.');
    const scope = dot < 0 ? this.file.package : full.slice(0, dot);
    const found = `${tableName(scope)}.${full.slice(dot + 1)}`;
    if (!this.#enumerations.has(found)) this.fail(`there is no enumeration ${name}`);
    return found;
  }

  fail(reason: string): never {
    throw new TypeError(`${this.file.path}: ${this.message.name}: ${reason}`);
  }
}

function typeRow(scope: Scope): string {
  const { message } = scope;
  let flags = '';
  const extras: Record<string, OptionValue> = {};
  for (const [option, value] of message.options) {
    const key = TYPE_EXTRAS[option];
    if (TYPE_FLAGS[option] !== undefined && value === true) flags += TYPE_FLAGS[option];
    else if (option === 'union') extras.unions = [...((extras.unions as OptionValue[]) ?? []), value];
    else if (key !== undefined) extras[key] = value;
    else scope.fail(`unknown option ${option}`);
  }
  if (extras.form !== undefined && !FORMS.has(extras.form)) scope.fail(`unknown form ${extras.form}`);
  const row: unknown[] = [flags, message.fields.map((field) => fieldRow(scope, field))];
  if (Object.keys(extras).length > 0) row.push(extras);
  return JSON.stringify(row);
}

function fieldRow(scope: Scope, field: ParsedField): unknown[] {
  let name = field.name;
  let flags = field.label === 'repeated' ? 'r' : field.label === 'map' ? 'm' : '';
  const extras: Record<string, OptionValue> = {};
  for (const [option, value] of field.options) {
    const key = FIELD_EXTRAS[option];
    if (option === 'json_name') name = String(value);
    else if (FIELD_FLAGS[option] !== undefined && value === true) flags += FIELD_FLAGS[option];
    else if (option === 'enum') extras.enum = scope.enumeration(value);
    else if (option === 'list_map_key') {
      extras.listMapKeys = [...((extras.listMapKeys as OptionValue[]) ?? []), value];
    } else if (key !== undefined) extras[key] = value;
    else scope.fail(`field ${field.name} has the unknown option ${option}`);
  }
  const row: unknown[] = [name, field.number, scope.type(field.type), flags];
  if (extras.default !== undefined && field.type !== 'string') JSON.parse(String(extras.default));
  if (Object.keys(extras).length > 0) row.push(extras);
  return row;
}

const HEAD = `// Made by \`npm run schema\` from api/schema/*.proto: change those, not this file; schema.ts says what the rows mean.
// One text, because parsing the rows of the few types that a thread uses, when it first does, costs less than having
// every type built at the start.

/** Lines of \`<F|E|T> <name> <JSON>\`: files, enumerations, types. */
export const TABLES: string = String.raw\``;

function tablesText(
  files: readonly (readonly string[])[],
  enumerations: readonly (readonly [string, string])[],
  types: readonly (readonly string[])[],
): string {
  const rows = [
    ...files.map(([name, ...row]) => `F ${name} ${JSON.stringify(row)}`),
    ...enumerations.map((row) => `E ${row.join(' ')}`),
    ...types.map((row) => `T ${row.join(' ')}`),
  ].join('\n');
  if (rows.includes('`') || rows.includes('${')) throw new TypeError('a row would end the text it stands in');
  return `${HEAD}${rows}\`;\n`;
}
