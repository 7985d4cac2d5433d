// How long a read must wait so that it is fresh enough: until the hub has applied the revision its freshness asks for.
import type { ActorContext } from '../../runtime/actor.ts';
import type { SharedState } from '../../storage/shared-state.ts';
import type { Freshness, ReadRefusal } from './protocol.ts';

/** How long a read waits for a revision nobody has committed yet, as Kubernetes does. */
const FUTURE_WAIT_MS = 3000;
/** How long a consistent read waits for the stream to catch up before the client is told to come back. */
const CATCH_UP_WAIT_MS = 10_000;

interface WaitingRead {
  readonly revision: number;
  readonly go: (refusal: ReadRefusal | undefined) => void;
  readonly cancel: () => void;
}

export class ReadGate {
  readonly #context: ActorContext;
  readonly #waiting = new Set<WaitingRead>();
  #shared: SharedState | undefined;
  #applied = 0;
  #compacted = 0;

  constructor(context: ActorContext) {
    this.#context = context;
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

  /** The store's snapshot was taken over. */
  open(shared: SharedState, applied: number, compacted: number): void {
    this.#shared = shared;
    this.advance(applied, compacted);
  }

  /** The store is gone: nothing can be told from the present any more. */
  shut(): void {
    this.#shared = undefined;
  }

  advance(applied: number, compacted: number): void {
    this.#applied = applied;
    this.#compacted = compacted;
    for (const read of this.#waiting) {
      if (read.revision > applied) continue;
      this.#waiting.delete(read);
      read.cancel();
      read.go(undefined);
    }
  }

  /** Calls `go` now or when fresh enough, with a refusal when that cannot be. */
  pass(freshness: Freshness, go: (refusal: ReadRefusal | undefined) => void): void {
    if (this.#shared === undefined) {
      go({ refused: 'notReady' });
      return;
    }
    switch (freshness.kind) {
      case 'any':
        go(undefined);
        return;
      case 'mostRecent':
        this.#reach(this.#shared.committedRevision, CATCH_UP_WAIT_MS, go);
        return;
      case 'notOlderThan':
        this.#reach(freshness.revision, FUTURE_WAIT_MS, go);
        return;
      case 'exact':
        if (freshness.revision < this.#compacted) go({ refused: 'expired', oldestRevision: this.#compacted });
        else this.#reach(freshness.revision, FUTURE_WAIT_MS, go);
        return;
    }
  }

  #reach(revision: number, waitMs: number, go: (refusal: ReadRefusal | undefined) => void): void {
    if (this.#applied >= revision) {
      go(undefined);
      return;
    }
    const timer = this.#context.timers.after(waitMs, () => {
      this.#waiting.delete(read);
      go({ refused: 'tooLarge', currentRevision: this.#applied });
    });
    const read: WaitingRead = { revision, go, cancel: () => timer.cancel() };
    this.#waiting.add(read);
  }
}
