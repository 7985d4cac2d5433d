// `orch store move DIR --store-servers …` and `orch store move --to DIR --store-servers …`: brings a data folder's store into
// etcd, or back out of it into a data folder. Takes the server's own options, so that its command line can be given as it is.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DYING_PLACE } from '../../actors/store/log/version-numbers.ts';
import type { ServerOptions } from '../../config/options.ts';
import { parseArguments } from '../../config/parse.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { finishPuttingBack } from '../../storage/level/found-files.ts';
import { DATABASE_DIRECTORY } from '../../storage/level/level-layout.ts';
import { keptMoved } from '../../storage/level/unfinished-store.ts';
import { MovedKeyspace } from '../../storage/move/keyspace.ts';
import { moveFolder } from '../../storage/move/move-folder.ts';
import { moveIn } from '../../storage/move/move-in.ts';
import { moveOut } from '../../storage/move/move-out.ts';
import { inspectStore } from '../../storage/upkeep/inspection.ts';
import { keptAlive } from '../command-line/kept-alive.ts';
import { print } from '../command-line/print-lines.ts';
import { warnOfOwner } from '../server/closed-directory.ts';
import { openDataDirectory } from '../server/data-directory.ts';
import { claimDatabase } from '../server/directory-claim.ts';
import { etcdAccess } from '../server/store-access.ts';
import { refuseWithoutStore } from './store-check.ts';
import { refuseOtherLayout } from './store-etcd.ts';

const USAGE = 'usage: orch store move [--to] DIR --store-servers URLS [OPTIONS of the server]';

export async function move(argv: readonly string[]): Promise<void> {
  const isOut = argv[0] === '--to';
  const [directory, ...rest] = isOut ? argv.slice(1) : argv;
  if (directory === undefined || directory.startsWith('-')) throw new UsageError(USAGE);
  const parsed = parseArguments('up', rest);
  if (parsed.action !== 'run' || parsed.options.storeServers.length === 0) throw new UsageError(USAGE);
  const { options, given } = parsed;
  // Whoever starts without it gets another store, which is empty.
  const prefix = given.has('store-prefix') ? ` --store-prefix ${options.storePrefix || '/'}` : '';
  refuseOtherLayout('move', options, 'a folder is moved into an etcd of that layout by no command');
  const path = resolve(directory);
  if (isOut) openDataDirectory(path);
  else refuseWithoutStore(path);
  warnOfOwner(path);
  const release = await claimDatabase(path);
  const { timers } = realEnvironment;
  const cluster = new EtcdClient(etcdAccess(options), timers);
  const keyspace = new MovedKeyspace({ cluster, prefix: options.storePrefix, timers });
  try {
    await keptAlive(() => (isOut ? out(path, keyspace, options, prefix) : into(path, keyspace, prefix)));
  } finally {
    cluster.close();
    release();
  }
}

const say = (line: string): void => print([line]);

/** `prefix`: with which flag servers are to be started besides. */
async function into(path: string, keyspace: MovedKeyspace, prefix: string): Promise<void> {
  const folder = moveFolder(path);
  // Left beside a store that is put aside, it would be taken for the store by the next start.
  finishPuttingBack(join(path, DATABASE_DIRECTORY));
  if (!folder.hasStore() && existsSync(join(path, keptMoved(1), DATABASE_DIRECTORY))) {
    print([`etcd has everything from an earlier try; the folder's store is kept in ${folder.putAside()}`]);
    return;
  }
  const found = inspectStore(path);
  if (found.problems.length > 0) {
    throw new OrchError('StoreUnusable', `the store in ${path} is damaged: see orch store check ${path}`);
  }
  print([`moving ${found.objects.size} objects of revision ${found.reachedRevision} from ${path}`]);
  const { keptIn, revision } = await moveIn({ keyspace, folder, found, run: randomUUID(), say });
  print([
    `moved: ${found.objects.size} objects are in etcd beside ${keyspace.place}; versions go on above ${revision}`,
    `the folder's store is kept in ${keptIn}; start the servers with --store-servers${prefix}`,
  ]);
}

async function out(path: string, keyspace: MovedKeyspace, options: ServerOptions, prefix: string): Promise<void> {
  print([`looking for servers on ${keyspace.place}, for some seconds`]);
  const { objects, revision } = await moveOut({
    keyspace,
    folder: moveFolder(path),
    prefix: options.storePrefix.replace(/\/+$/, ''),
    dyingPlace: DYING_PLACE,
    inspect: () => inspectStore(path),
    run: randomUUID(),
    wallMs: realEnvironment.clock.nowMs(),
    say,
  });
  print([
    `moved: ${objects} objects are in ${path}; the store goes on from revision ${revision}`,
    `what lies in etcd stays there and is served no more; start the server with --data-dir ${path}${prefix}`,
  ]);
}
