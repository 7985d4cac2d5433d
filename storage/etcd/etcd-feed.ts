// Tells a follower what is committed, in the order of revisions and each once: from the watch, or from a commit of our own that
// is next. A watch that breaks goes on where it was; one that cannot is the end of the feed.
import { OrchError } from '../../runtime/errors.ts';
import type { Follower, SharedEvent } from '../shared-engine.ts';
import type { EtcdCluster, EtcdError, EtcdEvent } from './etcd-cluster.ts';
import type { EtcdKeys } from './etcd-keys.ts';
import { readOutline } from './etcd-outline.ts';

export interface FeedParts {
  readonly cluster: EtcdCluster;
  readonly keys: EtcdKeys;
  readonly pause: (tries: number) => Promise<void>;
  readonly warn: (text: string) => void;
}

interface Change {
  readonly revision: number;
  readonly events: readonly SharedEvent[];
}

export class EtcdFeed {
  readonly #parts: FeedParts;
  readonly #queue: Change[] = [];
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

  /** A commit of ours: told now if it is the next, else when the watch brings it. */
  committed(revision: number, events: readonly SharedEvent[]): void {
    if (revision === this.#reached + 1) this.#add({ revision, events });
  }

  #watch(): void {
    if (this.#isStopped) return;
    const { cluster, keys } = this.#parts;
    this.#endWatch = cluster.watch(keys.outline, keys.objectsEnd, this.#reached + 1, {
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
    const { cluster, keys } = this.#parts;
    cluster.range({ key: keys.outline, ...at }).then(
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
      changes.push({ revision, events: this.#eventsOf(events.slice(from, to)) });
    }
    return changes;
  }

  #eventsOf(events: readonly EtcdEvent[]): SharedEvent[] {
    const { outline, objects } = this.#parts.keys;
    const written = events.find(({ key }) => key === outline)?.value;
    const places = written === undefined ? undefined : readOutline(written);
    return events
      .filter(({ key }) => key.startsWith(objects))
      .map(({ key: whole, value }) => {
        const key = whole.slice(objects.length);
        return { key, value, place: value === undefined ? places?.get(key) : undefined };
      });
  }

  #add(change: Change): void {
    if (change.revision <= this.#reached || this.#isStopped) return;
    this.#reached = change.revision;
    this.#queue.push(change);
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#tell().catch((error: unknown) => this.lose(error instanceof Error ? error : new Error(String(error))));
  }

  async #tell(): Promise<void> {
    for (let change = this.#queue.shift(); change !== undefined; change = this.#queue.shift()) {
      const told = this.#follower?.revision(change.revision, change.events);
      // Waiting costs a turn, which most need not.
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
