import test from 'ava';
import {
  readStoredValue,
  type StorageMedia,
  storedValueBytesMax,
  storedValueChecksum,
  writeStoredValue,
} from '../../../storage/forms/stored-value.ts';

const OPENING = '{"kind":"ConfigMap","apiVersion":"v1",';
const JSON_TEXT = `${OPENING}"metadata":{"name":"a","resourceVersion":"7"                }}`;
const KEY = 'core/configmaps/default/a';
const HEAD = {
  revision: 2 ** 40 + 7,
  bornRevision: 2 ** 33 + 1,
  schemaGeneration: 3,
  revisionOffset: JSON_TEXT.indexOf('"7"'),
  itemOffset: OPENING.length,
};
const MEDIA: readonly StorageMedia[] = ['json', 'protobuf'];

function stored(media: StorageMedia, attributes = '1\u0000app\u0000web', key = KEY): Buffer {
  const json = Buffer.from(JSON_TEXT);
  const target = Buffer.alloc(storedValueBytesMax(attributes, json.length, HEAD.itemOffset) + 3);
  return target.subarray(3, 3 + writeStoredValue(target, 3, key, HEAD, attributes, json, media));
}

for (const media of MEDIA) {
  test(`a value stored as ${media} comes back whole`, (t) => {
    for (const attributes of ['', '1\u0000app\u0000web', '0\u0000grün 🙂']) {
      const bytes = stored(media, attributes);
      const value = readStoredValue(KEY, bytes)!;
      const { json, ...rest } = value;
      t.deepEqual(rest, { ...HEAD, attributes });
      t.is(json.toString(), JSON_TEXT);
    }
  });

  test(`any changed bit of a value stored as ${media} is noticed`, (t) => {
    const bytes = stored(media);
    t.not(readStoredValue(KEY, bytes), undefined);
    let unnoticed = 0;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      bytes[bit >>> 3]! ^= 1 << (bit & 7);
      if (readStoredValue(KEY, bytes) !== undefined) unnoticed++;
      bytes[bit >>> 3]! ^= 1 << (bit & 7);
    }
    t.is(unnoticed, 0);
  });

  test(`a value stored as ${media} that was cut short or grew is noticed`, (t) => {
    const bytes = stored(media);
    for (let length = 0; length < bytes.length; length++) {
      t.is(readStoredValue(KEY, bytes.subarray(0, length)), undefined);
    }
    t.is(readStoredValue(KEY, Buffer.concat([bytes, Buffer.alloc(1)])), undefined);
  });

  test(`a value stored as ${media} under another key is noticed`, (t) => {
    const bytes = stored(media);
    for (const key of ['core/configmaps/default/b', 'core/configmaps/default/', '', `${KEY}a`]) {
      t.is(readStoredValue(key, bytes), undefined, key);
    }
  });
}

test('the checksum of a stored form is what it begins with', (t) => {
  const bytes = stored('json');
  t.is(storedValueChecksum(bytes), bytes.readUInt32LE(0));
  t.not(storedValueChecksum(stored('json', '')), storedValueChecksum(bytes));
});

test('the most bytes a value may need is never less than what it takes', (t) => {
  const opening = `{"kind":"${'K'.repeat(63)}","apiVersion":"${'g'.repeat(63)}.${'e'.repeat(180)}/v1",`;
  for (const attributes of ['', '🙂'.repeat(100), '日'.repeat(100)]) {
    const json = Buffer.from(`${opening}"a":1}`);
    const bytesMax = storedValueBytesMax(attributes, json.length, opening.length);
    const target = Buffer.alloc(bytesMax + 1000);
    const head = { ...HEAD, revisionOffset: 0, itemOffset: opening.length };
    t.true(writeStoredValue(target, 0, KEY, head, attributes, json, 'protobuf') <= bytesMax);
  }
});
