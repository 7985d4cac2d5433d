import test from 'ava';
import { packAttributes, unpackAttributes, unpackLabels, withLabels } from '../../../storage/forms/attributes.ts';

function labelsOf(entries: readonly (readonly [string, string])[]): Record<string, string> {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [key, value] of entries) labels[key] = value;
  return labels;
}

const CASES: readonly { what: string; labels: readonly (readonly [string, string])[]; fields: readonly string[] }[] = [
  { what: 'nothing', labels: [], fields: [] },
  { what: 'fields only', labels: [], fields: ['node-1', 'Running'] },
  { what: 'a single empty field', labels: [], fields: [''] },
  { what: 'labels only', labels: [['app', 'web']], fields: [] },
  { what: 'a label without a value', labels: [['app', '']], fields: ['x'] },
  {
    what: 'labels and empty fields',
    labels: [
      ['a', '1'],
      ['b', '2'],
    ],
    fields: ['', '', ''],
  },
  { what: 'label keys with prefixes', labels: [['example.com/tier', 'db']], fields: ['default'] },
  { what: 'a label key that is a number', labels: [['7', 'seven']], fields: ['2'] },
  {
    what: 'keys that mean something to JavaScript',
    labels: [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ],
    fields: ['z'],
  },
  { what: 'text beyond ASCII', labels: [], fields: ['grün', '日本', '🙂'] },
];

for (const { what, labels, fields } of CASES) {
  test(`attributes are packed anew with other labels, as from the beginning: ${what}`, (t) => {
    const packed = packAttributes(labelsOf(labels), fields);
    for (const others of [undefined, {}, { app: 'db' }, { app: '', 'example.com/x': '1', 7: 'y' }])
      t.is(withLabels(packed, others), packAttributes(others, fields));
  });
}

for (const { what, labels, fields } of CASES) {
  test(`attributes come back as they were packed: ${what}`, (t) => {
    const unpacked = unpackAttributes(packAttributes(labelsOf(labels), fields));
    t.deepEqual(Object.entries(unpacked.labels), [...labels]);
    t.deepEqual(unpacked.fields, fields);
  });
}

test('a __proto__ label parsed from JSON stays a label and changes no prototype', (t) => {
  const labels = JSON.parse('{"__proto__":"x","app":"web"}') as Record<string, string>;
  const unpacked = unpackAttributes(packAttributes(labels, ['f']));
  t.deepEqual(Object.entries(unpacked.labels), [
    ['__proto__', 'x'],
    ['app', 'web'],
  ]);
  t.is(Object.getPrototypeOf(unpacked.labels), null);
  t.false('app' in {});
});

test('a missing label map is no labels', (t) => {
  t.is(packAttributes(undefined, []), '');
  t.deepEqual(unpackAttributes(packAttributes(undefined, ['a'])).fields, ['a']);
});

test('a field that holds a NUL moves no other field out of its place', (t) => {
  const { labels, fields } = unpackAttributes(packAttributes(labelsOf([['app', 'web']]), ['a', 'x\u0000y', 'b']));
  t.deepEqual(Object.entries(labels), [['app', 'web']]);
  t.is(fields.length, 3);
  t.is(fields[0], 'a');
  t.is(fields[2], 'b');
});

for (const { what, labels, fields } of CASES) {
  test(`labels are found by their names among what was packed: ${what}`, (t) => {
    const packed = packAttributes(labelsOf(labels), fields);
    t.deepEqual({ ...unpackLabels(packed, ['none']).labels }, {});
    for (const [name, value] of labels)
      t.deepEqual(Object.entries(unpackLabels(packed, [name, 'none']).labels), [[name, value]]);
  });
}

test('a label is not taken for another whose value is its name, nor for a field', (t) => {
  const packed = packAttributes(
    labelsOf([
      ['a', 'b'],
      ['c', 'a'],
      ['b', 'c'],
    ]),
    ['d', 'e'],
  );
  t.deepEqual({ ...unpackLabels(packed, ['a', 'b', 'c', 'd', 'e']).labels }, { a: 'b', b: 'c', c: 'a' });
  const last = packAttributes(labelsOf([['x', 'y']]), ['y', 'z']);
  t.deepEqual({ ...unpackLabels(last, ['y']).labels }, {});
});

test('of thousands of labels each is found, and what is not there is not', (t) => {
  const labels = labelsOf(Array.from({ length: 3000 }, (_, number) => [`l${number}`, `l${(number * 7) % 3000}`]));
  const packed = packAttributes(labels, ['l1', 'l2']);
  for (const number of [0, 1, 2, 1499, 2999])
    t.is(unpackLabels(packed, [`l${number}`]).labels[`l${number}`], `l${(number * 7) % 3000}`);
  t.deepEqual({ ...unpackLabels(packed, ['l3000', 'm']).labels }, {});
});
