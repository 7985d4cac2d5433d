// One actor's subscription to the store: begins with the present state, hands on each publication once and in order, and begins
// again when the store was lost or a publication is missing. Used by every actor that follows the store; knows nothing of
// what is published.
import type { Ref } from '../../runtime/actor.ts';
import type { Timer, Timers } from '../../runtime/environment.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { PresentState, StoreBatch, StoreProtocol, Subscription } from '../store/protocol.ts';

const SUBSCRIBE_DEADLINE_MS = 30_000;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 5000;
/**
 * Publications kept until the present state is told: both come from the store, but may be handled in either order, and telling may
 * take several turns. Some 500 bytes each, and the store makes fewer than a thousand a second.
 */
const EARLY_BATCHES_MAX = 16_384;

export interface SubscriptionParts {
  readonly store: Ref<StoreProtocol>;
  /** The name of the actor that publications are sent to, and what it needs of the present state. */
  readonly subscription: Subscription;
  readonly timers: Timers;
  /**
   * The present state; everything from before is void. Who tells it over several turns answers a promise, which resolves when all is
   * told, and leaves off when `isCurrent` is false: another present state comes then.
   */
  readonly onPresent: (present: PresentState, isCurrent: () => boolean) => Promise<void> | undefined;
  readonly onBatch: (batch: StoreBatch) => void;
  /** What was known is no longer followed; a new present state is on its way. `reason` is for the log. */
  readonly onLost: (reason: string) => void;
  /** A handler threw: an invariant is broken. */
  readonly crash: (error: Error) => void;
}

export class StoreSubscription {
  readonly #parts: SubscriptionParts;
  #state: 'idle' | 'subscribing' | 'following' | 'stopped' = 'idle';
  /** Numbers attempts, so that the answer to one given up is told apart. */
  #attempt = 0;
  /** Of the store that is followed: late publications of the one before it mean nothing. */
  #incarnation = 0;
  #sequence = 0;
  #early: StoreBatch[] = [];
  #failures = 0;
  #retry: Timer | undefined;
  /** Who waits for the first present state, whichever attempt brings it. */
  #onStarted = (): void => {};

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  get following(): boolean {
    return this.#state === 'following';
  }

  /** The last publication handed on, or the present state's. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Subscribes. Resolves with the first present state taken over, however many attempts it takes. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#onStarted = resolve;
      this.#subscribe();
    });
  }

  /** A publication has arrived. */
  receive(batch: StoreBatch): void {
    if (this.#state === 'subscribing') {
      if (this.#early.length >= EARLY_BATCHES_MAX) this.restart('too many publications before the present state');
      else this.#early.push(batch);
      return;
    }
    if (this.#state !== 'following' || batch.incarnation !== this.#incarnation) return;
    if (batch.sequence <= this.#sequence) return;
    if (batch.after > this.#sequence) {
      this.restart('a publication is missing');
      return;
    }
    this.#sequence = batch.sequence;
    this.#parts.onBatch(batch);
  }

  /** The store restarted, or gave this subscriber up. */
  restart(reason: string): void {
    if (this.#state === 'stopped') return;
    this.#parts.onLost(reason);
    this.#subscribe();
  }

  stop(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#early = [];
    this.#retry?.cancel();
    this.#parts.store.tell<'unsubscribe'>({ type: 'unsubscribe', subscriber: this.#parts.subscription.subscriber });
  }

  #subscribe(): void {
    this.#state = 'subscribing';
    this.#early = [];
    this.#retry?.cancel();
    const attempt = ++this.#attempt;
    const { store, subscription, crash } = this.#parts;
    const isCurrent = (): boolean => attempt === this.#attempt && this.#state === 'subscribing';
    store
      .ask<'subscribe'>({ type: 'subscribe', ...subscription }, { deadlineMs: SUBSCRIBE_DEADLINE_MS })
      .then(
        (present) => (isCurrent() ? this.#begin(present, isCurrent) : undefined),
        (error: unknown) => {
          if (isCurrent()) this.#retryLater(error);
        },
      )
      .catch((error: unknown) => crash(error instanceof Error ? error : new Error(String(error))));
  }

  #begin(present: PresentState, isCurrent: () => boolean): Promise<void> | undefined {
    this.#failures = 0;
    this.#incarnation = present.incarnation;
    this.#sequence = present.sequence;
    const telling = this.#parts.onPresent(present, isCurrent);
    if (telling === undefined) {
      this.#follow();
      return undefined;
    }
    return telling.then(() => {
      if (isCurrent()) this.#follow();
    });
  }

  /** The present state is told: what came meanwhile is next. */
  #follow(): void {
    this.#state = 'following';
    const early = this.#early;
    this.#early = [];
    for (const batch of early) this.receive(batch);
    this.#onStarted();
  }

  #retryLater(error: unknown): void {
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(this.#failures++, 20));
    this.#parts.onLost(`subscribing failed: ${messageOf(error)}`);
    this.#retry = this.#parts.timers.after(delayMs, () => this.#subscribe());
  }
}
