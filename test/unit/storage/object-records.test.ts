import test from 'ava';
import { storedValueBytesMax, storedValueChecksum, writeStoredValue } from '../../../storage/forms/stored-value.ts';
import { EventRecordWriter, readEventRecord } from '../../../storage/records/event-log.ts';
import { CREATED, DELETED, type RecordType, UPDATED } from '../../../storage/records/slab-record.ts';
import { type Objects, readObjects } from '../../../storage/upkeep/object-records.ts';
import { encryption, keyed } from './encryption/encryption-world.ts';

const KEY = 'core/secrets/ns/a';
const SPEC = 'what stays as it is '.repeat(20);

/** The stored form of the object as it was at a revision. */
function formAt(revision: number, text: string): Buffer {
  const opening = '{"kind":"Secret","apiVersion":"v1",';
  const json = Buffer.from(`${opening}"metadata":{"resourceVersion":"${revision}"},"data":{"text":"${text}"}}`);
  const head = {
    revision,
    bornRevision: 1,
    schemaGeneration: 1,
    revisionOffset: json.indexOf(`"${revision}"`),
    itemOffset: opening.length,
  };
  const target = Buffer.alloc(storedValueBytesMax('', json.length, opening.length));
  return target.subarray(0, writeStoredValue(target, 0, KEY, head, '', json, 'json'));
}

/** Revisions from 1 on: created as the first, updated to each of the others. */
const FORMS = ['one', 'two', 'three'].map((text, index) => formAt(index + 1, `${SPEC}${text}`));

/** What is found where the engine holds `value` after the object's life. `isWhole`: events hold what they replaced. */
function found(value: Buffer | undefined, isWhole = false): Objects {
  const writer = new EventRecordWriter();
  writer.begin();
  for (const [index, form] of FORMS.entries()) {
    const type: RecordType = index === 0 ? CREATED : UPDATED;
    writer.add(index + 1, type, KEY, FORMS[index - 1], storedValueChecksum(form), isWhole ? undefined : form);
  }
  const head = { previousChecksum: 0, firstRevision: 1, lastRevision: 3, wallMs: 0 };
  const { bytes } = writer.finish({ ...head, liveObjects: 1, liveDigest: 0 });
  return readObjects(new Map(value === undefined ? [] : [[KEY, value]]), [readEventRecord(bytes)!]);
}

test('an object whose history is told by its value is sound', (t) => {
  const { findings, whole } = found(FORMS[2]);
  t.deepEqual(findings, []);
  t.deepEqual(whole.get(KEY), FORMS[2]);
});

test('a value that is lost takes along what its updates replaced', (t) => {
  const lost = { key: KEY, what: `the value of ${KEY} at revision 3 is missing`, isLost: true, lostRevision: 3 };
  t.deepEqual(found(undefined).findings, [{ ...lost, keptRevision: undefined }]);
});

test('of a value that is lost, an older one that lies in the engine is kept, or one that an event holds whole', (t) => {
  const { findings, whole } = found(FORMS[0]);
  t.like(findings[0], { isLost: true, lostRevision: 3, keptRevision: 1 });
  t.deepEqual(whole.get(KEY), FORMS[0]);
  t.like(found(undefined, true).findings[0], { isLost: true, lostRevision: 3, keptRevision: 2 });
});

test('with nothing wrong, what an encrypted value hides is not taken for damage', (t) => {
  const encrypted = encryption([keyed('aesgcm', 'a', 1)], { resource: 'secrets' });
  const writer = new EventRecordWriter();
  writer.begin();
  writer.add(1, CREATED, KEY, undefined, storedValueChecksum(FORMS[0]!), FORMS[0]);
  writer.add(2, UPDATED, KEY, FORMS[0], storedValueChecksum(FORMS[1]!), FORMS[1]);
  const sealed = encrypted.seal(KEY, FORMS[2]!);
  writer.add(3, UPDATED, KEY, encrypted.seal(KEY, FORMS[1]!), storedValueChecksum(sealed));
  const head = { previousChecksum: 0, firstRevision: 1, lastRevision: 3, wallMs: 0, liveObjects: 1, liveDigest: 0 };
  const record = readEventRecord(writer.finish(head).bytes)!;
  t.true(record.events[1]!.isDelta);
  t.deepEqual(readObjects(new Map([[KEY, sealed]]), [record]).findings, []);
});

const REMOVED_AT = 4;

/** What is found of an object that was made at revision 1 and removed, where the engine holds `value`. */
function foundAfterRemoval(value: Buffer | undefined): Objects {
  const writer = new EventRecordWriter();
  writer.begin();
  writer.add(1, CREATED, KEY, undefined, storedValueChecksum(FORMS[0]!), FORMS[0]);
  writer.add(REMOVED_AT, DELETED, KEY, FORMS[0], 0);
  const head = {
    previousChecksum: 0,
    firstRevision: 1,
    lastRevision: REMOVED_AT,
    wallMs: 0,
    liveObjects: 0,
    liveDigest: 0,
  };
  const record = readEventRecord(writer.finish(head).bytes)!;
  return readObjects(new Map(value === undefined ? [] : [[KEY, value]]), [record]);
}

test('an object that was removed and is there is no object, and nothing is lost with it', (t) => {
  t.deepEqual(foundAfterRemoval(undefined).findings, []);
  const { findings, whole } = foundAfterRemoval(FORMS[0]);
  t.deepEqual(findings, [
    {
      key: KEY,
      what: `${KEY} was removed at revision ${REMOVED_AT} and is there`,
      isLost: false,
      lostRevision: undefined,
      keptRevision: undefined,
    },
  ]);
  t.is(whole.size, 0);
});

/** A stored form with a right checksum, whose JSON is this. */
function formOf(json: string, revision: number, revisionOffset = json.indexOf(`"${revision}"`)): Buffer {
  const bytes = Buffer.from(json);
  const head = { revision, bornRevision: 1, schemaGeneration: 1, revisionOffset, itemOffset: 1 };
  const target = Buffer.alloc(storedValueBytesMax('', bytes.length, 1));
  return target.subarray(0, writeStoredValue(target, 0, KEY, head, '', bytes, 'json'));
}

test('a value whose checksum is right is looked into: it says its revision, in JSON', (t) => {
  const whatOf = (value: Buffer): readonly string[] =>
    readObjects(new Map([[KEY, value]]), []).findings.map(({ what }) => what);
  t.deepEqual(whatOf(formOf('{"metadata":{"resourceVersion":"7"}}', 7)), []);
  t.deepEqual(whatOf(formOf('{"metadata":{"resourceVersion":"7"}', 7)), [`the value of ${KEY} is not JSON`]);
  t.deepEqual(whatOf(formOf('{"metadata":{"resourceVersion":"8"}}', 7, 31)), [
    `the value of ${KEY} does not say revision 7`,
  ]);
});
