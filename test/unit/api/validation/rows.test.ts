// Every row of every rule table, tried by changing one member of a valid object: what the row forbids is refused where
// it stands, and what it allows has been accepted before.
import test from 'ava';
import { isJsonObject, type JsonObject } from '../../../../api/json/json-value.ts';
import type { FieldSchema, TypeSchema } from '../../../../api/schema/schema.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import type { FieldError } from '../../../../api/status/field-error.ts';
import { entryOf } from '../../../../api/validation/compile-rules.ts';
import { FIELD_FORMATS, type FieldFormat } from '../../../../api/validation/field-formats.ts';
import { TYPE_RULES } from '../../../../api/validation/kinds/tables.ts';
import type { FieldRules } from '../../../../api/validation/rule.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { type TestObject, validationOf, validObjects } from './objects.ts';

const validation = validationOf('kubernetes', 'AllAlpha=true', true);
const schema = schemaOf(DIALECTS.kubernetes);

/** One that is not of the format, for each. */
const BAD: Readonly<Record<FieldFormat, string | number>> = {
  dns1123Label: 'Not_a_label',
  dns1123Subdomain: '-no-',
  dns1035Label: '1no',
  dns1035LabelAnyCase: '1no',
  labelValue: '-no-',
  configMapKey: 'not a key',
  envVarName: '1NO',
  portName: 'UPPER',
  conditionReason: '1 no',
  qualifiedName: '/no',
  qualifiedNameAnyCase: '/no',
  pathSegment: 'a/b',
  ip: '300.1.1.1',
  nonSpecialIp: '127.0.0.1',
  portNumber: 70_000,
  portNumberOrName: 70_000,
  intOrPercent: -1,
  id: -1,
  fileMode: 512,
  relativePath: '/a',
  projectedPath: '../a',
  noClimbing: '/a/../b',
  absolutePath: 'a',
  hostPattern: 'not a host',
  dottedSubdomain: '-no',
  domainPrefixedPath: 'no-path',
  csiDriverName: '-no',
  sysctlName: 'NO',
};

/** A member of a valid object that a row is about. */
interface Spot {
  readonly test: TestObject;
  readonly type: TypeSchema;
  readonly field: FieldSchema;
  readonly row: FieldRules;
  /** Of the object that has the member. */
  readonly path: readonly (string | number)[];
  readonly place: string;
  readonly value: unknown;
}

const spots: Spot[] = [];
/** Rows by `type.field`; true once a value has stood there. */
const rows = new Map<string, FieldRules>();

function shownAt(place: string, name: string): string {
  if (name === '') return place;
  return place === '' ? name : `${place}.${name}`;
}

function visit(
  test: TestObject,
  type: TypeSchema,
  value: unknown,
  path: readonly (string | number)[],
  place: string,
): void {
  if (!isJsonObject(value)) return;
  const fields = entryOf(TYPE_RULES, type.name)?.fields ?? {};
  for (const field of type.fields) {
    if (type.hasTypeMeta && field.name === 'metadata') continue;
    const row = Object.hasOwn(fields, field.name) ? fields[field.name]! : undefined;
    const member = value[field.name];
    if (row !== undefined) spots.push({ test, type, field, row, path, place, value: member });
    if (row?.opaque || field.type === undefined || member === undefined || member === null) continue;
    const at = shownAt(place, row?.reportedAt ?? field.name);
    const below = [...path, field.name];
    if (field.cardinality === 'one') visit(test, field.type, member, below, at);
    if (field.cardinality === 'list') {
      for (const [index, item] of (member as unknown[]).entries()) {
        visit(test, field.type, item, [...below, index], `${at}[${index}]`);
      }
    }
  }
}

for (const object of validObjects('kubernetes')) visit(object, object.schema, object.object, [], '');

for (const name of schema.typeNames) {
  for (const [field, row] of Object.entries(entryOf(TYPE_RULES, name)?.fields ?? {})) {
    const key = Object.hasOwn(TYPE_RULES, name) ? name : name.replace(/\/[^.]*/, '');
    rows.set(`${key}.${field}`, row);
  }
}

/** One thing a row demands, and a value that breaks it. */
interface Breach {
  readonly demand: string;
  readonly value: unknown;
  readonly reason: string;
  /** Below the member. */
  readonly at: string;
}

