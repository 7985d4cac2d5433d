// A field that is read where the record lies must be what unpacking its attributes would have said.
import test from 'ava';
import { packAttributes, unpackAttributes } from '../../../storage/forms/attributes.ts';
import { fieldIs, fieldText } from '../../../storage/records/record-fields.ts';
import { CREATED, mapSlab, recordBytes, type Slab, writeRecordHead } from '../../../storage/records/slab-record.ts';

const OFFSET = 64;
const TEXTS = ['', 'a', 'ab', 'b', 'node-1', 'größe', 'nul\u0000in it', '0', '1'];

function recordOf(attributes: string): Slab {
  const key = 'core/pods/n/größe';
  const [keyBytes, attributesBytes] = [Buffer.byteLength(key), Buffer.byteLength(attributes)];
  const length = recordBytes(keyBytes, attributesBytes, 8);
  const slab = mapSlab(new SharedArrayBuffer(OFFSET + length));
  const fields = { revision: 7, bornRevision: 7, type: CREATED, schemaGeneration: 1, revisionOffset: 0, itemOffset: 0 };
  const at = writeRecordHead(slab, OFFSET, length, fields, key, keyBytes, attributes, attributesBytes, 8);
  slab.bytes.fill('\u0000a\u0000', at, at + 8);
  return slab;
}

const LABELS: readonly (Readonly<Record<string, string>> | undefined)[] = [
  undefined,
  { app: 'web' },
  { app: '', tier: 'a', 'größe/x': 'ab' },
  Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`label-${i}`, `${i}`])),
];

for (const [number, labels] of LABELS.entries())
  test(`a field is told from every other text, behind labels ${number}`, (t) => {
    for (const fields of [['a'], ['', ''], ['a', 'ab', ''], ['größe', '', 'node-1', 'nul\u0000in it'], ['', '', 'b']]) {
      const packed = packAttributes(labels, fields);
      const slab = recordOf(packed);
      const known = unpackAttributes(packed).fields;
      for (let index = 0; index < fields.length + 2; index++)
        for (const text of TEXTS)
          t.is(fieldIs(slab, OFFSET, index, fieldText(text)), known[index] === fieldText(text).toString());
    }
  });

test('a record without fields has none, not even empty ones', (t) => {
  for (const attributes of ['', packAttributes({ app: 'web' }, [])])
    for (const index of [0, 1]) t.false(fieldIs(recordOf(attributes), OFFSET, index, fieldText('')));
});

test('lengths that were overwritten lead nowhere', (t) => {
  const slab = recordOf(packAttributes({ app: 'web' }, ['a', 'b']));
  slab.words.fill(0xffffffff, OFFSET >>> 2, (OFFSET >>> 2) + 12);
  t.false(fieldIs(slab, OFFSET, 1, fieldText('a')));
});
