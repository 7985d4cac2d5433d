// How long a read must wait so that it is fresh enough: until the hub has applied the revision its freshness asks for. Where
// other servers write to the store as well, a consistent read asks the store first which revision that is.

import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { MergedAsks } from '../../runtime/messages/merged-asks.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { SharedState } from '../../storage/shared-state.ts';
import type { StoreProtocol } from '../store/protocol.ts';
import type { Freshness, ReadRefusal } from './protocol.ts';

/** How long a read waits for a revision nobody has committed yet, as Kubernetes does. */
const FUTURE_WAIT_MS = 3000;
/** How long a consistent read waits for the stream to catch up before the client is told to come back. */
const CATCH_UP_WAIT_MS = 10_000;

interface WaitingRead {
  readonly revision: number;
  /** The client has named it. */
  readonly isNamed: boolean;
  /** The state at this very revision is wanted, and may be compacted by the time it has been reached. */
  readonly exact: boolean;
  readonly go: (refusal: ReadRefusal | undefined) => void;
  readonly cancel: () => void;
}

export class ReadGate {
  readonly #context: ActorContext;
  readonly #waiting = new Set<WaitingRead>();
  readonly #barriers: MergedAsks<{ readonly revision: number }>;
  #shared: SharedState | undefined;
  /** Other servers write as well. */
  #isShared = false;
  #applied = 0;
  #compacted = 0;

  constructor(context: ActorContext, store: Pick<Ref<StoreProtocol>, 'ask'>) {
    this.#context = context;
    this.#barriers = new MergedAsks(() => store.ask({ type: 'barrier' }, { deadlineMs: CATCH_UP_WAIT_MS }));
  }

  get ready(): boolean {
    return this.#shared !== undefined;
  }

  get applied(): number {
    return this.#applied;
  }

  get compacted(): number {
    return this.#compacted;
  }

  /** True of a revision that has not come here, where others write as well and may have told it. */
  isAhead(revision: number): boolean {
    return this.#isShared && revision > this.#applied;
  }

  /**
   * The store's present state was taken over. `release` follows. `isKnown`: its versions are of the history that was followed before;
   * else what it said of that one may never come.
   */
  open(shared: SharedState, isShared: boolean, applied: number, compacted: number, isKnown: boolean): void {
    this.#shared = shared;
    this.#isShared = isShared;
    this.advance(applied, compacted);
    if (!isKnown) this.#askAnew();
  }

  /** The store is gone: nothing can be told from the present any more. */
  shut(): void {
    this.#shared = undefined;
  }

  /** The hub has applied more. `release` follows when everyone else has been told. */
  advance(applied: number, compacted: number): void {
    this.#applied = applied;
    this.#compacted = compacted;
  }

  /** Lets the reads go on that waited for what has been applied. */
  release(): void {
    for (const read of this.#waiting) {
      if (read.revision > this.#applied) continue;
      this.#waiting.delete(read);
      read.cancel();
      read.go(read.exact ? this.#expiry(read.revision) : undefined);
    }
  }

  /** Calls `go` now or when fresh enough, with a refusal when that cannot be. */
  pass(freshness: Freshness, go: (refusal: ReadRefusal | undefined) => void): void {
    if (this.#shared === undefined) {
      go({ refused: 'notReady' });
      return;
    }
    switch (freshness.kind) {
      case 'local':
        go(undefined);
        return;
      // Whatever a client asks for, it may have been told more by another hub: nobody has been told of more than is
      // committed, and a hub that has applied that does not wait.
      case 'any':
        this.#reach(this.#shared.committedRevision, 0, false, go);
        return;
      case 'mostRecent':
        if (this.#isShared) this.#reachAcknowledged(go);
        else this.#reach(this.#shared.committedRevision, 0, false, go);
        return;
      case 'notOlderThan': {
        const { revision } = freshness;
        this.#reach(Math.max(revision, this.#shared.committedRevision), revision, false, go);
        return;
      }
      case 'exact': {
        const expiry = this.#expiry(freshness.revision);
        if (expiry !== undefined) go(expiry);
        else this.#reach(freshness.revision, freshness.revision, true, go);
        return;
      }
      default:
        unreachable(freshness);
    }
  }

  #askAnew(): void {
    for (const read of this.#waiting) {
      if (read.isNamed) continue;
      this.#waiting.delete(read);
      read.cancel();
      this.#reachAcknowledged(read.go);
    }
  }

  #expiry(revision: number): ReadRefusal | undefined {
    return revision < this.#compacted ? { refused: 'expired', oldestRevision: this.#compacted } : undefined;
  }

  /** Waits for all that was acknowledged by any server. */
  #reachAcknowledged(go: (refusal: ReadRefusal | undefined) => void): void {
    this.#barriers.answer().then(
      ({ revision }) => this.#reach(revision, 0, false, go),
      () => go({ refused: 'notReady' }),
    );
  }

  /** Waits for a revision. `asked`: the one that the client named; 0 when none. */
  #reach(revision: number, asked: number, exact: boolean, go: (refusal: ReadRefusal | undefined) => void): void {
    // A store may have been lost while it was asked how far it is: what is here is no longer followed.
    if (this.ready && this.#applied >= revision) {
      go(undefined);
      return;
    }
    const timer = this.#context.timers.after(asked > this.#applied ? FUTURE_WAIT_MS : CATCH_UP_WAIT_MS, () => {
      this.#waiting.delete(read);
      // Where nobody asked for what is not there yet, it is this hub that is behind.
      go(asked > this.#applied ? { refused: 'tooLarge', currentRevision: this.#applied } : { refused: 'notReady' });
    });
    const read: WaitingRead = { revision, isNamed: asked > 0, exact, go, cancel: () => timer.cancel() };
    this.#waiting.add(read);
    // Another server may have told it of a write to etcd that is nobody's here, behind which nothing may come for long.
    if (this.isAhead(asked)) this.#barriers.answer().catch(() => {});
  }
}
