// Tells a follower what is committed, in the order of revisions and each once: from the watch, or from a commit of our own that
// is next. A watch that breaks goes on where it was; one that cannot is the end of the feed.
import { OrchError } from '../../runtime/errors.ts';
import type { Follower, SharedEvent } from '../shared-engine.ts';
import type { EtcdCluster, EtcdError, EtcdEvent } from './etcd-cluster.ts';

/** What of a cluster a feed is of, and how it is read. */
export interface FeedView {
  /** Keys from there to before `end` are watched. */
  readonly from: string;
  readonly end: string;
  /** The events of one revision as the follower is told them. Asked for in the order of revisions, each once. */
  read(events: readonly EtcdEvent[], revision: number): Told;
  /** A key that every change writes; absent: none is. */
  readonly newest?: string;
}

type Told = readonly SharedEvent[] | Promise<readonly SharedEvent[]>;

export interface FeedParts {
  readonly cluster: EtcdCluster;
  readonly view: FeedView;
  readonly pause: (tries: number) => Promise<void>;
  readonly warn: (text: string) => void;
}

interface Change {
  readonly revision: number;
  readonly read: () => Told;
}

export class EtcdFeed {
  readonly #parts: FeedParts;
  readonly #queue: Change[] = [];
  /** Commits of ours by their revisions, before which others are yet to come. */
  readonly #ahead = new Map<number, () => Told>();
  #follower: Follower | undefined;
  /** The newest revision that was told or waits to be. */
  #reached = 0;
  #isTelling = false;
  #isStopped = false;
  #tries = 0;
  #endWatch = (): void => {};

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** The newest revision that is known to have been. */
  get reached(): number {
    return this.#reached;
  }

  /** Follows from a revision on, whose state the follower has. */
  start(follower: Follower, revision: number): void {
    this.#follower = follower;
    this.#reached = revision;
    this.#watch();
  }

  stop(): void {
    this.#isStopped = true;
    this.#endWatch();
  }

  /** A commit of ours: told as soon as all before it was, as it is read here. */
  committed(revision: number, read: () => Told): void {
    if (revision === this.#reached + 1) this.#add({ revision, read });
    else if (revision > this.#reached && !this.#isStopped) this.#ahead.set(revision, read);
  }

  /** An answer of the cluster at `revision`, asked for when `reached` had been: an older one is of another cluster. Throws StoreUnusable. */
  requireNewer(reached: number, revision: number): void {
    if (revision >= reached) return;
    const error = new OrchError(
      'StoreUnusable',
      `etcd went back from revision ${reached} to ${revision}, as after a restore from a backup`,
    );
    this.lose(error);
    throw error;
  }

  #watch(): void {
    if (this.#isStopped) return;
    const { cluster, view } = this.#parts;
    this.#endWatch = cluster.watch(view.from, view.end, this.#reached + 1, {
      onEvents: (events) => {
        this.#tries = 0;
        for (const change of this.#changes(events)) this.#add(change);
      },
      onEnd: (error) => this.#onEnd(error),
    });
  }

  #onEnd(error: EtcdError): void {
    if (this.#isStopped) return;
    if (error.kind === 'refused') {
      this.lose(ended(error));
      return;
    }
    if (this.#tries++ === 0) this.#parts.warn(`the watch of the store broke off: ${error.message}`);
    // At once: who compacts often may be faster than pauses are short.
    if (error.kind === 'compacted') this.#skip(error, { revision: error.compactRevision });
    else this.#watchLater();
  }

  #watchLater(): void {
    void this.#parts.pause(this.#tries - 1).then(() => this.#watch());
  }

  /** What was compacted may be of others alone: where the newest of ours was told, the watch goes on behind the state that is read. */
  #skip(error: EtcdError, at: { readonly revision?: number }): void {
    const { cluster, view } = this.#parts;
    if (view.newest === undefined) {
      this.lose(ended(error));
      return;
    }
    cluster.range({ key: view.newest, ...at }).then(
      ({ revision, pairs }) => {
        if (this.#isStopped) return;
        if ((pairs[0]?.modRevision ?? 0) > this.#reached) {
          this.lose(ended(error));
          return;
        }
        this.#reached = Math.max(this.#reached, at.revision ?? revision);
        this.#watch();
      },
      (failure: EtcdError) => {
        if (this.#isStopped) return;
        // Others compact again meanwhile: the state of now cannot be compacted before it is read.
        if (failure.kind === 'compacted' && at.revision !== undefined) this.#skip(error, {});
        else this.#watchLater();
      },
    );
  }

  /** Events as changes, one a revision. */
  #changes(events: readonly EtcdEvent[]): Change[] {
    const changes: Change[] = [];
    for (let from = 0, to = 0; from < events.length; from = to) {
      const revision = events[from]!.modRevision;
      while (events[to]?.modRevision === revision) to++;
      const some = events.slice(from, to);
      changes.push({ revision, read: () => this.#parts.view.read(some, revision) });
    }
    return changes;
  }

  #add(change: Change): void {
    if (change.revision <= this.#reached || this.#isStopped) return;
    this.#reached = change.revision;
    const { revision } = change;
    this.#queue.push({ revision, read: this.#ahead.get(revision) ?? change.read });
    this.#ahead.delete(revision);
    for (let read = this.#ahead.get(this.#reached + 1); read !== undefined; read = this.#ahead.get(this.#reached + 1)) {
      this.#ahead.delete(++this.#reached);
      this.#queue.push({ revision: this.#reached, read });
    }
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#tell().catch((error: unknown) => this.lose(error instanceof Error ? error : new Error(String(error))));
  }

  async #tell(): Promise<void> {
    for (let change = this.#queue.shift(); change !== undefined; change = this.#queue.shift()) {
      // Waiting costs a turn, which most need not.
      const read = change.read();
      const told = this.#follower?.revision(change.revision, read instanceof Promise ? await read : read);
      if (told !== undefined) await told;
    }
    this.#isTelling = false;
  }

  /** What is followed is not what it was: the follower is to begin anew. */
  lose(error: Error): void {
    this.stop();
    this.#follower?.lost(error);
  }
}

function ended({ message }: EtcdError): OrchError {
  return new OrchError('StoreUnusable', `the watch of the store ended: ${message}`);
}
