// A shared engine on etcd. A batch is one etcd transaction, each of ours a transaction inside it, so that they hold or fail one
// by one under one revision. Exactly once: a batch raises a counter of its process, and holds only if that is where the batch
// before left it; a batch whose outcome is unknown is sent again until the counter says it happened. Which of its transactions
// failed lies beside the counter then, where no compaction reaches it. What is committed, by whomever, is told in the order of
// revisions: from the watch, or for a batch of our own that is next at once.

import type { Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import type {
  Follower,
  SharedCommit,
  SharedContents,
  SharedEngine,
  SharedTransaction,
  SharedView,
} from '../shared-engine.ts';
import {
  type EtcdCluster,
  EtcdError,
  type EtcdOperation,
  type EtcdTransaction,
  type TransactionAnswer,
} from './etcd-cluster.ts';
import { EtcdFeed } from './etcd-feed.ts';
import { openIdentity } from './etcd-identity.ts';
import { etcdKeys } from './etcd-keys.ts';
import { outlineOf } from './etcd-outline.ts';
import { EtcdPages } from './etcd-pages.ts';

const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 1000;
/** How long a start, and a consistent read, wait for a member that answers. */
const OPEN_MS_MAX = 30_000;
const BARRIER_MS_MAX = 8000;
/** Operations of every batch that are not its transactions. */
const OWN_OPERATIONS = 2;
const NOTHING = Buffer.alloc(0);

export interface EtcdEngineParts {
  readonly cluster: EtcdCluster;
  readonly prefix: string;
  readonly dialect: string;
  readonly timers: Timers;
  /** Tells this process from all others there will ever be. */
  readonly processId: string;
  /** For a keyspace that is made. */
  readonly tokenKey: Uint8Array;
  readonly warn: (text: string) => void;
}

export class EtcdEngine implements SharedEngine {
  readonly #parts: EtcdEngineParts;
  readonly #cluster: EtcdCluster;
  readonly #keys: ReturnType<typeof etcdKeys>;
  readonly #writer: string;
  readonly #feed: EtcdFeed;
  /** How often the identity was written when it was read: who moves the keyspace away writes it first, and ends this process. */
  #identityVersion = 0;
  /** Batches of this process that happened. */
  #batches = 0;
  #isClosed = false;
  /** What this process last saw of whoever compacts: how often it was done, and the revision at that time. */
  #compaction = { version: 0, revision: 0 };

  constructor(parts: EtcdEngineParts) {
    const { cluster, prefix, processId } = parts;
    this.#parts = parts;
    this.#cluster = cluster;
    this.#keys = etcdKeys(prefix);
    this.#writer = `${this.#keys.writers}${processId}`;
    this.#feed = new EtcdFeed({ ...parts, keys: this.#keys, pause: (tries) => this.#pause(tries) });
  }

  async open(): Promise<SharedContents> {
    const { tokenKey, dialect } = this.#parts;
    const { version, contents } = await this.#patiently(OPEN_MS_MAX, () =>
      openIdentity(this.#cluster, this.#keys.identity, { tokenKey, dialect }),
    );
    this.#identityVersion = version;
    return contents;
  }

  async follow(follower: Follower): Promise<number> {
    let pages = new EtcdPages(this.#cluster, this.#keys);
    const load = async (): Promise<number> => {
      for (let page = await pages.next(); page.length > 0; page = await pages.next()) {
        for (const { key, modRevision, value } of page) await follower.value(key, modRevision, value);
      }
      // Others write to the cluster too: what was read is as old as the last change of ours, and every server is to call it so.
      const { pairs } = await this.#cluster.range({ key: this.#keys.outline, revision: pages.revision });
      return pairs[0]?.modRevision ?? 0;
    };
    const revision = await this.#patiently(OPEN_MS_MAX, () =>
      load().catch((error: unknown) => {
        if (!(error instanceof EtcdError) || error.kind !== 'compacted') throw error;
        follower.again();
        pages = new EtcdPages(this.#cluster, this.#keys);
        throw new EtcdError('unknown', error.message);
      }),
    );
    this.#feed.start(follower, pages.revision);
    return revision;
  }

  async commit(batch: readonly SharedTransaction[]): Promise<SharedCommit> {
    const request = this.#requestFor(batch);
    let isSureNotDone = true;
    for (let tries = 0; ; tries++) {
      if (this.#isClosed) throw new Error('the store was closed in the middle of a commit');
      let answer: TransactionAnswer;
      try {
        answer = await this.#cluster.transact(request);
      } catch (error) {
        if (error instanceof EtcdError && error.kind !== 'unknown' && isSureNotDone) throw refusal(error);
        isSureNotDone = false;
        await this.#pause(tries);
        continue;
      }
      if (answer.succeeded) return this.#done(batch, answer);
      return this.#found(batch, answer);
    }
  }

  async readBarrier(): Promise<number> {
    const { reached } = this.#feed;
    const { pairs, revision } = await this.#patiently(BARRIER_MS_MAX, () =>
      this.#cluster.range({ key: this.#keys.outline }),
    );
    if (revision < reached) {
      const error = new OrchError(
        'StoreUnusable',
        `etcd went back from revision ${reached} to ${revision}, as after a restore from a backup`,
      );
      this.#feed.lose(error);
      throw error;
    }
    return pairs[0]?.modRevision ?? 0;
  }

  /** As the original does: who raises the key first in an interval compacts to what was newest an interval ago. */
  async compact(): Promise<void> {
    const key = this.#keys.compaction;
    const { version, revision } = this.#compaction;
    const { succeeded, results, ...answer } = await this.#cluster.transact({
      compare: [{ key, target: 'version', value: version }],
      success: [{ put: { key, value: Buffer.from(String(revision)) } }],
      failure: [{ range: { key } }],
    });
    const [result] = results;
    const seen = result?.kind === 'range' ? (result.pairs[0]?.version ?? 0) : version + 1;
    this.#compaction = { version: seen, revision: answer.revision };
    if (!succeeded || revision === 0) return;
    await this.#cluster.compact(revision).catch((error: unknown) => {
      // Others may have compacted further.
      if (!(error instanceof EtcdError && error.kind === 'compacted')) throw error;
    });
  }

  view(revision: number): SharedView {
    const pages = new EtcdPages(this.#cluster, this.#keys, revision);
    return { next: () => this.#patiently(BARRIER_MS_MAX, () => pages.next()) };
  }

  async diskBytes(): Promise<number> {
    return (await this.#cluster.status()).databaseBytes;
  }

  async probe(): Promise<void> {
    await this.#cluster.range({ key: this.#keys.identity });
  }

  /** The counter is not needed any more; where it cannot be removed now, it stays. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.stop();
    if (this.#batches > 0) {
      const failures = { delete: { key: `${this.#writer}/`, end: `${this.#writer}0` } };
      const removal = { compare: [], success: [{ delete: { key: this.#writer } }, failures], failure: [] };
      await this.#cluster.transact(removal).catch(() => {});
    }
    this.#cluster.close();
  }

  #requestFor(batch: readonly SharedTransaction[]): EtcdTransaction {
    const counter = { put: { key: this.#writer, value: Buffer.from(String(this.#batches + 1)) } };
    const outline = { put: { key: this.#keys.outline, value: outlineOf(batch) } };
    return {
      compare: [
        { key: this.#writer, target: 'version', value: this.#batches },
        { key: this.#keys.identity, target: 'version', value: this.#identityVersion },
      ],
      success: [counter, outline, ...batch.map((transaction, index) => this.#inner(transaction, index))],
      failure: [{ range: { key: this.#writer } }, { range: { key: `${this.#writer}/`, end: `${this.#writer}0` } }],
    };
  }

  /** One that fails leaves a key behind: rare, and what holds costs nothing more. */
  #inner({ guards, writes }: SharedTransaction, index: number): EtcdOperation {
    const { objects } = this.#keys;
    const compare = [
      ...guards.map(({ key, revision }) => ({ key: objects + key, target: 'modRevision' as const, value: revision })),
      ...writes.map(({ key, expect }) => ({ key: objects + key, target: 'modRevision' as const, value: expect })),
    ];
    const success = writes.map(({ key, value }): EtcdOperation => {
      return value === undefined ? { delete: { key: objects + key } } : { put: { key: objects + key, value } };
    });
    return { txn: { compare, success, failure: [{ put: { key: this.#failureKey(index), value: NOTHING } }] } };
  }

  #done(batch: readonly SharedTransaction[], { revision, results }: TransactionAnswer): SharedCommit {
    this.#batches++;
    const held = results.slice(OWN_OPERATIONS).map((result) => result.kind === 'txn' && result.succeeded);
    const events = batch
      .filter((_, index) => held[index])
      .flatMap(({ writes, place }) => {
        return writes.map(({ key, value }) => ({ key, value, place: value === undefined ? place : undefined }));
      });
    this.#feed.committed(revision, events);
    return { revision, held };
  }

  /** The counter is not where the batch before left it: it was this batch, sent before, or somebody else. */
  #found(batch: readonly SharedTransaction[], { results }: TransactionAnswer): SharedCommit {
    const [counters, failures] = results.map((result) => (result.kind === 'range' ? result.pairs : []));
    const counter = counters?.[0];
    if ((counter?.version ?? 0) === this.#batches) {
      throw new OrchError('StoreUnusable', `${this.#keys.identity} was changed: the store is being moved away`);
    }
    if (counter?.version !== this.#batches + 1) {
      throw new OrchError('StoreUnusable', `the counter ${this.#writer} was changed by somebody else`);
    }
    this.#batches++;
    const revision = counter.modRevision;
    const failed = new Set(failures?.filter(({ modRevision }) => modRevision === revision).map(({ key }) => key));
    return { revision, held: batch.map((_, index) => !failed.has(this.#failureKey(index))) };
  }

  #failureKey(index: number): string {
    return `${this.#writer}/${index}`;
  }

  /** Until it is answered. */
  async #persistently<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        if (this.#isClosed || !(error instanceof EtcdError) || error.kind !== 'unknown') throw error;
        await this.#pause(tries);
      }
    }
  }

  /** Until it is answered, or for so long. Rejects with OrchError StoreUnusable. */
  async #patiently<T>(forMs: number, ask: () => Promise<T>): Promise<T> {
    let isLate = false;
    const timer = this.#parts.timers.after(forMs, () => {
      isLate = true;
    });
    try {
      return await this.#persistently(() =>
        ask().catch((error: unknown) => {
          if (isLate && error instanceof EtcdError) throw new OrchError('StoreUnusable', error.message);
          throw error;
        }),
      );
    } catch (error) {
      if (error instanceof EtcdError) throw new OrchError('StoreUnusable', error.message);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #pause(tries: number): Promise<void> {
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** Math.min(tries, 10), RETRY_MAX_MS);
    return new Promise((resolve) => {
      this.#parts.timers.after(delayMs, resolve);
    });
  }
}

function refusal({ kind, message }: EtcdError): OrchError {
  return new OrchError(kind === 'full' ? 'StorageFull' : 'StorageFailed', message);
}
