// A small store on disk, written by the real engine, and what a start finds in a directory: everything, or a refusal.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recover } from '../../../actors/store/log/recovery.ts';
import { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { EXPECT_ANY } from '../../../actors/store/protocol.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import { LevelEngine } from '../../../storage/level/level-engine.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { differences, MessageWriter, StoreModel, type Version, versionAt } from './store-model.ts';
import { until } from './store-rig.ts';

export const IDENTITY = { prefix: '/registry', dialect: 'orch' } as const;

const SLAB_BYTES = 16 * 1024;

/** The files of a directory, by their path below it. */
export type Files = ReadonlyMap<string, Buffer>;

export function scratchDirectory(t: { teardown(undo: () => Promise<void>): void }): string {
  // In memory where there is such a place: thousands of stores are opened, and each open syncs.
  const base = statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(base, 'orch-store-'));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

export function readFiles(directory: string): Files {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true });
  return new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(directory.length + 1), readFileSync(path)] as const;
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

export function writeFiles(directory: string, files: Files): void {
  for (const [name, bytes] of files) {
    const path = join(directory, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, bytes);
  }
}

/** A store that a test writes to, beside the model of it. */
class StoreOnDisk {
  readonly #directory: string;
  readonly #pool = new SlabPool(SLAB_BYTES, new SharedState());
  readonly log = new RevisionLog(this.#pool, 'protobuf');
  readonly engine: LevelEngine;
  readonly model: StoreModel;

  constructor(directory: string, model: StoreModel) {
    this.#directory = directory;
    this.engine = new LevelEngine({ directory, ...IDENTITY });
    this.model = model;
  }

  async open(): Promise<this> {
    await recover(this.log, this.#pool, this.engine, await this.engine.open());
    return this;
  }

  /** What lies on disk becomes a table: LevelDB makes one of its log at each open. */
  async reopen(): Promise<StoreOnDisk> {
    await this.engine.close();
    return new StoreOnDisk(this.#directory, this.model).open();
  }

  /** One batch: keys with their new texts, or null to remove them; each its own revision. */
  async write(changes: Readonly<Record<string, string | null>>): Promise<void> {
    const writer = new MessageWriter();
    for (const [key, text] of Object.entries(changes)) {
      writer.transaction([text === null ? writer.remove(key, EXPECT_ANY) : writer.put(key, EXPECT_ANY, text)]);
    }
    const first = this.log.revision + 1;
    this.log.begin();
    for (const transaction of writer.transactions) {
      this.log.apply(transaction, writer.payload);
      this.model.apply(transaction, writer.payload);
    }
    await this.engine.commit(this.log.finish(first, 1000 + first)!);
    // The first write after a start has what was kept of it removed, beside everything else; files are read next.
    while (existsSync(join(this.#directory, 'store.discarded'))) await new Promise((resolve) => setImmediate(resolve));
  }

  async compact(upToRevision: number): Promise<void> {
    await this.engine.compact(upToRevision);
    this.log.compact(upToRevision);
    this.model.compact(upToRevision);
  }
}

const A = 'core/pods/default/a';
const B = 'core/pods/default/b';
const C = 'core/nodes//c';
const GONE = 'core/pods/default/gone';

/** A part of the log that was written at once, and which current objects it holds. */
export interface LogPart {
  /** Where it ends in the log, in bytes. */
  readonly end: number;
  readonly keys: readonly string[];
}

export interface SmallStore {
  readonly files: Files;
  readonly model: StoreModel;
  readonly logParts: readonly LogPart[];
}

/** A store with something in a table, something in the log, compacted history, and nothing else. */
export async function smallStore(directory: string): Promise<SmallStore> {
  let store = await new StoreOnDisk(directory, new StoreModel()).open();
  await store.write({ [A]: 'a1', [GONE]: 'g1' });
  await store.write({ [B]: 'b1' });
  await store.write({ [C]: 'c1' });
  await store.compact(2);
  store = await store.reopen();
  const logParts: LogPart[] = [];
  const written = (keys: readonly string[]): void => {
    logParts.push({ end: logBytes(directory), keys });
  };
  await store.write({ [A]: 'a2' });
  written([A]);
  await store.write({ [GONE]: null });
  written([]);
  await store.compact(3);
  written([]);
  await store.write({ [B]: 'b2' });
  written([B]);
  const { model } = store;
  await store.engine.close();
  return { files: readFiles(directory), model, logParts };
}

/** Of the newest log: LevelDB may not have removed the one before it yet. */
function logBytes(directory: string): number {
  const database = join(directory, 'store');
  const logs = readdirSync(database).filter((name) => name.endsWith('.log'));
  return statSync(join(database, logs.sort().at(-1)!)).size;
}

/** So many tables of one level are merged. */
const TABLES_MERGED_FROM = 4;

/** Those that were merged may still lie there: LevelDB removes them later where somebody was reading them. */
function isMerged(directory: string): boolean {
  const database = join(directory, 'store');
  const tables = readdirSync(database).filter((name) => name.endsWith('.ldb')).length;
  return tables < TABLES_MERGED_FROM || readFileSync(join(database, 'LOG'), 'utf8').includes('compacted to:');
}

/** A store that was opened so often that LevelDB has merged tables: its manifest has several edits. */
export async function oftenOpenedStore(directory: string): Promise<SmallStore> {
  let store = await new StoreOnDisk(directory, new StoreModel()).open();
  for (let round = 1; round <= 6; round++) {
    await store.write({ [A]: `a${round}`, [`${GONE}-${round}`]: 'g' });
    await store.write({ [`${GONE}-${round}`]: null, [B]: `b${round}` });
    store = await store.reopen();
    // In a thread of LevelDB's own, and not at all where the store is closed before it.
    await until(() => isMerged(directory));
  }
  await store.write({ [C]: 'c1' });
  const { model } = store;
  await store.engine.close();
  const files = readFiles(directory);
  return { files, model, logParts: [{ end: logBytes(directory), keys: [C] }] };
}

/** How a start ends: with everything that `model` says, with a refusal of one line, or as it must not. */
export type Outcome =
  | { readonly kind: 'whole' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'wrong'; readonly what: string };

/** What a start on a directory gives. */
export async function startOn(directory: string, model: StoreModel): Promise<Outcome> {
  return started(directory, (log, pool): Outcome => {
    const found = differences(log, pool, model);
    return found.length === 0 ? { kind: 'whole' } : { kind: 'wrong', what: found.join('; ') };
  });
}

export interface StoreState {
  readonly revision: number;
  readonly compactedRevision: number;
  readonly objects: ReadonlyMap<string, Version>;
}

/** What a start on a directory finds, or why there is none. */
export async function storeIn(directory: string): Promise<StoreState | string> {
  const state = await started(directory, (log, pool): StoreState => {
    const versions = [...log.current.values()].map(({ slab, offset }) => versionAt(pool.slab(slab), offset));
    const { revision, compactedRevision } = log;
    return { revision, compactedRevision, objects: new Map(versions.map((version) => [version.key, version])) };
  });
  return 'kind' in state ? JSON.stringify(state) : state;
}

/** Starts the engine on a directory, as the store does, and looks at what is recovered. */
async function started<T>(directory: string, look: (log: RevisionLog, pool: SlabPool) => T): Promise<T | Outcome> {
  const pool = new SlabPool(SLAB_BYTES, new SharedState());
  const log = new RevisionLog(pool, 'protobuf');
  const engine = new LevelEngine({ directory, ...IDENTITY });
  try {
    await recover(log, pool, engine, await engine.open());
    return look(log, pool);
  } catch (error) {
    await engine.close({ asFound: true });
    const message = String((error as Error).message);
    const isRefusal = isOrchError(error, 'StoreUnusable') && !message.includes('\n');
    return isRefusal ? { kind: 'refused', message } : { kind: 'wrong', what: `not a refusal: ${String(error)}` };
  } finally {
    await engine.close();
  }
}
