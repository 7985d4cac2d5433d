// Sets of fields: what the operations make of them, against a plain model, and which spellings are read.
import test from 'ava';
import { canonicalStep, pathText } from '../../../../api/apply/field-path.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  places,
  sameFields,
  union,
  within,
  without,
} from '../../../../api/apply/field-set.ts';
import { readFields } from '../../../../api/apply/managed-entries.ts';
import { frozen } from '../sample-type.ts';
import { randomNumbers } from './seeded.ts';

type Model = ReadonlySet<string>;
type Binary = (left: FieldSet, right: FieldSet) => FieldSet;
type ModelBinary = (left: Model, right: Model) => readonly string[];

const isAtOrUnder = (path: string, above: Model): boolean =>
  [...above].some((other) => path === other || path.startsWith(`${other} `));

/** Every operation, and what it does to sets of paths. */
const OPERATIONS: readonly (readonly [name: string, operation: Binary, model: ModelBinary])[] = [
  ['union', union, (left, right) => [...left, ...right]],
  ['difference', difference, (left, right) => [...left].filter((path) => !right.has(path))],
  ['intersection', intersection, (left, right) => [...left].filter((path) => right.has(path))],
  ['without', without, (left, right) => [...left].filter((path) => !isAtOrUnder(path, right))],
  ['within', within, (left, right) => [...left].filter((path) => isAtOrUnder(path, right))],
];

for (const [name, operation, model] of OPERATIONS) {
  test(`${name} of field sets does what it says to every path`, (t) => {
    for (let seed = 1; seed <= 400; seed++) {
      const random = randomNumbers(seed);
      const left = randomSet(random);
      const right = randomSet(random);
      const result = operation(left, right);
      const expected = [...new Set(model(modelOf(left), modelOf(right)))].sort();
      t.deepEqual([...modelOf(result)].sort(), expected, `seed ${seed}`);
      t.deepEqual(readFields(result), result, `seed ${seed}: not in its one form`);
      t.is(JSON.stringify(readFields(result)), JSON.stringify(result), `seed ${seed}: not in order`);
    }
  });
}

test('field sets are the same exactly when they hold the same paths', (t) => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomNumbers(seed);
    const left = randomSet(random);
    const right = random() < 0.3 ? readFields(JSON.parse(JSON.stringify(left)))! : randomSet(random);
    const same = [...modelOf(left)].sort().join('\n') === [...modelOf(right)].sort().join('\n');
    t.is(sameFields(left, right), same, `seed ${seed}`);
  }
});

test('a set has the paths it lists and no others', (t) => {
  const set = readFields({ 'f:a': { '.': {}, 'f:b': {} }, 'f:c': { 'f:d': {} } })!;
  t.deepEqual(
    [...places(set)].map((path) => path.join(' ')),
    ['f:a', 'f:a f:b', 'f:c f:d'],
  );
});

test('operations answer the set itself where nothing changes', (t) => {
  const set = frozen(readFields({ 'f:a': { '.': {}, 'f:b': {} }, 'k:{"name":"x"}': { 'f:c': {} } })!);
  const other = readFields({ 'f:z': {} })!;
  t.is(union(set, readFields({ 'f:a': {} })!), set);
  t.is(difference(set, other), set);
  t.is(without(set, other), set);
  t.true(isEmpty(intersection(set, other)));
  t.true(isEmpty(within(set, other)));
});

interface Reading {
  readonly does: string;
  readonly given: unknown;
  readonly read: unknown;
}

