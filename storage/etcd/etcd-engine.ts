// A shared engine on etcd, in the layout of its own. What is committed, by whomever, is told in the order of revisions: from the
// watch, or for a batch of our own that is next at once. Exactly once: counted-writer.ts.

import type { Timers } from '../../runtime/environment.ts';
import type {
  Follower,
  MemberBytes,
  SharedCommit,
  SharedContents,
  SharedEngine,
  SharedEvent,
  SharedTransaction,
  SharedView,
} from '../engines/shared-engine.ts';
import { SharedCompaction } from './compaction.ts';
import { CountedWriter, type GuardedWrites, refusedBatch } from './counted-writer.ts';
import { type EtcdCluster, EtcdError, type EtcdOperation } from './etcd-cluster.ts';
import { EtcdFeed, type FeedView } from './etcd-feed.ts';
import { batchOf, type NewestBatch, requireBehind } from './etcd-history.ts';
import { openIdentity } from './etcd-identity.ts';
import { type EtcdKeys, etcdKeys } from './etcd-keys.ts';
import { markOf, outlineOf, readOutline } from './etcd-outline.ts';
import { ObjectPages } from './etcd-pages.ts';
import { Patience } from './patience.ts';
import type { ServedKeyspace } from './served-keyspace.ts';

/** How long a start, and a consistent read, wait for a member that answers. */
export const OPEN_MS_MAX = 30_000;
export const BARRIER_MS_MAX = 8000;

export interface EtcdEngineParts {
  readonly cluster: EtcdCluster;
  readonly prefix: string;
  readonly dialect: string;
  readonly timers: Timers;
  /** Tells this process from all others there will ever be. */
  readonly processId: string;
  /** For a keyspace that is made. */
  readonly tokenKey: Uint8Array;
  readonly served?: ServedKeyspace | undefined;
  readonly warn: (text: string) => void;
}

export class EtcdEngine implements SharedEngine {
  readonly #parts: EtcdEngineParts;
  readonly #cluster: EtcdCluster;
  readonly #keys: ReturnType<typeof etcdKeys>;
  readonly #mark: number;
  readonly #feed: EtcdFeed;
  readonly #patience: Patience;
  readonly #compaction: SharedCompaction;
  #writer: CountedWriter | undefined;
  #isClosed = false;

