// Keeps the controllers subscribed to the store: begins with a snapshot, follows the batches, and begins again when the
// store was lost or a batch is missing. Owns the subscription and the StoreFeed, and knows nothing of what is in them.
import type { ActorContext } from '../../runtime/actor.ts';
import type { Timer } from '../../runtime/environment.ts';
import { SLAB_VIEW, SlabView } from '../../storage/slab-view.ts';
import { createStoreFeed, type FeedEvent, type StoreFeed } from '../../storage/store-feed.ts';
import type { Snapshot, StoreBatch, StoreProtocol } from '../store/protocol.ts';

const SUBSCRIBE_DEADLINE_MS = 30_000;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 5_000;
/** Batches kept while the snapshot is under way; with more the snapshot is asked for anew. */
const EARLY_BATCHES_MAX = 1_024;

/** Hears `onReset`, then `onEvent` for every object present, then `onSynced`, then `onEvent` for every change. */
export interface FeedListener {
  onReset(): void;
  onEvent(event: FeedEvent): void;
  onSynced(): void;
}

/** Makes the feed that turns the store's batches into events of these types. */
export type FeedFactory = (
  context: ActorContext,
  storageKeys: readonly string[],
  onEvent: (event: FeedEvent) => void,
) => StoreFeed;

/** The feed that reads the thread's slabs. */
export const feedOfThread: FeedFactory = (context, storageKeys, onEvent) =>
  createStoreFeed({ slabs: context.threadLocal(SLAB_VIEW, () => new SlabView()), storageKeys, onEvent });

export class FeedFollower {
  readonly #context: ActorContext;
  readonly #listener: FeedListener;
  readonly #store;
  readonly #feed: StoreFeed;
  /** Numbers subscriptions, so that the answer to one given up is told apart. */
  #subscription = 0;
  #state: 'idle' | 'subscribing' | 'following' | 'stopped' = 'idle';
  #sequence = 0;
  #early: StoreBatch[] = [];
  #failures = 0;
  #retry: Timer | undefined;

  constructor(context: ActorContext, storageKeys: readonly string[], feedFactory: FeedFactory, listener: FeedListener) {
    this.#context = context;
    this.#listener = listener;
    this.#store = context.ref<StoreProtocol>('store');
    this.#feed = feedFactory(context, storageKeys, (event) => listener.onEvent(event));
  }

  start(): void {
    this.#subscribe();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#subscription += 1;
    this.#early = [];
    this.#retry?.cancel();
    this.#store.tell({ type: 'unsubscribe', subscriber: this.#context.name });
  }

  /** The store sent what it committed. */
  onBatch(batch: StoreBatch): void {
    if (this.#state === 'subscribing') {
      this.#early.push(batch);
      if (this.#early.length > EARLY_BATCHES_MAX) this.#resubscribe('too many batches before the snapshot');
      return;
    }
    if (this.#state !== 'following' || batch.sequence <= this.#sequence) return;
    if (batch.sequence > this.#sequence + 1) {
      this.#resubscribe('a batch is missing');
      return;
    }
    this.#sequence = batch.sequence;
    this.#feed.apply(batch);
  }

  /** The store restarted, or gave this subscriber up. */
  onLost(): void {
    if (this.#state === 'stopped') return;
    this.#resubscribe('the store was lost');
  }

  #resubscribe(reason: string): void {
    this.#context.log.warn({ reason }, 'store feed begins again');
    this.#listener.onReset();
    this.#subscribe();
  }

  #subscribe(): void {
    this.#state = 'subscribing';
    this.#early = [];
    this.#retry?.cancel();
    this.#subscription += 1;
    const subscription = this.#subscription;
    this.#store
      .ask({ type: 'subscribe', subscriber: this.#context.name }, { deadlineMs: SUBSCRIBE_DEADLINE_MS })
      .then((snapshot) => {
        if (subscription === this.#subscription) this.#begin(snapshot);
      })
      .catch((error: unknown) => {
        if (subscription === this.#subscription) this.#retryLater(error);
      });
  }

  #begin(snapshot: Snapshot): void {
    this.#listener.onReset();
    this.#feed.begin(snapshot);
    this.#state = 'following';
    this.#failures = 0;
    this.#sequence = snapshot.sequence;
    this.#context.log.debug({ revision: snapshot.revision }, 'store feed began');
    this.#listener.onSynced();
    const early = this.#early;
    this.#early = [];
    const subscription = this.#subscription;
    for (const batch of early) {
      if (subscription !== this.#subscription) return;
      this.onBatch(batch);
    }
  }

  #retryLater(error: unknown): void {
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#context.log.warn({ err: error, delayMs, failures: this.#failures }, 'store subscription failed, will retry');
    this.#state = 'idle';
    this.#retry = this.#context.timers.after(delayMs, () => this.#subscribe());
  }
}
