// Keeps an actor subscribed to the store: begins with the present state, follows the batches, and begins again when the
// store was lost or a batch is missing. Owns the subscription and the StoreFeed, and knows nothing of what is in them.
import type { ActorContext } from '../../runtime/actor.ts';
import { MergedAsks } from '../../runtime/messages/merged-asks.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import type { UnreadableValue } from '../../storage/following/publication.ts';
import type { FeedEvent, StoreFeed } from '../../storage/following/store-feed.ts';
import { storageKeyOf } from '../../storage/object-key.ts';
import { SharedState } from '../../storage/shared-state.ts';
import type { FirstObjects, PresentState, StoreBatch } from '../store/protocol.ts';
import type { FeedFactory } from './feed-of-thread.ts';
import { StoreSubscription } from './store-subscription.ts';

/**
 * Hears `onReset`, then `onEvent` for every object present, with `onFirstTold` among them, then `onSynced`, then `onEvent` for every
 * change. `onReset` comes also when the store is lost: what is known is then no longer followed.
 */
export interface FeedListener {
  onReset(): void;
  onEvent(event: FeedEvent): void;
  /** The objects that are told before all others have been told. The rest may take some turns. */
  onFirstTold?(): void;
  onSynced(): void;
  /** An object that lies elsewhere now, for who keeps records. */
  onMoved?(event: FeedEvent): void;
  /** After the changes that were committed together. */
  onBatchEnd?(): void;
  /**
   * All objects that are there and that it is told nothing of, for they cannot be read: before those of a present state are told, and
   * when that has changed. What it was told of before, and cannot be read now, is not among them.
   */
  onUnread?(values: readonly UnreadableValue[]): void;
}

/** How a follower is told of the store. */
export interface Telling {
  /** The objects of a present state that come before all others. */
  readonly first?: FirstObjects;
  /** Objects of a present state told in one turn of the thread; absent: PART_OBJECTS. */
  readonly partObjects?: number;
  /** True: while much is written it may hear of it some milliseconds later, which spares both threads most of their meetings. */
  readonly isPatient?: boolean;
}

const BARRIER_MS_MAX = 10_000;
/** Told in one turn, between which others of the thread have theirs: 2 to 8 ms, and 10 and more before V8 has optimized it. */
const PART_OBJECTS = 1000;

export class FeedFollower {
  readonly #context: ActorContext;
  readonly #feed: StoreFeed;
  readonly #listener: FeedListener;
  readonly #partObjects: number;
  readonly #storageKeys: readonly string[] | undefined;
  #hasUnread = false;
  readonly #subscription: StoreSubscription;
  readonly #barriers: MergedAsks<{ readonly revision: number }>;
  #shared: SharedState | undefined;
  #isShared = false;
  #appliedRevision = 0;

  /** @param storageKeys undefined: objects of all types. */
  constructor(
    context: ActorContext,
    storageKeys: readonly string[] | undefined,
    feedFactory: FeedFactory,
    listener: FeedListener,
    { first, partObjects = PART_OBJECTS, isPatient = false }: Telling = {},
  ) {
    this.#context = context;
    this.#listener = listener;
    this.#partObjects = partObjects;
    this.#storageKeys = storageKeys;
    const feed = feedFactory(
      context,
      storageKeys,
      (event) => listener.onEvent(event),
      listener.onMoved?.bind(listener),
    );
    this.#feed = feed;
    const store = context.ref('store');
    this.#barriers = new MergedAsks(() => store.ask({ type: 'barrier' }, { deadlineMs: BARRIER_MS_MAX }));
    this.#subscription = new StoreSubscription({
      store,
      subscription: {
        subscriber: context.name,
        ...(storageKeys && { types: storageKeys }),
        ...(first === undefined ? undefined : { first }),
        history: false,
        isPatient,
      },
      timers: context.timers,
      onPresent: (present, isCurrent) => this.#tell(present, isCurrent),
      onBatch: (batch) => {
        feed.apply(batch);
        if (batch.unreadable !== undefined) this.#tellUnread(batch.unreadable);
        this.#appliedRevision = batch.lastRevision;
        listener.onBatchEnd?.();
      },
      onLost: (reason) => {
        context.log.warn({ reason }, 'store feed begins again');
        listener.onReset();
      },
      crash: (error) => context.crash(error),
    });
  }

  #tell(present: PresentState, isCurrent: () => boolean): Promise<void> | undefined {
    this.#listener.onReset();
    this.#shared = new SharedState(present.sharedState);
    this.#isShared = present.isShared;
    this.#tellUnread(present.unreadable ?? []);
    const parts = this.#feed.begin(present, this.#partObjects);
    let isFirstTold = false;
    const isTold = (): boolean => {
      const isWhole = parts.next().done === true;
      if (!isFirstTold) this.#listener.onFirstTold?.();
      isFirstTold = true;
      if (!isWhole) return false;
      this.#appliedRevision = present.revision;
      this.#listener.onSynced();
      return true;
    };
    return isTold() ? undefined : this.#tellRest(isTold, isCurrent);
  }

  #tellUnread(values: readonly UnreadableValue[]): void {
    const types = this.#storageKeys;
    const unread = values.filter(({ key, isKnown }) => !isKnown && types?.includes(storageKeyOf(key)) !== false);
    if (!this.#hasUnread && unread.length === 0) return;
    this.#hasUnread = unread.length > 0;
    this.#listener.onUnread?.(unread);
  }

  /** A part each turn. */
  async #tellRest(isTold: () => boolean, isCurrent: () => boolean): Promise<void> {
    do await nextTurn(this.#context.timers);
    while (isCurrent() && !isTold());
  }

  /** What was told is the state of the store, but for batches under way. */
  get following(): boolean {
    return this.#subscription.following;
  }

  /** Everything up to here has been told. */
  get appliedRevision(): number {
    return this.#appliedRevision;
  }

  /** Everything up to here is committed, and may have been acknowledged; 0 before the first present state. */
  get committedRevision(): number {
    return this.#shared?.committedRevision ?? 0;
  }

  /** Where other servers write as well: up to where everything may have been acknowledged by any of them; else undefined. */
  acknowledgedRevision(): Promise<number> | undefined {
    return this.#isShared ? this.#barriers.answer().then(({ revision }) => revision) : undefined;
  }

  start(): void {
    void this.#subscription.start();
  }

  stop(): void {
    this.#subscription.stop();
  }

  /** The store sent what it committed. */
  onBatch(batch: StoreBatch): void {
    this.#subscription.receive(batch);
  }

  /** Begins anew: the store restarted, or gave this subscriber up; or for another reason, to be read in the log. */
  onLost(reason = 'the store was lost'): void {
    this.#subscription.restart(reason);
  }
}
