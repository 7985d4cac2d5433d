// The file that a whole etcd is saved in: what its members gave, to the byte, or none.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { isOrchError } from '../../../runtime/errors.ts';
import { EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import { isEtcdSnapshot, saveEtcd } from '../../../storage/etcd/etcd-snapshot.ts';

function fileOf(t: ExecutionContext): { readonly directory: string; readonly file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'orch-etcd-snapshot-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, file: join(directory, 'saved.db') };
}

/** A database as its first page begins, and its hash behind it. */
function snapshot(bytes: number): Buffer {
  const database = Buffer.alloc(bytes, 'database ');
  database.writeUInt32LE(0xed0cdaed, 16);
  return Buffer.concat([database, createHash('sha256').update(database).digest()]);
}

/** A member that gives this, so many bytes at a time. */
const giving = (whole: Buffer, pieceBytes: number) => ({
  snapshot: async (take: (piece: Buffer) => void): Promise<void> => {
    for (let at = 0; at < whole.length; at += pieceBytes) take(whole.subarray(at, at + pieceBytes));
  },
});

test('a snapshot of etcd is saved as it is given, however it is cut into pieces', async (t) => {
  const { directory, file } = fileOf(t);
  const whole = snapshot(1000);
  for (const pieceBytes of [1, 7, 31, 32, 33, 1000, 1031, 5000]) {
    t.is(await saveEtcd(giving(whole, pieceBytes) as never, file), whole.length);
    t.deepEqual(readFileSync(file), whole, `${pieceBytes} at a time`);
    t.true(isEtcdSnapshot(file));
    rmSync(file);
  }
  t.deepEqual(readdirSync(directory), []);
});

test('of a snapshot that is cut off or changed no file is left, and of one that etcd does not give neither', async (t) => {
  const { directory, file } = fileOf(t);
  const whole = snapshot(1000);
  const changed = Buffer.from(whole);
  changed[500]! ^= 1;
  const otherHash = Buffer.from(whole);
  otherHash[whole.length - 1]! ^= 1;
  for (const wrong of [
    whole.subarray(0, -1),
    whole.subarray(0, 1000),
    whole.subarray(0, 20),
    Buffer.alloc(0),
    changed,
    otherHash,
  ]) {
    const error = await t.throwsAsync(saveEtcd(giving(wrong, 100) as never, file), {
      message: 'the snapshot does not match its hash: it was cut off',
    });
    t.true(isOrchError(error, 'ActorDown'));
    t.false(existsSync(file));
  }
  for (const [kind, code] of [
    ['unknown', 'ActorDown'],
    ['refused', 'Refused'],
  ] as const) {
    const failing = { snapshot: () => Promise.reject(new EtcdError(kind as never, 'why')) };
    const error = await t.throwsAsync(saveEtcd(failing as never, file), { message: 'etcd gave no snapshot: why' });
    t.true(isOrchError(error, code), kind);
  }
  t.deepEqual(readdirSync(directory), []);
});

test('a file is no snapshot of etcd where its first page does not say so', (t) => {
  const { file } = fileOf(t);
  for (const other of [Buffer.alloc(0), Buffer.alloc(19, 1), Buffer.alloc(1000, 1), snapshot(1000).subarray(0, 19)]) {
    writeFileSync(file, other);
    t.false(isEtcdSnapshot(file));
  }
});
