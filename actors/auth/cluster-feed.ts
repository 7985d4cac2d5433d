// What authentication and authorization must know of the cluster, followed from the store's stream: one subscription for
// all who read it. Until it has been read whole nobody is judged by it.
import type { ActorContext } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { FeedFollower } from '../following/feed-follower.ts';
import { type FeedFactory, feedOfThread } from '../following/feed-of-thread.ts';
import type { StoreBatch } from '../store/protocol.ts';

/** An authenticator or authorizer that follows some types of objects. */
export interface ClusterReader {
  /** ResourceType.storageKey of each. */
  readonly storageKeys: readonly string[];
  /** Nothing is followed for its sake until it calls `follow`. */
  readonly isLazy?: boolean;
  /** Everything known is void: all that is there follows. */
  reset(): void;
  onEvent(event: FeedEvent): void;
}

/** What is asked by those who judge by the cluster. */
export interface ClusterKnowledge {
  /** Throws where what is known of the cluster is not whole. */
  requireWhole(): void;
}

/** Whether a method of authentication or authorization judges by objects of the cluster. */
export function isClusterReader(value: object): value is ClusterReader {
  return 'storageKeys' in value && 'onEvent' in value;
}

export class ClusterFeed {
  readonly #context: ActorContext;
  readonly #feedFactory: FeedFactory;
  readonly #readers: ClusterReader[] = [];
  readonly #byType = new Map<string, ClusterReader[]>();
  #follower: FeedFollower | undefined;
  #isWhole = false;

  constructor(context: ActorContext, feedFactory: FeedFactory = feedOfThread) {
    this.#context = context;
    this.#feedFactory = feedFactory;
  }

  /** One more who reads; to be called before `start`. */
  add(reader: ClusterReader): void {
    this.#readers.push(reader);
    for (const key of reader.storageKeys) this.#byType.set(key, [...(this.#byType.get(key) ?? []), reader]);
  }

  /** Whether everything has been read and is followed. What was known before the stream broke off no longer counts. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Throws ActorDown (503, to be tried again) while the cluster is not known: nobody is let in by what is not there yet. */
  requireWhole(): void {
    if (!this.isWhole) throw new OrchError('ActorDown', 'the policies of the cluster have not been read yet');
  }

  /** Follows what somebody must know from the start. */
  start(): void {
    if (this.#readers.some(({ isLazy }) => isLazy !== true)) this.follow();
  }

  /** Begins to follow, unless that was done. */
  follow(): void {
    if (this.#follower !== undefined) return;
    this.#follower = new FeedFollower(this.#context, [...this.#byType.keys()], this.#feedFactory, {
      onReset: () => this.#reset(),
      onEvent: (event) => this.#onEvent(event),
      onSynced: () => {
        this.#isWhole = true;
      },
    });
    this.#follower.start();
  }

  stop(): void {
    this.#follower?.stop();
  }

  onBatch(batch: StoreBatch): void {
    this.#follower?.onBatch(batch);
  }

  onLost(): void {
    this.#follower?.onLost();
  }

  #reset(): void {
    this.#isWhole = false;
    for (const reader of this.#readers) reader.reset();
  }

  #onEvent(event: FeedEvent): void {
    for (const reader of this.#byType.get(event.storageKey) ?? []) {
      try {
        reader.onEvent(event);
      } catch (error) {
        // One object that cannot be read must not keep the others from being known.
        const { type, storageKey, namespace, name } = event;
        this.#context.log.error({ event: { type, storageKey, namespace, name }, err: error }, 'event not understood');
      }
    }
  }
}
