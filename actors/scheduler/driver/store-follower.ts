// Keeps a core in step with the store: subscribes, begins with the snapshot, applies the batches in their order, and
// begins again when the feed breaks off. Owns nothing but the subscription.

import type { Ref } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import type { FeedEvent, StoreFeed } from '../../../storage/store-feed.ts';
import type { Snapshot, StoreBatch, StoreProtocol } from '../../store/protocol.ts';
import { StoreSubscription } from '../../store-subscription.ts';

/** What is told of the store's changes. */
export interface StoreListener {
  /** The present state follows as `present` events, all of it before `onListed`. */
  readonly onList: () => void;
  readonly onListed: () => void;
  readonly onEvent: (event: FeedEvent) => void;
  /** After each batch. */
  readonly onBatchEnd: () => void;
  /** The feed broke off, or could not be had, and is tried again. */
  readonly onTrouble: (reason: string) => void;
  /** An invariant is broken. */
  readonly crash: (error: Error) => void;
}

export interface StoreFollowerParts {
  readonly store: Ref<StoreProtocol>;
  /** The name of the actor that the batches are sent to. */
  readonly subscriber: string;
  readonly timers: Timers;
  readonly listener: StoreListener;
  readonly createFeed: (onEvent: (event: FeedEvent) => void) => StoreFeed;
}

export class StoreFollower {
  readonly #parts: StoreFollowerParts;
  readonly #subscription: StoreSubscription;
  #feed: StoreFeed | undefined;
  #begun = false;

  constructor(parts: StoreFollowerParts) {
    this.#parts = parts;
    const { store, subscriber, timers, listener } = parts;
    this.#subscription = new StoreSubscription({
      store,
      subscriber,
      timers,
      onSnapshot: (snapshot) => this.#list(snapshot),
      onBatch: (batch) => {
        this.#feed?.apply(batch);
        listener.onBatchEnd();
      },
      onLost: (reason) => listener.onTrouble(reason),
      crash: listener.crash,
    });
  }

  get following(): boolean {
    return this.#subscription.following;
  }

  /** Subscribes, for the first time or again. */
  begin(reason = 'the store was lost'): void {
    if (this.#begun) this.#subscription.restart(reason);
    else void this.#subscription.start();
    this.#begun = true;
  }

  apply(batch: StoreBatch): void {
    this.#subscription.receive(batch);
  }

  stop(): void {
    this.#subscription.stop();
  }

  #list(snapshot: Snapshot): void {
    const { listener, createFeed } = this.#parts;
    this.#feed ??= createFeed(listener.onEvent);
    listener.onList();
    this.#feed.begin(snapshot);
    listener.onListed();
  }
}
