import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import test from 'ava';
import { isOrchError } from '../../../runtime/errors.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { writeStoredValue } from '../../../storage/forms/stored-value.ts';
import { HeadMarker } from '../../../storage/level/head-marker.ts';
import { liveDigestOf } from '../../../storage/records/event-log.ts';
import { inspectStore } from '../../../storage/upkeep/inspection.ts';
import { restoreSnapshot } from '../../../storage/upkeep/restore.ts';
import {
  SNAPSHOT_FORMAT,
  type SnapshotHeader,
  SnapshotReader,
  snapshotHeader,
  snapshotRecords,
} from '../../../storage/upkeep/snapshot-file.ts';
import { scratchDirectory, storeIn } from '../store/store-on-disk.ts';

const KEYS = ['core/pods/default/a', 'core/nodes//größe', 'core/pods/default/b'];

function storedForm(key: string, revision: number): Buffer {
  const [, , namespace, name] = key.split('/');
  const slot = `"${revision}"`.padEnd(16);
  const before = `{"kind":"Sample","apiVersion":"v1","metadata":{"name":"${name}","namespace":"${namespace}","resourceVersion":`;
  const json = Buffer.from(`${before}${slot}},"data":"d${revision}"}`);
  const head = {
    revision,
    bornRevision: revision,
    schemaGeneration: 1,
    revisionOffset: Buffer.byteLength(before),
    itemOffset: before.indexOf('"metadata"'),
  };
  const target = Buffer.alloc(1024);
  return target.subarray(
    0,
    writeStoredValue(target, 0, key, head, packAttributes(undefined, [namespace!]), json, 'protobuf'),
  );
}

const OBJECTS = KEYS.map((key, index): [string, Buffer] => [key, storedForm(key, index + 5)]);
const DIGEST = OBJECTS.reduce((sum, [key], index) => (sum + liveDigestOf(crc32(key), index + 5)) >>> 0, 0);
const HEADER: SnapshotHeader = {
  snapshotFormat: SNAPSHOT_FORMAT,
  dialect: 'orch',
  prefix: '/registry',
  revision: 9,
  objects: OBJECTS.length,
  digest: DIGEST,
  wallMs: 1000,
};

function stream(header: object = HEADER, objects = OBJECTS): Buffer {
  return Buffer.concat([snapshotHeader(header as SnapshotHeader), snapshotRecords(objects)]);
}

function withChecksum(content: Buffer): Buffer {
  return Buffer.concat([content, createHash('sha256').update(content).digest()]);
}

/** Reads a stream in pieces of so many bytes. */
function readBy(content: Buffer, pieceBytes: number): { header: SnapshotHeader; objects: [string, string][] } {
  const reader = new SnapshotReader();
  const objects: [string, string][] = [];
  for (let at = 0; at < content.length; at += pieceBytes) {
    for (const [key, value] of reader.read(content.subarray(at, at + pieceBytes))) {
      objects.push([key, value.toString('latin1')]);
    }
  }
  return { header: reader.finish(), objects };
}

test('a snapshot reads the same in pieces of any size', (t) => {
  const content = stream();
  const expected = OBJECTS.map(([key, value]) => [key, value.toString('latin1')]);
  for (let pieceBytes = 1; pieceBytes <= content.length; pieceBytes++) {
    t.deepEqual(readBy(content, pieceBytes), { header: HEADER, objects: expected as [string, string][] });
  }
});

test('a snapshot cut off anywhere is not taken for a whole one', (t) => {
  const content = stream();
  for (let length = 0; length < content.length; length++) {
    const error = t.throws(() => readBy(content.subarray(0, length), 50), undefined, `${length} bytes`);
    t.true(isOrchError(error, 'StoreUnusable'));
  }
});

const UNUSABLE: readonly (readonly [what: string, content: Buffer, message: RegExp])[] = [
  ['another file', Buffer.alloc(10_000, 'text '), /it has no header/],
  ['a header without its end', Buffer.alloc(4097, 0x20), /it has no header/],
  ['a header of another kind', Buffer.from('{"kind":"Pod"}\n'), /it has no header/],
  ['a header that is no object', Buffer.from('null\n'), /it has no header/],
  ['a later format', stream({ ...HEADER, snapshotFormat: 99 }), /has format 99, this release reads format 1/],
  ['fewer objects than it says', stream({ ...HEADER, objects: 4 }), /it holds 3 of 4 objects/],
  ['other objects than it says', stream({ ...HEADER, digest: DIGEST + 1 }), /was cut off/],
  ['a changed object', stream(HEADER, [[KEYS[0]!, OBJECTS[1]![1]]]), /does not match its checksum/],
  [
    'a record of impossible length',
    Buffer.concat([snapshotHeader(HEADER), Buffer.alloc(8, 0xff)]),
    /has an impossible length/,
  ],
];

for (const [what, content, message] of UNUSABLE) {
  test(`${what} is refused with one line`, (t) => {
    const error = t.throws(() => readBy(content, 1000));
    t.regex(error?.message ?? '', message);
    t.notRegex(error?.message ?? '', /\n/);
  });
}