  constructor(parts: EtcdEngineParts) {
    const { cluster, prefix, processId, timers } = parts;
    this.#parts = parts;
    this.#cluster = cluster;
    this.#keys = etcdKeys(prefix);
    this.#mark = markOf(processId);
    this.#patience = new Patience(timers, parts.warn);
    this.#compaction = new SharedCompaction(cluster, this.#keys.compaction);
    this.#feed = new EtcdFeed({
      ...parts,
      view: ownView(this.#keys),
      pause: (tries) => this.#patience.pause(tries),
    });
  }

  async open(): Promise<SharedContents> {
    const { cluster, processId } = this.#parts;
    const { writers, identity, objects: key, objectsEnd: end } = this.#keys;
    const { writtenAt, contents } = await this.#patience.atStart(OPEN_MS_MAX, () =>
      openIdentity(cluster, identity, { ...this.#parts, objects: { key, end } }),
    );
    this.#writer = new CountedWriter({
      cluster,
      patience: this.#patience,
      key: `${writers}${processId}`,
      identity,
      identityAt: writtenAt,
    });
    return contents;
  }

  pathOf(key: string): string {
    return this.#keys.objects + key;
  }

  async follow(follower: Follower): Promise<number> {
    let pages = new ObjectPages(this.#cluster, this.#keys);
    const load = async (): Promise<NewestBatch> => {
      for (let page = await pages.next(); page.length > 0; page = await pages.next()) {
        for (const { key, modRevision, value } of page) await follower.value(key, modRevision, value);
      }
      // Others write to the cluster too: what was read is as old as the last change of ours, and every server is to call it so.
      const { pairs } = await this.#cluster.range({ key: this.#keys.outline, revision: pages.revision });
      return batchOf(pairs[0]);
    };
    const newest = await this.#patience.atStart(OPEN_MS_MAX, () =>
      load().catch((error: unknown) => {
        if (!(error instanceof EtcdError) || error.kind !== 'compacted') throw error;
        follower.again();
        pages = new ObjectPages(this.#cluster, this.#keys);
        throw new EtcdError('unknown', error.message);
      }),
    );
    this.#feed.start(follower, pages.revision, newest);
    return newest.revision;
  }

  async commit(batch: readonly SharedTransaction[]): Promise<SharedCommit> {
    const outline = { put: { key: this.#keys.outline, value: outlineOf(batch, this.#mark) } };
    const { position } = this.#feed;
    try {
      const inner = batch.map((transaction) => this.#inner(transaction));
      const { revision, held, isHeard } = await this.#writer!.write(inner, [outline]);
      requireBehind(position, revision);
      if (isHeard) this.#feed.committed({ revision, mark: this.#mark }, () => eventsOf(batch, held));
      return { revision, held };
    } catch (error) {
      throw refusedBatch(error);
    }
  }

  async readBarrier(): Promise<number> {
    const { position } = this.#feed;
    const { pairs, revision } = await this.#patience.asked(BARRIER_MS_MAX, () =>
      this.#cluster.range({ key: this.#keys.outline }),
    );
    const newest = batchOf(pairs[0]);
    this.#feed.requireAfter(position, revision, newest);
    return newest.revision;
  }

  compact(): Promise<void> {
    return this.#compaction.turn();
  }

  view(revision: number): SharedView {
    const pages = new ObjectPages(this.#cluster, this.#keys, revision);
    return { next: () => this.#patience.asked(BARRIER_MS_MAX, () => pages.next()) };
  }

  memberBytes(): Promise<MemberBytes> {
    return this.#cluster.memberBytes();
  }

  async probe(): Promise<void> {
    await this.#cluster.range({ key: this.#keys.identity });
  }

  /** The counter is not needed any more; where it cannot be removed now, it stays. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.stop();
    this.#patience.end();
    if (this.#writer !== undefined && this.#writer.batches > 0) {
      const removal = { compare: [], success: this.#writer.removal(), failure: [] };
      await this.#cluster.transact(removal).catch(() => {});
    }
    this.#cluster.close();
  }

  #inner({ guards, writes }: SharedTransaction): GuardedWrites {
    const { objects } = this.#keys;
    return {
      compare: [
        ...guards.map(({ key, revision }) => ({ key: objects + key, target: 'modRevision' as const, value: revision })),
        ...writes.map(({ key, expect }) => ({ key: objects + key, target: 'modRevision' as const, value: expect })),
      ],
      writes: writes.map(({ key, value }): EtcdOperation => {
        return value === undefined ? { delete: { key: objects + key } } : { put: { key: objects + key, value } };
      }),
    };
  }
}

/** What is watched: the objects, and the outline of each batch, which says the places of its removals. */
function ownView({ outline, objects, objectsEnd }: EtcdKeys): FeedView {
  return {
    from: outline,
    end: objectsEnd,
    outline,
    arrived: (events) => () => {
      const written = events.find(({ key }) => key === outline)?.value;
      const places = written === undefined ? undefined : readOutline(written);
      return events
        .filter(({ key }) => key.startsWith(objects))
        .map(({ key: whole, value }) => {
          const key = whole.slice(objects.length);
          return { key, value, place: value === undefined ? places?.get(key) : undefined };
        });
    },
  };
}

function eventsOf(batch: readonly SharedTransaction[], held: readonly boolean[]): readonly SharedEvent[] {
  return batch
    .filter((_, index) => held[index])
    .flatMap(({ writes, place }) => {
      return writes.map(({ key, value }) => ({ key, value, place: value === undefined ? place : undefined }));
    });
}
