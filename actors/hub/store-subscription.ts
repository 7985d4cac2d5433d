// The hub's place in the store's stream: subscribes, keeps publications that overtake the snapshot they follow, notices a
// missing one, and begins again when the stream breaks. Knows nothing of what publications hold.
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import type { Timer } from '../../runtime/environment.ts';
import type { Snapshot, StoreBatch, StoreProtocol } from '../store/protocol.ts';

const SUBSCRIBE_DEADLINE_MS = 30_000;
const RETRY_MS = 100;
/** Publications kept while a snapshot is on its way; beyond it the snapshot is asked for again. */
const EARLY_BATCHES_MAX = 10_000;

export interface SubscriptionListener {
  /** The stream broke: what was read may not be relied on until the next `begin`. Called once a break, or more often. */
  readonly lost: () => void;
  readonly begin: (snapshot: Snapshot) => void;
  /** The publication that follows the last one, or the snapshot. */
  readonly apply: (batch: StoreBatch) => void;
}

export class StoreSubscription {
  readonly #context: ActorContext;
  readonly #store: Ref<StoreProtocol>;
  readonly #listener: SubscriptionListener;
  /** The last publication applied. */
  #sequence = 0;
  #following = false;
  /** Counts subscriptions asked for: the answer to an earlier one is of no use. */
  #asked = 0;
  #early: StoreBatch[] = [];
  #retry: Timer | undefined;

  constructor(context: ActorContext, store: Ref<StoreProtocol>, listener: SubscriptionListener) {
    this.#context = context;
    this.#store = store;
    this.#listener = listener;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** Resolves when the first snapshot was taken over. Rejects when the store does not give one. */
  async start(): Promise<void> {
    await this.#subscribe();
  }

  /** The store published. */
  accept(batch: StoreBatch): void {
    if (!this.#following) {
      this.#early.push(batch);
      if (this.#early.length > EARLY_BATCHES_MAX) this.renew();
      return;
    }
    if (batch.sequence <= this.#sequence) return;
    if (batch.sequence !== this.#sequence + 1) {
      this.#context.log.error({ expected: this.#sequence + 1, got: batch.sequence }, 'publication missing');
      this.renew();
      return;
    }
    this.#sequence = batch.sequence;
    this.#listener.apply(batch);
  }

  /** Begins again from a new snapshot: the store was lost, or is another one now. */
  renew(): void {
    this.#retry?.cancel();
    this.#following = false;
    this.#listener.lost();
    const asked = this.#asked + 1;
    this.#subscribe().catch((error: unknown) => {
      if (asked !== this.#asked) return;
      this.#context.log.warn({ err: error }, 'subscribing to the store failed');
      this.#retry = this.#context.timers.after(RETRY_MS, () => this.renew());
    });
  }

  async #subscribe(): Promise<void> {
    const asked = ++this.#asked;
    this.#early = [];
    const subscriber = this.#context.name;
    const snapshot = await this.#store.ask({ type: 'subscribe', subscriber }, { deadlineMs: SUBSCRIBE_DEADLINE_MS });
    if (asked === this.#asked) this.#begin(snapshot);
  }

  #begin(snapshot: Snapshot): void {
    const early = this.#early;
    this.#early = [];
    this.#sequence = snapshot.sequence;
    this.#following = true;
    this.#listener.begin(snapshot);
    for (const batch of early) this.accept(batch);
  }
}