test('a restored store is sound, holds every object at its revision, and goes on far beyond them', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'snapshot');
  writeFileSync(file, withChecksum(stream()));
  const target = join(directory, 'a', 'restored');
  const { header, revision } = await restoreSnapshot(file, target, 5000);
  t.deepEqual(header, HEADER);
  t.true(revision > 1_000_000_000);
  const { problems, identity, digest } = inspectStore(target);
  t.deepEqual(problems, []);
  t.deepEqual([identity?.dialect, identity?.prefix, digest], ['orch', '/registry', DIGEST]);
  const store = await storeIn(target);
  if (typeof store === 'string') return t.fail(store);
  t.deepEqual([store.revision, store.compactedRevision], [revision, revision - 1]);
  t.deepEqual(
    Object.fromEntries([...store.objects].map(([key, version]) => [key, version.revision])),
    Object.fromEntries(KEYS.map((key, index) => [key, index + 5])),
  );
});

test('a restore that was cut short is run again, and until then no start takes the directory for a new one', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'snapshot');
  writeFileSync(file, withChecksum(stream()));
  const target = join(directory, 'restored');
  mkdirSync(join(target, 'store.restored'), { recursive: true });
  writeFileSync(join(target, 'store.restored', '000003.log'), 'a part');
  t.regex(String(await storeIn(target)), /holds a restore that was not finished: run it again/);
  t.deepEqual(readdirSync(target), ['store.restored']);
  await restoreSnapshot(file, target, 5000);
  t.not(typeof (await storeIn(target)), 'string');
});

test('a restore that was cut short when only the name of its store was missing is run again, from another snapshot as well', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'snapshot');
  writeFileSync(file, withChecksum(stream()));
  const target = join(directory, 'restored');
  const { revision } = await restoreSnapshot(file, target, 5000);
  renameSync(join(target, 'store'), join(target, 'store.restored'));
  const marker = new HeadMarker(join(target, 'head'));
  marker.advance(revision + 1000);
  marker.close();
  t.regex(String(await storeIn(target)), /holds a restore that was not finished: run it again/);
  await restoreSnapshot(file, target, 5000);
  const store = await storeIn(target);
  t.is(typeof store === 'string' ? store : store.revision, revision);
});

test('a restore that the disk refused the last file of is run again when there is room', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'snapshot');
  writeFileSync(file, withChecksum(stream()));
  const target = join(directory, 'restored');
  const inTheWay = join(target, 'head');
  mkdirSync(inTheWay, { recursive: true });
  await t.throwsAsync(restoreSnapshot(file, target, 5000, (name) => name === 'head'));
  rmdirSync(inTheWay);
  await restoreSnapshot(file, target, 5000);
  t.not(typeof (await storeIn(target)), 'string');
});

test('a snapshot file with any byte changed, or cut anywhere, restores nothing', async (t) => {
  const directory = scratchDirectory(t);
  const whole = withChecksum(stream());
  const file = join(directory, 'snapshot');
  const target = join(directory, 'restored');
  const refused = async (bytes: Buffer, what: string): Promise<void> => {
    writeFileSync(file, bytes);
    const error = await t.throwsAsync(restoreSnapshot(file, target, 5000), undefined, what);
    t.true(isOrchError(error, 'StoreUnusable'), `${what}: ${error?.message}`);
    t.deepEqual(readdirSync(target), [], what);
  };
  for (let at = 0; at < whole.length; at += 3) {
    const flipped = Buffer.from(whole);
    flipped[at]! ^= 1 << (at % 8);
    await refused(flipped, `byte ${at}`);
    await refused(whole.subarray(0, at), `${at} bytes`);
  }
});

test('a directory that is not empty is left alone', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'snapshot');
  writeFileSync(file, withChecksum(stream()));
  const target = join(directory, 'target');
  mkdirSync(target);
  writeFileSync(join(target, 'mine'), 'text');
  await t.throwsAsync(restoreSnapshot(file, target, 5000), { message: /is not empty/ });
  t.deepEqual(readdirSync(target), ['mine']);
  t.is(readFileSync(join(target, 'mine'), 'utf8'), 'text');
});

test('a file system that was just made is empty, and what its repair found is somebody’s', async (t) => {
  const directory = scratchDirectory(t);
  const file = join(directory, 'snapshot');
  writeFileSync(file, withChecksum(stream()));
  const target = join(directory, 'target');
  mkdirSync(join(target, 'lost+found'), { recursive: true });
  writeFileSync(join(target, 'lost+found', '#12'), 'a store’s, perhaps');
  await t.throwsAsync(restoreSnapshot(file, target, 5000), { message: /is not empty/ });
  rmSync(join(target, 'lost+found', '#12'));
  await restoreSnapshot(file, target, 5000);
  t.not(typeof (await storeIn(target)), 'string');
  t.true(readdirSync(target).includes('lost+found'));
});
