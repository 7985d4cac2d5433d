// Every row of the facts about defaults is seen applied, by what the write path applies: decode, default, canonical form.
// Plain values in every kind that has their type, rules by cases of test/fixtures/default-cases.yaml.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse } from 'yaml';
import { StoredForm } from '../../../../api/catalog/stored-form.ts';
import { decode } from '../../../../api/codec/decode.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import { jsonCopy } from '../../../../api/json/json-copy.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import { schemaOf, type TypeSchema } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const schema = schemaOf(DIALECTS.orch);
const registry = createRegistry(DIALECTS.orch, {});
const forms = new StoredForm(registry, schema);

interface DefaultRow {
  readonly path: string;
  readonly value?: unknown;
  readonly rule?: string;
}
interface DefaultFacts {
  readonly type: string;
  readonly defaults: readonly DefaultRow[];
}
interface RuleCase {
  /** What is given, to the row's type or to `in`. */
  readonly given: JsonObject;
  readonly in?: string;
  /** What is given in another version and converted to `in`. */
  readonly from?: { readonly type: string; readonly given: JsonObject };
  readonly gates?: readonly string[];
  /** Values by path. */
  readonly then: Readonly<Record<string, unknown>>;
}

const facts = JSON.parse(readFileSync('test/fixtures/defaults.json', 'utf8')) as {
  readonly types: readonly DefaultFacts[];
  readonly roots: readonly DefaultFacts[];
};
const ALL = [...facts.types, ...facts.roots];
const CASES = parse(readFileSync('test/fixtures/default-cases.yaml', 'utf8')) as Record<
  string,
  Record<string, RuleCase>
>;
const ON: readonly string[] = ['NamespaceDefaultLabelName'];

function defaulted(type: TypeSchema, given: JsonObject, gates: readonly string[] = ON): JsonObject {
  const { object } = decode(jsonCopy(given) as JsonObject, type);
  applyDefaults(object, type, (gate) => gates.includes(gate));
  return decode(object, type).object;
}

function at(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, part) => (value as JsonObject | undefined)?.[part], object);
}

const reached = new Map<TypeSchema, ReadonlySet<string>>();

/** The names of a type and of all that stand in it, at any depth. */
function namesIn(type: TypeSchema): ReadonlySet<string> {
  let names = reached.get(type);
  if (names === undefined) {
    const found = new Set([type]);
    for (const one of found) for (const field of one.wireFields) if (field.type !== undefined) found.add(field.type);
    names = new Set([...found].map(({ name }) => name));
    reached.set(type, names);
  }
  return names;
}

/** Where a type stands in another, the first place in the order of members; undefined: nowhere. */
function placeOf(wanted: string, type: TypeSchema, above: readonly TypeSchema[] = []): readonly string[] | undefined {
  if (type.name === wanted) return [];
  if (above.includes(type) || !namesIn(type).has(wanted)) return undefined;
  const inside = [...above, type];
  for (const field of type.wireFields) {
    const place = field.type === undefined ? undefined : placeOf(wanted, field.type, inside);
    if (place === undefined) continue;
    if (field.inline) return place;
    return field.cardinality === 'one' ? [field.name, ...place] : [field.name, '0', ...place];
  }
  return undefined;
}

/** An object that has nothing but an empty one at a place. */
function emptyAt([first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return {};
  return first === '0' ? [emptyAt(rest)] : { [first]: emptyAt(rest) };
}

/** Rows that hold for one root only. */
const ROOT_ONLY: Readonly<Record<string, string>> = {
  'core/v1.PodSpec enableServiceLinks': 'core/v1.Pod',
  'batch/v1.JobSpec backoffLimit': 'batch/v1.Job',
};
const kinds = schema.typeNames.map((name) => schema.type(name)).filter(({ hasTypeMeta }) => hasTypeMeta);
let seen = 0;

for (const { type: name, defaults } of ALL) {
  const plain = defaults.filter(({ value }) => value !== undefined);
  if (plain.length === 0) continue;
  const type = schema.type(name);
  const holders = kinds.flatMap((kind) => {
    const place = placeOf(name, kind);
    return place === undefined ? [] : [{ kind, place }];
  });
  test(`${name} has its ${plain.map(({ path }) => path).join(', ')} in ${holders.length} kinds`, (t) => {
    t.true(holders.length > 0);
    for (const { kind, place } of holders) {
      const object = at(defaulted(kind, emptyAt(place) as JsonObject), place) as JsonObject;
      for (const { path, value } of plain) {
        const only = ROOT_ONLY[`${name} ${path}`];
        // A default that is the zero value of a plain member is written by leaving the member out.
        const isInvisible = value === '' && type.field(path)?.optional === false;
        const expected = isInvisible || (only !== undefined && only !== kind.name) ? undefined : value;
        t.deepEqual(object[path], expected, `${kind.name} ${place.join('.')}.${path}`);
        seen++;
      }
    }
  });
}

for (const [name, rows] of Object.entries(CASES)) {
  for (const [path, one] of Object.entries(rows)) {
    test(`${name} has its ${path} by rule`, (t) => {
      const type = schema.type(one.in ?? name);
      const object =
        one.from === undefined
          ? defaulted(type, one.given, one.gates ?? [])
          : converted(schema.type(one.from.type), one.from.given, type);
      for (const [place, expected] of Object.entries(one.then)) {
        t.deepEqual(at(object, place.split('.')), expected ?? undefined, place);
      }
      if (one.gates === undefined || one.gates === ON) return;
      const without = defaulted(type, one.given, []);
      const [[place, expected] = ['', undefined]] = Object.entries(one.then);
      t.notDeepEqual(at(without, place.split('.')), expected, 'it is the gate that says so');
    });
  }
}

function converted(from: TypeSchema, given: JsonObject, to: TypeSchema): JsonObject {
  return forms.between(from, to)(defaulted(from, given));
}

test('every row of the facts is one of these', (t) => {
  const rules = ALL.flatMap(({ type, defaults }) =>
    defaults.filter(({ value }) => value === undefined).map(({ path }) => `${type} ${path}`),
  );
  const cases = Object.entries(CASES).flatMap(([type, rows]) => Object.keys(rows).map((path) => `${type} ${path}`));
  t.deepEqual(cases.toSorted(), rules.toSorted());
  const rows = ALL.reduce((sum, { defaults }) => sum + defaults.length, 0);
  t.log(`${rows} rows: ${rows - rules.length} plain values, seen ${seen} times in kinds; ${rules.length} rules`);
});
