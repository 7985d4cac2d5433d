import test from 'ava';
import { encodeStored, REVISION_SLOT_BYTES } from '../../../api/codec/stored-object.ts';
import {
  bodyView,
  CREATED,
  DELETED,
  hasKey,
  isStale,
  itemOffset,
  keyBeginsWith,
  keyEndsWith,
  mapSlab,
  markStale,
  recordAttributes,
  recordBornRevision,
  recordBytes,
  recordKey,
  recordLength,
  recordRevision,
  recordSchemaGeneration,
  recordType,
  restampRecord,
  revisionOffset,
  sameAttributes,
  sameBytes,
  stampRevision,
  valueLength,
  valueView,
  writeRecordHead,
} from '../../../storage/records/slab-record.ts';

const REVISIONS = [1, 12, 999, 1234, 99_999, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 3, 10 ** 15, Number.MAX_SAFE_INTEGER];

const OBJECT = { metadata: { name: 'größe', namespace: 'default', labels: { a: 'b' } }, data: { text: '日本 🙂' } };

function written(key: string, attributes: string, revision: number, bornRevision: number) {
  const encoded = encodeStored(OBJECT, 'v1', 'ConfigMap');
  const json = Buffer.from(encoded.text);
  const sizes = [Buffer.byteLength(key), Buffer.byteLength(attributes), json.length] as const;
  const length = recordBytes(...sizes);
  const slab = mapSlab(new SharedArrayBuffer(length + 64));
  slab.bytes.fill(0xee);
  const fields = {
    revision,
    bornRevision,
    type: CREATED,
    schemaGeneration: 9,
    revisionOffset: encoded.revisionOffset,
    itemOffset: encoded.itemOffset,
  };
  const at = writeRecordHead(slab, 16, length, fields, key, sizes[0], attributes, sizes[1], json.length);
  slab.bytes.set(json, at);
  stampRevision(slab.bytes, at + encoded.revisionOffset, revision);
  return { slab, length, encoded, json };
}

for (const revision of REVISIONS) {
  test(`revision ${revision} is stamped into the value, which stays JSON of the same length`, (t) => {
    const { slab, encoded } = written('core/configmaps/default/größe', '', revision, 1);
    t.is(recordRevision(slab, 16), revision);
    const value = valueView(slab, 16);
    t.is(value.length, Buffer.byteLength(encoded.text));
    const { metadata, data } = JSON.parse(value.toString()) as typeof OBJECT & { metadata: Record<string, unknown> };
    t.deepEqual(metadata, { ...OBJECT.metadata, resourceVersion: String(revision) } as never);
    t.deepEqual(data, OBJECT.data);
  });
}

test('every part of a record is read back, whatever its length', (t) => {
  for (const key of ['a/b/c/d', 'core/configmaps/default/größe', `a/b//${'x'.repeat(5000)}`]) {
    for (const attributes of ['', '1\u0000k\u0000v', '0\u0000grün']) {
      const { slab, length, encoded } = written(key, attributes, 2 ** 41, 2 ** 33);
      t.is(recordLength(slab, 16), length);
      t.is(length % 8, 0);
      t.is(recordKey(slab, 16), key);
      t.is(recordAttributes(slab, 16), attributes);
      t.is(recordBornRevision(slab, 16), 2 ** 33);
      t.is(recordSchemaGeneration(slab, 16), 9);
      t.is(recordType(slab, 16), CREATED);
      t.is(valueLength(slab, 16), Buffer.byteLength(encoded.text));
      t.is(revisionOffset(slab, 16), encoded.revisionOffset);
      t.is(itemOffset(slab, 16), encoded.itemOffset);
      t.is(bodyView(slab, 16).toString(), `${valueView(slab, 16).toString()}\n`);
      t.true(slab.bytes.subarray(0, 16).every((byte) => byte === 0xee));
      t.true(slab.bytes.subarray(16 + length).every((byte) => byte === 0xee));
    }
  }
});

test('a record turned into a removal has the new type and revision and keeps the rest', (t) => {
  for (const revision of REVISIONS) {
    const { slab } = written('core/configmaps/default/a', '', Number.MAX_SAFE_INTEGER, 3);
    restampRecord(slab, 16, DELETED, revision);
    t.is(recordType(slab, 16), DELETED);
    t.is(recordRevision(slab, 16), revision);
    t.is(recordBornRevision(slab, 16), 3);
    const { metadata } = JSON.parse(valueView(slab, 16).toString()) as { metadata: { resourceVersion: string } };
    t.is(metadata.resourceVersion, String(revision));
  }
});

test('a key is told from others where it lies, in whole or in part', (t) => {
  for (const key of ['core/configmaps/default/a', 'core/configmaps/default/größe']) {
    const { slab } = written(key, '', 1, 1);
    const bytes = Buffer.from(key);
    t.true(hasKey(slab, 16, key));
    for (const other of [`${key}x`, key.slice(0, -1), `${key.slice(0, -1)}x`, `x${key.slice(1)}`, '', 'core/größe'])
      t.false(hasKey(slab, 16, other), other);
    for (let length = 0; length <= bytes.length; length++)
      t.true(keyBeginsWith(slab, 16, bytes.subarray(0, length)), String(length));
    t.false(keyBeginsWith(slab, 16, Buffer.from(`${key}{`)));
    t.false(keyBeginsWith(slab, 16, Buffer.from('core/secrets')));
    const skipped = 'core/configmaps/'.length;
    t.true(keyEndsWith(slab, 16, skipped, key.slice(skipped)));
    t.false(keyEndsWith(slab, 16, skipped + 1, key.slice(skipped)));
    t.false(keyEndsWith(slab, 16, skipped, key));
    t.is(recordKey(slab, 16, skipped), key.slice(skipped));
  }
});

test('a record is noted to be stale beside its type, and is not before', (t) => {
  const { slab } = written('a/b//c', '', 1, 1);
  t.false(isStale(slab, 16));
  markStale(slab, 16);
  t.true(isStale(slab, 16));
  t.is(recordType(slab, 16), CREATED);
});

test('attributes of two records are compared where they lie, and nothing beyond a slab is the same', (t) => {
  const one = written('a/b//c', '1\u0000k\u0000v', 1, 1).slab;
  const longKey = written('a/b//longer', '1\u0000k\u0000v', 2, 2).slab;
  t.true(sameAttributes(one, 16, longKey, 16));
  for (const attributes of ['', '1\u0000k\u0000w', '1\u0000k\u0000vv', '2\u0000k\u0000v'])
    t.false(sameAttributes(one, 16, written('a/b//c', attributes, 1, 1).slab, 16), JSON.stringify(attributes));
  const end = one.bytes.length;
  t.true(sameBytes(one, end - 4, one, end - 4, 4));
  t.false(sameBytes(one, end - 4, one, end - 4, 5));
});

test('the slot is as wide as the longest revision', (t) => {
  t.is(`"${Number.MAX_SAFE_INTEGER}"`.length, REVISION_SLOT_BYTES);
});
