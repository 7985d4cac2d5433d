// What is read off a record without parsing it must be what parsing would have said.
import test from 'ava';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { mayBeTied, mayHaveMember, recordUid } from '../../../storage/records/record-head.ts';
import {
  CREATED,
  mapSlab,
  recordBytes,
  type Slab,
  stampRevision,
  writeRecordHead,
} from '../../../storage/records/slab-record.ts';

const OFFSET = 64;
const OWNERS = Buffer.from('"ownerReferences"');
const UID = '5f0e6f1c-6d3c-4f5e-9d52-0a4f3b6f7a10';

interface Metadata {
  readonly [member: string]: unknown;
}

/** The object's record, between records of objects that have everything asked about. */
function recordOf(metadata: Metadata, rest: Readonly<Record<string, unknown>> = {}): Slab {
  const { text, revisionOffset, itemOffset } = encodeStored({ metadata, ...rest }, 'v1', 'ConfigMap');
  const json = Buffer.from(text);
  const length = recordBytes(3, 0, json.length);
  const slab = mapSlab(new SharedArrayBuffer(OFFSET + length + 256));
  const noise = '"uid":"other","resourceVersion":"9","deletionTimestamp":"x","ownerReferences":[]';
  slab.bytes.write(noise.slice(-OFFSET), 0, 'latin1');
  slab.bytes.write(noise, OFFSET + length, 'latin1');
  const fields = { revision: 7, bornRevision: 7, type: CREATED, schemaGeneration: 1, revisionOffset, itemOffset };
  const at = writeRecordHead(slab, OFFSET, length, fields, 'a//', 3, '', 0, json.length);
  slab.bytes.set(json, at);
  stampRevision(slab.bytes, at + revisionOffset, Number.MAX_SAFE_INTEGER);
  return slab;
}

const UIDS: readonly (readonly [title: string, metadata: Metadata, uid: string])[] = [
  ['after the name', { name: 'a', uid: UID }, UID],
  [
    'after everything that can come before it',
    { name: 'a', generateName: 'a-', namespace: 'n', selfLink: '/x', uid: UID },
    UID,
  ],
  ['alone', { uid: UID }, UID],
  ['of one letter', { name: 'a', uid: 'u' }, 'u'],
  ['after a name that is not ASCII', { name: 'größe', uid: UID }, UID],
  ['missing', { name: 'a' }, ''],
  ['missing, where a name looks like it', { name: '"uid":"x' }, ''],
  ['missing, without any member', {}, ''],
];

for (const [title, metadata, uid] of UIDS)
  test(`a uid is read: ${title}`, (t) => {
    t.is(recordUid(recordOf(metadata), OFFSET), uid);
  });

test('a member is found wherever it is, and texts that quote it are not it', (t) => {
  const has = (metadata: Metadata, rest = {}) => mayHaveMember(recordOf(metadata, rest), OFFSET, OWNERS);
  t.true(has({ name: 'a', uid: UID, ownerReferences: [{ uid: 'o' }] }));
  t.true(has({ name: 'a' }, { spec: { template: { metadata: { ownerReferences: [] } } } }));
  t.false(has({ name: 'a', uid: UID, labels: { a: 'b' } }, { data: { a: 'b' } }));
  t.false(has({ name: 'a', annotations: { last: JSON.stringify({ ownerReferences: [] }) } }));
  t.false(has({ name: 'a', managedFields: [{ fieldsV1: { 'f:ownerReferences': {} } }] }));
});

const ENDING = '2026-11-20T12:00:00Z';
const TIES: readonly (readonly [title: string, metadata: Metadata, tied: boolean])[] = [
  ['no members after the version', { name: 'a' }, false],
  ['nothing but times', { name: 'a', uid: UID, generation: 3, creationTimestamp: ENDING }, false],
  ['no members at all', {}, false],
  ['an owner', { name: 'a', uid: UID, ownerReferences: [{ uid: 'o' }] }, true],
  ['an owner behind everything', behindEverything({ ownerReferences: [{ uid: 'o' }] }), true],
  ['an owner and finalizers behind everything', behindEverything({ ownerReferences: [{}], finalizers: ['x'] }), true],
  ['neither owner nor finalizers, of one that ends', behindEverything({ managedFields: [] }), false],
  ['finalizers behind everything, of one that ends', behindEverything({ finalizers: ['x/"ownerReferences":'] }), true],
  ['finalizers of one that ends', { name: 'a', deletionTimestamp: ENDING, finalizers: ['x'] }, true],
  ['finalizers', { name: 'a', labels: { a: 'b' }, finalizers: ['x'] }, false],
  ['finalizers of one that speaks of its end', { labels: { a: '"deletionTimestamp":' }, finalizers: ['x'] }, false],
  ['an end', { name: 'a', deletionTimestamp: ENDING, labels: { a: '"finalizers":' } }, false],
  [
    'an end as late as it can be',
    { generation: Number.MAX_SAFE_INTEGER, creationTimestamp: ENDING, deletionTimestamp: ENDING, finalizers: ['x'] },
    true,
  ],
  ['managers of owners', { name: 'a', managedFields: [{ fieldsV1: { 'f:ownerReferences': {} } }] }, false],
  [
    'managers of finalizers, of one that ends',
    { name: 'a', deletionTimestamp: ENDING, managedFields: [{ fieldsV1: { 'f:finalizers': {} } }] },
    false,
  ],
];

function behindEverything(more: Metadata): Metadata {
  return {
    name: 'a',
    generation: 1,
    deletionTimestamp: '2026-11-20T12:00:00Z',
    deletionGracePeriodSeconds: 30,
    labels: { 'a/b': '', c: 'd' },
    annotations: {
      text: '{"ownerReferences":[]},"}\\\\"\\',
      long: `${'x'.repeat(63)}\\`,
      longer: `${'x'.repeat(62)}\\","ownerReferences":["${'y'.repeat(70)}\\\\"${'"'.repeat(90)}${'\\'.repeat(71)}`,
      other: '","ownerReferences":["',
    },
    ...more,
  };
}

for (const [title, metadata, tied] of TIES)
  test(`whether an object is tied is read: ${title}`, (t) => {
    const spec = { finalizers: ['x'], template: { metadata: { ownerReferences: [{ uid: 'o' }] } } };
    t.is(mayBeTied(recordOf(metadata), OFFSET), tied);
    t.is(mayBeTied(recordOf(metadata, { spec }), OFFSET), tied);
  });

test('wherever a quote or a backslash falls in a text, the members behind it are found', (t) => {
  for (let length = 0; length < 140; length++) {
    for (const end of ['', '"', '\\', '\\\\', '\\"', '"x', '\\x']) {
      const annotations = { a: `${'x'.repeat(length)}${end}` };
      t.false(mayBeTied(recordOf({ name: 'a', annotations, managedFields: [] }), OFFSET));
      t.true(mayBeTied(recordOf({ deletionTimestamp: ENDING, annotations, finalizers: ['x'] }), OFFSET));
    }
  }
});
