// Objects of one type whose time comes: each is deleted then, if it still is what it was when its time was told.
import type { Clock } from '../../runtime/environment.ts';
import type { WriteTarget } from '../admission/protocol.ts';
import { type Due, deletionOf, NOTHING, type Plan, type Preconditions } from './controller.ts';

/** An object and when it is to go. */
export interface Dated {
  /** Unix time. */
  readonly endMs: number;
  readonly target: WriteTarget;
  /** Its revision among them: one that was given more time meanwhile stays. */
  readonly preconditions: Preconditions & { readonly resourceVersion: string };
}

/** What a controller keeps of them, by its keys. */
export class DatedDeletions {
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #dated = new Map<string, Dated>();

  constructor(clock: Clock, due: Due) {
    this.#clock = clock;
    this.#due = due;
  }

  add(key: string, dated: Dated): void {
    this.#dated.set(key, dated);
    this.#due.add(key);
  }

  delete(key: string): void {
    this.#dated.delete(key);
  }

  clear(): void {
    this.#dated.clear();
  }

  onSynced(): void {
    for (const key of this.#dated.keys()) this.#due.add(key);
  }

  plan(key: string): Plan {
    const dated = this.#dated.get(key);
    if (dated === undefined) return NOTHING;
    const leftMs = dated.endMs - this.#clock.nowMs();
    if (leftMs > 0) return { writes: [], againAfterMs: leftMs };
    return { writes: [deletionOf(dated.target, dated.preconditions)] };
  }
}
