// Saves a whole etcd in a file, as its members give it: their database, and behind it its SHA-256. Whoever restores it uses etcd's own means.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { OrchError } from '../../runtime/errors.ts';
import { keepFile } from '../files/kept-file.ts';
import type { EtcdClient } from './etcd-client.ts';
import { EtcdError } from './etcd-cluster.ts';

const HASH_BYTES = 32;
/** Every database of etcd's has this in its first page. */
const MAGIC = 0xed0cdaed;
const MAGIC_OFFSET = 16;
const HEAD_BYTES = MAGIC_OFFSET + 4;

/** Resolves with the bytes that were saved. Throws OrchError ActorDown or Refused, and leaves no file then. */
export async function saveEtcd(client: Pick<EtcdClient, 'snapshot'>, file: string): Promise<number> {
  try {
    return await keepFile(file, (descriptor) => write(client, descriptor));
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    throw new OrchError(error.kind === 'unknown' ? 'ActorDown' : 'Refused', `etcd gave no snapshot: ${error.message}`);
  }
}

/** Whether a file holds what `saveEtcd` or etcd's own tools saved. */
export function isEtcdSnapshot(file: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  const opened = openSync(file, 'r');
  try {
    return readSync(opened, head, 0, HEAD_BYTES, 0) === HEAD_BYTES && head.readUInt32LE(MAGIC_OFFSET) === MAGIC;
  } finally {
    closeSync(opened);
  }
}

async function write(client: Pick<EtcdClient, 'snapshot'>, file: number): Promise<number> {
  const hash = createHash('sha256');
  let [bytes, tail]: [number, Buffer] = [0, Buffer.alloc(0)];
  await client.snapshot((piece) => {
    for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
    bytes += piece.length;
    // What may be the hash itself is not hashed yet.
    const all = Buffer.concat([tail, piece]);
    const end = Math.max(0, all.length - HASH_BYTES);
    hash.update(all.subarray(0, end));
    tail = all.subarray(end);
  });
  if (tail.length < HASH_BYTES || !hash.digest().equals(tail)) {
    throw new OrchError('ActorDown', 'the snapshot does not match its hash: it was cut off');
  }
  return bytes;
}
