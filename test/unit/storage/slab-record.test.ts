import test from 'ava';
import { encodeStored, REVISION_SLOT_BYTES } from '../../../api/codec/stored-object.ts';
import {
  bodyView,
  CREATED,
  DELETED,
  itemOffset,
  mapSlab,
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
  stampRevision,
  valueLength,
  valueView,
  writeRecordHead,
} from '../../../storage/slab-record.ts';

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

test('the slot is as wide as the longest revision', (t) => {
  t.is(`"${Number.MAX_SAFE_INTEGER}"`.length, REVISION_SLOT_BYTES);
});