const READINGS: readonly Reading[] = [
  { does: 'an empty set', given: {}, read: {} },
  { does: 'a leaf', given: { 'f:a': {} }, read: { 'f:a': {} } },
  { does: 'a place that is alone with its dot', given: { 'f:a': { '.': {} } }, read: { 'f:a': {} } },
  { does: 'a dot at the root', given: { '.': {}, 'f:a': {} }, read: { 'f:a': {} } },
  { does: 'fields out of order', given: { 'f:b': {}, 'f:a': {} }, read: { 'f:a': {}, 'f:b': {} } },
  { does: 'keys out of order', given: { 'k:{"b":1, "a":"x"}': {} }, read: { 'k:{"a":"x","b":1}': {} } },
  {
    does: 'two spellings of one key',
    given: { 'k:{"a":1,"b":2}': { 'f:x': {} }, 'k:{"b":2,"a":1}': {} },
    read: { 'k:{"a":1,"b":2}': { '.': {}, 'f:x': {} } },
  },
  {
    does: 'a value',
    given: { 'v:"a"': {}, 'v: 1.0': {}, 'v:true': {} },
    read: { 'v:"a"': {}, 'v:1': {}, 'v:true': {} },
  },
  { does: 'a position', given: { 'i:3': {} }, read: { 'i:3': {} } },
  { does: 'a field with any name', given: { 'f:__proto__': {}, 'f:': {} }, read: { 'f:': {}, 'f:__proto__': {} } },
  { does: 'no object', given: [], read: undefined },
  { does: 'null', given: null, read: undefined },
  { does: 'a text below', given: { 'f:a': 'x' }, read: undefined },
  { does: 'a list below', given: { 'f:a': [] }, read: undefined },
  { does: 'a prefix that is not known, which says nothing', given: { 'x:a': 1, 'f:a': {} }, read: { 'f:a': {} } },
  { does: 'null below, which is nothing', given: { 'f:a': null }, read: { 'f:a': {} } },
  { does: 'no prefix', given: { spec: {} }, read: undefined },
  { does: 'a key that is no JSON', given: { 'k:{a}': {} }, read: undefined },
  { does: 'a key that is no object', given: { 'k:[1]': {} }, read: undefined },
  { does: 'a key without members', given: { 'k:{}': {} }, read: undefined },
  { does: 'a key of objects', given: { 'k:{"a":{}}': {} }, read: undefined },
  { does: 'a value that is an object', given: { 'v:{}': {} }, read: undefined },
  { does: 'a negative position', given: { 'i:-1': {} }, read: undefined },
  { does: 'a deep set', given: chain(100), read: chain(100) },
  { does: 'a set that is too deep', given: chain(1000), read: undefined },
];

for (const { does, given, read } of READINGS) {
  test(`reading field sets: ${does}`, (t) => {
    t.deepEqual(readFields(frozen(given)), read as FieldSet | undefined);
    t.is(JSON.stringify(readFields(given)), JSON.stringify(read));
  });
}

test('paths are shown as people write them', (t) => {
  const path = ['f:spec', 'f:containers', 'k:{"name":"nginx"}', 'f:ports', 'k:{"containerPort":80,"protocol":"TCP"}'];
  t.is(pathText(path), '.spec.containers[name="nginx"].ports[containerPort=80,protocol="TCP"]');
  t.is(pathText(['f:metadata', 'f:finalizers', 'v:"a/b"']), '.metadata.finalizers[="a/b"]');
  t.is(pathText(['f:a', 'i:3']), '.a[3]');
  t.is(canonicalStep('k:{"b":true,"a":1}'), 'k:{"a":1,"b":true}');
  t.is(canonicalStep('k:{"b":true,"9":2,"10":1}'), 'k:{"10":1,"9":2,"b":true}');
});

function chain(levels: number): object {
  let set: object = {};
  for (let level = 0; level < levels; level++) set = { [`f:${level % 3}`]: set };
  return set;
}

const STEPS = ['f:a', 'f:b', 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"z"'];

function randomSet(random: () => number, levels = 3): FieldSet {
  const raw = (left: number): object => {
    const node: Record<string, object> = {};
    if (random() < 0.3) node['.'] = {};
    for (const step of STEPS) if (left > 0 && random() < 0.4) node[step] = raw(left - 1);
    return node;
  };
  return frozen(readFields(raw(levels))!);
}

function modelOf(set: FieldSet): Model {
  return new Set([...places(set)].map((path) => path.join(' ')));
}