function breaches({ row, field, value }: Spot): Breach[] {
  const found: Breach[] = [];
  const isList = field.cardinality === 'list';
  const inside = isList && !row.reportedAtList ? '[0]' : '';
  const wrap = (one: unknown): unknown => (isList ? [one, ...(value as unknown[]).slice(1)] : one);
  const reason = (usual: string): string =>
    row.reason === 'invalid' ? 'FieldValueInvalid' : row.reason === 'forbidden' ? 'FieldValueForbidden' : usual;
  const add = (demand: string, broken: unknown, usual: string, at = inside): void => {
    found.push({ demand, value: broken, reason: reason(usual), at });
  };
  if (row.required !== undefined) {
    add('required', undefined, 'FieldValueRequired', '');
    if (typeof value === 'string') add('required', '', 'FieldValueRequired', '');
  }
  if (value === undefined || value === null || (isList && (value as unknown[]).length === 0)) return found;
  if (row.enum !== undefined) add('enum', wrap('Nonsense'), 'FieldValueNotSupported');
  if (row.min !== undefined) add('min', wrap(row.min - 1), 'FieldValueInvalid');
  if (row.max !== undefined) add('max', wrap(row.max + 1), 'FieldValueInvalid');
  if (row.format !== undefined) add('format', wrap(BAD[row.format]), 'FieldValueInvalid');
  if (row.bytesMax !== undefined) add('bytesMax', wrap('x'.repeat(row.bytesMax + 1)), 'FieldValueTooLong');
  if (row.itemsMax !== undefined) {
    add('itemsMax', new Array(row.itemsMax + 1).fill((value as unknown[])[0]), 'FieldValueTooMany', '');
  }
  if (row.unique !== undefined) {
    const list = value as unknown[];
    const at = row.unique === true ? `[${list.length}]` : `[${list.length}].${row.unique}`;
    add('unique', [...list, list[0]], 'FieldValueDuplicate', at);
  }
  return found;
}

/** The object with one member changed. */
function changed({ test, path, field }: Spot, value: unknown): JsonObject {
  const object = structuredClone(test.object) as Record<string | number, unknown>;
  let parent = object;
  for (const part of path) parent = parent[part] as Record<string | number, unknown>;
  if (value === undefined) delete parent[field.name];
  else parent[field.name] = value;
  return object as JsonObject;
}

function errorsOf(spot: Spot, value: unknown): readonly FieldError[] {
  const { object, type } = spot.test;
  const next = changed(spot, value);
  return spot.place.startsWith('status')
    ? validation.update(next, object, type, 'status')
    : validation.create(next, type);
}

function expectedPath({ place, field, row }: Spot, at: string): string {
  return shownAt(place, row.reportedAt ?? field.name) + at;
}

const refused = new Set<string>();
const accepted = new Set<string>();

for (const spot of spots) {
  const key = Object.hasOwn(TYPE_RULES, spot.type.name) ? spot.type.name : spot.type.name.replace(/\/[^.]*/, '');
  const name = `${key}.${spot.field.name}`;
  if (spot.value !== undefined && spot.value !== null) accepted.add(name);
  for (const { demand, value, reason, at } of breaches(spot)) {
    if (refused.has(`${name} ${demand}`)) continue;
    refused.add(`${name} ${demand}`);
    test(`${name} is held to its ${demand}`, (t) => {
      const path = expectedPath(spot, at);
      const errors = errorsOf(spot, value);
      t.true(
        errors.some((error) => error.path === path && error.reason === reason),
        `${spot.test.title}: wanted ${reason} at ${path}, got ${JSON.stringify(errors)}`,
      );
    });
  }
}

/** What a row demands by itself; rules that are functions have cases of their own. */
const DEMANDS = ['required', 'enum', 'min', 'max', 'format', 'bytesMax', 'itemsMax', 'unique'] as const;

test('every row has a value it accepts and one it refuses', (t) => {
  const wanted: string[] = [];
  for (const [name, row] of rows)
    for (const demand of DEMANDS) if (row[demand] !== undefined) wanted.push(`${name} ${demand}`);
  t.log(`${rows.size} rows, ${wanted.length} demands, ${refused.size} refused, ${accepted.size} rows accepted`);
  t.deepEqual(
    wanted.filter((demand) => !refused.has(demand)),
    [],
  );
  t.deepEqual(
    [...rows]
      .filter(([name, row]) => !accepted.has(name) && row.opaque === undefined && row.forbidden === undefined)
      .map(([name]) => name),
    [],
  );
});

test('every format is one that a row names', (t) => {
  const named = new Set([...rows.values()].flatMap(({ format, keys }) => [format, keys]));
  t.deepEqual(
    FIELD_FORMATS.filter((format) => !named.has(format)),
    [],
  );
});
