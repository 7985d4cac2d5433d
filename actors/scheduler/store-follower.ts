// Keeps a core in step with the store: subscribes, begins with the snapshot, applies the batches in their order, and
// begins again when the feed breaks off. Owns nothing but the subscription.

import type { Ref } from '../../runtime/actor.ts';
import type { Timers } from '../../runtime/environment.ts';
import type { FeedEvent, StoreFeed } from '../../storage/store-feed.ts';
import type { Snapshot, StoreBatch, StoreProtocol } from '../store/protocol.ts';

const SUBSCRIBE_DEADLINE_MS = 30_000;
const RETRY_MS = 1_000;
/** Batches kept that arrive before the snapshot does; more than that means starting over. */
const EARLY_BATCHES_MAX = 1_024;

/** What is told of the store's changes. */
export interface StoreListener {
  /** The present state follows as `present` events, all of it before `onListed`. */
  readonly onList: () => void;
  readonly onListed: () => void;
  readonly onEvent: (event: FeedEvent) => void;
  /** After each batch. */
  readonly onBatchEnd: () => void;
  /** The subscription failed and is tried again. */
  readonly onTrouble: (error: unknown) => void;
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
  private readonly parts: StoreFollowerParts;
  private feed: StoreFeed | undefined;
  /** The last batch applied; undefined while waiting for a snapshot. */
  private sequence: number | undefined;
  private early: StoreBatch[] = [];
  /** Which subscription is the newest; answers to older ones are ignored. */
  private subscription = 0;
  private stopped = false;

  constructor(parts: StoreFollowerParts) {
    this.parts = parts;
  }

  get following(): boolean {
    return this.sequence !== undefined;
  }

  /** Subscribes, for the first time or again. */
  begin(): void {
    if (this.stopped) return;
    const subscription = ++this.subscription;
    const { store, subscriber, timers, listener } = this.parts;
    this.sequence = undefined;
    this.early = [];
    store
      .ask<'subscribe'>({ type: 'subscribe', subscriber }, { deadlineMs: SUBSCRIBE_DEADLINE_MS })
      .then(
        (snapshot) => {
          if (subscription === this.subscription && !this.stopped) this.list(snapshot);
        },
        (error: unknown) => {
          if (subscription !== this.subscription || this.stopped) return;
          listener.onTrouble(error);
          timers.after(RETRY_MS, () => {
            if (subscription === this.subscription) this.begin();
          });
        },
      )
      .catch((error: unknown) => listener.crash(error instanceof Error ? error : new Error(String(error))));
  }

  apply(batch: StoreBatch): void {
    if (this.stopped) return;
    if (this.sequence === undefined) {
      if (this.early.length >= EARLY_BATCHES_MAX) this.begin();
      else this.early.push(batch);
      return;
    }
    if (batch.sequence <= this.sequence) return;
    if (batch.sequence !== this.sequence + 1) {
      this.begin();
      return;
    }
    this.sequence = batch.sequence;
    this.feed?.apply(batch);
    this.parts.listener.onBatchEnd();
  }

  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.parts.store.tell<'unsubscribe'>({ type: 'unsubscribe', subscriber: this.parts.subscriber });
  }

  private list(snapshot: Snapshot): void {
    const { listener, createFeed } = this.parts;
    this.feed ??= createFeed(listener.onEvent);
    listener.onList();
    this.feed.begin(snapshot);
    this.sequence = snapshot.sequence;
    listener.onListed();
    const early = this.early;
    this.early = [];
    for (const batch of early) this.apply(batch);
  }
}
