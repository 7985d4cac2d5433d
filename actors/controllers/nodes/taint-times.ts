// Since when a node has each of the taints that evict its pods. A pod's time on it counts for each taint by itself: a node that is kept
// for some pods by a taint of its own has had that for long when another comes. Pure, but for the clock.
import { asTimeMs, partAt, partsAt, textAt } from '../../../api/json/object-fields.ts';
import type { TaintLike } from '../../../api/pods/tolerations.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { ApiObject } from '../controller.ts';

const EFFECT = 'NoExecute';
/**
 * What a node said last may be as old as this server was away. For so long after a start nobody is evicted for it: the node agents of
 * nodes that answer have posted by then.
 */
const HEARD_AGAIN_MS = 60_000;

/** A taint of the effect NoExecute. Times are monotonic. */
export interface TimedTaint extends TaintLike {
  readonly sinceMs: number;
  /** Evicts nobody before. */
  readonly heldUntilMs: number;
}

/** What of a taint, or of a toleration, says which one it is. */
export function taintLike(one: ApiObject): TaintLike {
  return { key: textAt(one, 'key'), value: textAt(one, 'value'), effect: textAt(one, 'effect') };
}

/** The same taints, since whenever. */
export function areSameTaints(some: readonly TimedTaint[], others: readonly TimedTaint[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ key, value }, index) => key === others[index]!.key && value === others[index]!.value)
  );
}

export class TaintTimes {
  readonly #clock: Clock;
  /** Keys of those that say how the node is. */
  readonly #health: readonly string[];

  constructor(clock: Clock, dialect: Dialect) {
    this.#clock = clock;
    this.#health = ['not-ready', 'unreachable'].map((name) => dialect.spell(`node.@label/${name}`));
  }

  /** Those of a node. `before`: as they were known. `wasThere`: the node was there before us. */
  of(node: ApiObject, before: readonly TimedTaint[], wasThere: boolean): readonly TimedTaint[] {
    const taints = partsAt(partAt(node, 'spec'), 'taints').filter(({ effect }) => effect === EFFECT);
    return taints.map((taint) => {
      const like = taintLike(taint);
      const known = this.#known(like, before);
      if (known !== undefined) return { ...like, sinceMs: known.sinceMs, heldUntilMs: known.heldUntilMs };
      return { ...like, ...(wasThere ? this.#found(taint) : this.#come()) };
    });
  }

  /** A node that is silent first, and then says that it is not ready, has been in trouble all the time. */
  #known({ key }: TaintLike, before: readonly TimedTaint[]): TimedTaint | undefined {
    const same = before.find((taint) => taint.key === key);
    if (same !== undefined || !this.#health.includes(key)) return same;
    return before.find((taint) => this.#health.includes(taint.key));
  }

  #come(): Pick<TimedTaint, 'sinceMs' | 'heldUntilMs'> {
    return { sinceMs: this.#clock.monotonicMs(), heldUntilMs: -Infinity };
  }

  // Taints that were there before us say since when: a restart gives no pod more time, except to be heard of.
  #found(taint: ApiObject): Pick<TimedTaint, 'sinceMs' | 'heldUntilMs'> {
    const nowMs = this.#clock.monotonicMs();
    const ageMs = this.#clock.nowMs() - (asTimeMs(taint.timeAdded) ?? this.#clock.nowMs());
    const isOfHealth = this.#health.includes(textAt(taint, 'key'));
    return { sinceMs: nowMs - Math.max(0, ageMs), heldUntilMs: isOfHealth ? nowMs + HEARD_AGAIN_MS : -Infinity };
  }
}
