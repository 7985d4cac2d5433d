// Drives a revision log, an engine and the model with the same random transactions, compactions and moves, as the store
// would, and watches over what a slow reader still reads.
import { crc32 } from 'node:zlib';
import { recover } from '../../../actors/store/log/recovery.ts';
import { type FormedBatch, RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { EXPECT_ANY, type Guard, type Operation } from '../../../actors/store/protocol.ts';
import type { CurrentVersion } from '../../../actors/store/settings.ts';
import type { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import type { LocalEngine } from '../../../storage/engines/local-engine.ts';
import type { StorageMedia } from '../../../storage/forms/stored-value.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { recordLength, recordRevision } from '../../../storage/records/slab-record.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { MessageWriter, referencedPlaces, StoreModel, versionAt } from './store-model.ts';

export interface RandomStoreOptions {
  readonly slabBytes: number;
  readonly keys: number;
  readonly media: StorageMedia;
  /** The largest value, in bytes; sizes are mostly far smaller. */
  readonly valueBytesMax: number;
  /** Batches are formed and taken back again between those that are stored. */
  readonly isRefused?: boolean;
  readonly encryption?: StoredEncryption | undefined;
  readonly currentVersion?: CurrentVersion;
}

/** What a reader held when it reported its epoch: places, and the checksum of what lay there. */
interface HeldPlace {
  readonly slab: number;
  readonly offset: number;
  readonly checksum: number;
}

export class RandomStore {
  shared = new SharedState();
  pool: SlabPool;
  log: RevisionLog;
  readonly model = new StoreModel();
  readonly #random: SeededRandom;
  readonly #options: RandomStoreOptions;
  readonly #engine: LocalEngine;
  #readerSlot: number;
  #sequence = 0;
  #held: HeldPlace[] = [];
  /** Last revisions of the batches, as the store's commit times. */
  #batchEnds: number[] = [];
  /** Everything that was found wrong. */
  readonly problems: string[] = [];
  movedRecords = 0;

  constructor(random: SeededRandom, engine: LocalEngine, options: RandomStoreOptions) {
    this.#random = random;
    this.#engine = engine;
    this.#options = options;
    this.pool = new SlabPool(options.slabBytes, this.shared);
    this.log = new RevisionLog(this.pool, options.media, options.encryption);
    this.#readerSlot = this.shared.claimReader(0)!;
  }

  /** One random batch, compaction or turn of the reader. */
  async step(): Promise<void> {
    if (this.#options.isRefused) this.#refusedBatch();
    const choice = this.#random.below(20);
    if (choice < 16) await this.#commit();
    else if (choice < 18) await this.#compact();
    else this.#readerCatchesUp();
  }

  /** Everything in memory is lost and comes back from the engine. */
  async restart(): Promise<void> {
    await this.#engine.close();
    const contents = await this.#engine.open();
    this.shared = new SharedState();
    this.pool = new SlabPool(this.#options.slabBytes, this.shared);
    const { media, encryption, currentVersion } = this.#options;
    this.log = new RevisionLog(this.pool, media, encryption);
    const times = await recover(this.log, this.pool, this.#engine, contents, { encryption, currentVersion });
    this.#batchEnds = times.map(({ revision }) => revision);
    this.#readerSlot = this.shared.claimReader(0)!;
    this.#sequence = 0;
    this.#held = [];
  }

  /** The records the reader holds are what they were when it took them. */
  checkReader(): void {
    for (const { slab, offset, checksum } of this.#held) {
      if (checksumAt(this.pool, slab, offset) !== checksum) {
        this.problems.push(`the record at ${slab}/${offset} was overwritten under a reader`);
      }
    }
  }

  async #commit(): Promise<void> {
    const writer = new MessageWriter();
    for (let count = 1 + this.#random.below(4); count > 0; count--) this.#addTransaction(writer);
    const { payload } = writer;
    const { log, model } = this;
    const firstRevision = log.revision + 1;
    const eventsBefore = model.events.length;
    log.begin();
    for (const transaction of writer.transactions) {
      const expected = model.apply(transaction, payload);
      const { places, ...actual } = { places: [], ...log.apply(transaction, payload) };
      if (JSON.stringify(actual) !== JSON.stringify(expected)) {
        this.problems.push(`answered ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
      }
      for (const place of places) {
        if (recordRevision(this.pool.slab(place.slab), place.offset) !== place.revision) {
          this.problems.push(`place ${JSON.stringify(place)} holds another revision`);
        }
      }
    }
    const batch = log.finish(firstRevision, 1_000_000 + log.revision);
    if ((batch === undefined) !== model.revision < firstRevision) this.problems.push('a batch is missing or empty');
    if (batch === undefined) return;
    this.#checkRuns(batch, eventsBefore);
    await this.#engine.commit(batch);
    this.#batchEnds.push(batch.lastRevision);
    this.#sequence++;
  }

  /** As the store does when the disk takes nothing: the model never hears of it. */
  #refusedBatch(): void {
    const { log, pool } = this;
    const before = stateOf(log, pool);
    const writer = new MessageWriter();
    for (let count = 1 + this.#random.below(6); count > 0; count--) this.#addTransaction(writer);
    log.begin();
    for (const transaction of writer.transactions) log.apply(transaction, writer.payload);
    if (this.#random.below(2) === 0) log.finish(log.revision, 0);
    log.retract();
    pool.retireEmpty(this.#sequence);
    const after = stateOf(log, pool);
    if (after !== before) this.problems.push(`taken back, ${before} became ${after}`);
  }

  #addTransaction(writer: MessageWriter): void {
    const random = this.#random;
    const keys = new Set<string>();
    const wanted = random.below(4) === 0 ? random.below(5) : 1;
    for (let count = wanted; count > 0; count--) keys.add(this.#key());
    const operations = [...keys].map((key): Operation => {
      const expect = this.#expectation(key);
      if (random.below(4) === 0) return writer.remove(key, expect);
      const size = random.below(30) === 0 ? random.below(this.#options.valueBytesMax) : random.below(300);
      return writer.put(key, expect, `${random.below(1e9)}`.padEnd(size, 'é'), random.below(3) === 0 ? `l${size}` : '');
    });
    const guards: Guard[] = [];
    while (random.below(5) === 0) {
      const key = this.#key();
      guards.push({ key, expect: this.#expectation(key) });
    }
    const puts = operations.filter((operation) => !('delete' in operation)).map(({ key }) => key);
    writer.transaction(operations, guards, puts.length > 0 && random.below(8) === 0 ? puts : undefined);
  }

  /** Mostly what is there, sometimes anything, sometimes wrong. */
  #expectation(key: string): number {
    const choice = this.#random.below(10);
    if (choice === 0) return this.#random.below(this.model.revision + 2);
    return choice < 4 ? EXPECT_ANY : (this.model.current.get(key)?.revision ?? 0);
  }

  #key(): string {
    const number = this.#random.below(this.#options.keys);
    return number % 3 === 0 ? `core/nodes//größe-${number}` : `core/pods/ns-${number % 5}/pod-${number}`;
  }

  /** As the store does it: the last batch's record stays, since it vouches for the values. */
  async #compact(): Promise<void> {
    const newest = this.#batchEnds.at(-2) ?? 0;
    const { log, model, pool } = this;
    const wanted = log.compactedRevision + this.#random.below(Math.max(1, log.revision - log.compactedRevision) + 2);
    const target = Math.min(wanted, newest);
    if (target <= log.compactedRevision) return;
    log.compact(target);
    model.compact(target);
    for (const slab of pool.sparse(0.25 + this.#random.next() / 2)) {
      const runs = log.moveOut(slab);
      for (const [number, offset] of recordsOf(runs, pool)) {
        this.movedRecords++;
        const { key, revision } = versionAt(pool.slab(number), offset);
        const current = log.current.get(key);
        if (current?.slab !== number || current.offset !== offset || current.revision !== revision) {
          this.problems.push(`moved ${key} to where it is not`);
        }
      }
    }
    this.#sequence++;
    pool.retireEmpty(this.#sequence);
    while (await this.#engine.compact(log.compactedRevision)) await this.#engine.probe();
    log.forgetFound(log.compactedRevision);
  }

  /** The reader has applied everything and holds what the log refers to now. */
  #readerCatchesUp(): void {
    this.checkReader();
    this.shared.setReaderEpoch(this.#readerSlot, this.#sequence);
    this.#held = [...referencedPlaces(this.log).values()].map(([slab, offset]) => ({
      slab,
      offset,
      checksum: checksumAt(this.pool, slab, offset),
    }));
  }

  #checkRuns(batch: FormedBatch, eventsBefore: number): void {
    const published = recordsOf(batch.runs, this.pool).map(([slab, offset]) => {
      const { key, revision, type } = versionAt(this.pool.slab(slab), offset);
      return `${key}@${revision}/${type}`;
    });
    const expected = this.model.events
      .slice(eventsBefore)
      .map(({ version: { key, revision, type } }) => `${key}@${revision}/${type}`);
    if (published.join() !== expected.join())
      this.problems.push(`published ${published.join()} for ${expected.join()}`);
  }
}

/** Slab and offset of every record in runs. */
function recordsOf(runs: readonly number[], pool: SlabPool): [slab: number, offset: number][] {
  const records: [number, number][] = [];
  for (let run = 0; run < runs.length; run += 3) {
    let offset = runs[run + 1]!;
    for (let left = runs[run + 2]!; left > 0; left--) {
      records.push([runs[run]!, offset]);
      offset += recordLength(pool.slab(runs[run]!), offset);
    }
  }
  return records;
}

function checksumAt(pool: SlabPool, slab: number, offset: number): number {
  const { bytes } = pool.slab(slab);
  return crc32(bytes.subarray(offset, offset + recordLength(pool.slab(slab), offset)));
}

/** Everything that a batch changes, but for the room it took. */
function stateOf({ revision, lastChecksum, digests, window, current }: RevisionLog, pool: SlabPool): string {
  const { bytes, length } = window;
  const { liveBytes } = pool;
  return JSON.stringify({
    revision,
    lastChecksum,
    liveDigest: digests.total,
    bytes,
    events: length,
    objects: current.size,
    liveBytes,
  });
}
