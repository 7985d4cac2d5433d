// The cohorts of a hub, by the caches that their watchers see. A cache that nobody watches has no index.
import type { Cohort } from './cohort.ts';
import { CohortIndex } from './cohort-index.ts';
import type { ResourceCache } from './resource-cache.ts';

export class CohortIndexes {
  readonly #byCache = new Map<ResourceCache, CohortIndex>();

  /** How many cohorts. */
  get size(): number {
    let size = 0;
    for (const index of this.#byCache.values()) size += index.size;
    return size;
  }

  /** How many watchers move with theirs. */
  get liveCount(): number {
    let live = 0;
    for (const cohort of this) live += cohort.live.size;
    return live;
  }

  /** All cohorts. */
  *[Symbol.iterator](): Iterator<Cohort> {
    for (const index of this.#byCache.values()) yield* index.values();
  }

  /** Undefined where nobody watches. */
  get(cache: ResourceCache): CohortIndex | undefined {
    return this.#byCache.get(cache);
  }

  of(cache: ResourceCache): CohortIndex {
    let index = this.#byCache.get(cache);
    if (index === undefined) {
      index = new CohortIndex();
      this.#byCache.set(cache, index);
    }
    return index;
  }

  remove(cohort: Cohort): void {
    const index = this.#byCache.get(cohort.cache);
    index?.remove(cohort);
    if (index?.size === 0) this.#byCache.delete(cohort.cache);
  }

  clear(): void {
    this.#byCache.clear();
  }
}
