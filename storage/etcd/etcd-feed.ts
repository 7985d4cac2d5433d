// Tells a follower what is committed, in the order of revisions and each once: from the watch, or from a commit of our own that
// is next. A watch that breaks goes on where it was; one that cannot is the end of the feed.
import { OrchError } from '../../runtime/errors.ts';
import type { Follower, SharedEvent } from '../engines/shared-engine.ts';
import type { EtcdCluster, EtcdError, EtcdEvent } from './etcd-cluster.ts';
import { batchOf, breakBehind, breakBetween, EtcdHistory, type NewestBatch, NO_BATCH } from './etcd-history.ts';
import { readMark } from './etcd-outline.ts';

/** What of a cluster a feed is of, and how it is read. */
export interface FeedView {
  /** Keys from there to before `end` are watched. */
  readonly from: string;
  readonly end: string;
  /**
   * The events of one revision, when they arrive. What it gives says what the follower is told of them, and is asked in the order of
   * revisions, each once: later, where one before them takes its time.
   */
  arrived(events: readonly EtcdEvent[], revision: number): () => Told;
  /** The key of outlines, which every change writes; absent: none is. */
  readonly outline?: string;
}

type Told = readonly SharedEvent[] | Promise<readonly SharedEvent[]>;

export interface FeedParts {
  readonly cluster: EtcdCluster;
  readonly view: FeedView;
  readonly pause: (tries: number) => Promise<void>;
  readonly warn: (text: string) => void;
}

interface Change {
  readonly batch: NewestBatch;
  /** It wrote no outline, where batches do: somebody has put something under a key of ours. */
  readonly isForeign?: boolean;
  readonly read: () => Told;
}

export class EtcdFeed {
  readonly #parts: FeedParts;
  readonly #queue: Change[] = [];
  /** Commits of ours by their revisions, before which others are yet to come. */
  readonly #ahead = new Map<number, Change>();
  #follower: Follower | undefined;
  /** Of what was told or waits to be. */
  readonly #history = new EtcdHistory();
  #isTelling = false;
  #isStopped = false;
  #tries = 0;
  #endWatch = (): void => {};

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** What has been followed so far. */
  get position(): EtcdHistory['position'] {
    return this.#history.position;
  }

  /** Follows from a revision on, whose state the follower has. `newest`: its newest batch, where changes write outlines. */
  start(follower: Follower, revision: number, newest = NO_BATCH): void {
    this.#follower = follower;
    this.#history.begin(revision, newest);
    this.#watch();
  }

  stop(): void {
    this.#isStopped = true;
    this.#endWatch();
  }

  /** A commit of ours: told as soon as all before it was, as it is read here. */
  committed(batch: NewestBatch, read: () => Told): void {
    const { reached } = this.#history;
    if (batch.revision === reached + 1) this.#add({ batch, read });
    else if (batch.revision > reached && !this.#isStopped) this.#ahead.set(batch.revision, { batch, read });
  }

  /**
   * An answer of the cluster at `revision`, asked for at a position: one that cannot have come after it is of another history.
   * Throws StoreUnusable. `newest`: the newest batch then, where changes write outlines.
   */
  requireAfter(position: EtcdHistory['position'], revision: number, newest = position.newest): void {
    const problem = breakBetween(position, revision, newest);
    if (problem === undefined) return;
    const error = new OrchError('StoreUnusable', problem);
    this.lose(error);
    throw error;
  }

  #watch(): void {
    if (this.#isStopped) return;
    const { cluster, view } = this.#parts;
    this.#endWatch = cluster.watch(view.from, view.end, this.#history.reached + 1, {
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
    // At once: who compacts often may be faster than pauses are short. Commits of ours may have been told beyond what was compacted.
    if (error.kind === 'compacted')
      this.#skip(error, { revision: Math.max(error.compactRevision, this.#history.reached) });
    else this.#watchLater();
  }

  #watchLater(): void {
    void this.#parts.pause(this.#tries - 1).then(() => this.#watchAgain());
  }

  /** Where it broke off; unless that is not where it was: whatever ended the watch may have been a restore. */
  #watchAgain(): void {
    const { cluster, view } = this.#parts;
    if (this.#isStopped || view.outline === undefined) {
      this.#watch();
      return;
    }
    breakBehind(cluster, view.outline, this.#history.position).then(
      (problem) => {
        if (problem === undefined) this.#watch();
        else if (!this.#isStopped) this.lose(new OrchError('StoreUnusable', problem));
      },
      // What was compacted the watch hears, too, and says from where.
      (error: EtcdError) => (error.kind === 'compacted' ? this.#watch() : this.#onEnd(error)),
    );
  }

  /** What was compacted may be of others alone: where the newest of ours was told, the watch goes on behind the state that is read. */
  #skip(error: EtcdError, at: { readonly revision?: number }): void {
    const { cluster, view } = this.#parts;
    if (view.outline === undefined) {
      this.lose(ended(error));
      return;
    }
    // Those that are told until it is answered are not in the state that is read.
    const { position } = this.#history;
    cluster.range({ key: view.outline, ...at }).then(
      ({ revision, pairs }) => {
        if (this.#isStopped) return;
        const history = this.#history;
        const present = batchOf(pairs[0]);
        const reached = Math.min(position.reached, revision);
        const problem = breakBetween({ ...position, reached }, revision, present);
        if (present.revision > history.reached || problem !== undefined) {
          this.lose(problem === undefined ? ended(error) : new OrchError('StoreUnusable', problem));
          return;
        }
        history.reached = Math.max(history.reached, at.revision ?? revision);
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
    const { view } = this.#parts;
    const changes: Change[] = [];
    for (let from = 0, to = 0; from < events.length; from = to) {
      const revision = events[from]!.modRevision;
      while (events[to]?.modRevision === revision) to++;
      const some = events.slice(from, to);
      const outline = some.find(({ key }) => key === view.outline)?.value;
      const mark = outline === undefined ? undefined : readMark(outline);
      const isForeign = view.outline !== undefined && outline === undefined;
      changes.push({ batch: { revision, mark }, isForeign, read: view.arrived(some, revision) });
    }
    return changes;
  }

  #add(change: Change): void {
    const history = this.#history;
    if (change.batch.revision <= history.reached || this.#isStopped) return;
    this.#push(this.#ahead.get(change.batch.revision) ?? change);
    for (
      let next = this.#ahead.get(history.reached + 1);
      next !== undefined;
      next = this.#ahead.get(history.reached + 1)
    )
      this.#push(next);
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#tell().catch((error: unknown) => this.lose(error instanceof Error ? error : new Error(String(error))));
  }

  #push(change: Change): void {
    this.#ahead.delete(change.batch.revision);
    if (change.isForeign === true) this.#history.pass(change.batch.revision);
    else this.#history.add(change.batch);
    this.#queue.push(change);
  }

  async #tell(): Promise<void> {
    for (let change = this.#queue.shift(); change !== undefined; change = this.#queue.shift()) {
      // Waiting costs a turn, which most need not.
      const read = change.read();
      const told = this.#follower?.revision(change.batch.revision, read instanceof Promise ? await read : read);
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
