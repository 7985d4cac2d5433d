// `orch store snapshot FILE`: asks the server that runs on a data folder for everything it stores, and keeps it in a file.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { resolve } from 'node:path';
import { SNAPSHOT_PATH } from '../../actors/ingress/protocol.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { keepFile } from '../../storage/files/kept-file.ts';
import { type SnapshotHeader, SnapshotReader } from '../../storage/upkeep/snapshot-file.ts';
import { type AdminConnection, adminConnection, endWhereSilent } from '../admin/admin-connection.ts';
import { dataDirOf } from '../admin/admin-pages.ts';
import { print } from '../command-line/print-lines.ts';

const USAGE =
  'usage: orch store snapshot FILE [--data-dir DIR], or orch store snapshot FILE --store-servers URLS [OPTIONS of the server]';
/** By either of its names, and as all options are read, `_` for `-`. */
const STORE_SERVERS = /^--(?:store|etcd)[-_]servers(?:=|$)/;
/** A Status is short; of anything else the beginning does. */
const REFUSAL_BYTES_MAX = 16 * 1024;

export async function snapshot(argv: readonly string[]): Promise<void> {
  const [file, ...others] = argv;
  if (file === undefined || file.startsWith('-')) throw new UsageError(USAGE);
  if (argv.some((argument) => STORE_SERVERS.test(argument))) {
    await (await import('./store-etcd.ts')).snapshotEtcd(file, others);
    return;
  }
  const { directory, rest } = dataDirOf(others, USAGE);
  if (rest.length > 0) throw new UsageError(USAGE);
  const server = adminConnection(resolve(directory));
  const header = await keepFile(file, async (descriptor) => save(await ask(server), descriptor));
  print([`saved ${header.objects} objects of revision ${header.revision} in ${file}`]);
}

async function ask({ url, tls, token }: AdminConnection): Promise<IncomingMessage> {
  const request = get(new URL(SNAPSHOT_PATH, url), {
    ...tls,
    headers: { authorization: `Bearer ${token}` },
  });
  endWhereSilent(request);
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode === 200) return response;
    throw new OrchError('Refused', `the server at ${url} refused: ${await refusal(response)}`);
  } catch (error) {
    if (error instanceof OrchError) throw error;
    throw new OrchError('ActorDown', `the server at ${url} does not answer: ${(error as Error).message}`);
  }
}

async function refusal(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response) {
    text += String(piece);
    if (text.length > REFUSAL_BYTES_MAX) break;
  }
  try {
    return (JSON.parse(text) as { message: string }).message;
  } catch {
    return `HTTP ${response.statusCode}`;
  }
}

/** Writes what arrives and the checksum of it; throws when it is not a whole snapshot. */
async function save(response: IncomingMessage, file: number): Promise<SnapshotHeader> {
  const reader = new SnapshotReader();
  const hash = createHash('sha256');
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      reader.read(piece);
      hash.update(piece);
      writeWhole(file, piece);
    }
    const header = reader.finish();
    writeWhole(file, hash.digest());
    return header;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new OrchError('ActorDown', 'the server cut the snapshot off');
  }
}

function writeWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
