// The cohorts of a hub, by the caches that their watchers see. A cache that nobody watches has no index.
import { renderingKey } from '../../../rendering/rendering.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { ResourceCache } from '../caches/resource-cache.ts';
import type { WatchQuery } from '../protocol.ts';
import { compileSelection } from '../selection.ts';
import { type Cohort, newCohort } from './cohort.ts';
import { CohortIndex } from './cohort-index.ts';
import type { WatchMetrics } from './watch-metrics.ts';

/** What it takes to make a cohort. */
export interface CohortParts {
  readonly selectableFields: (storageKey: string) => readonly string[];
  readonly clock: Clock;
  readonly metrics: WatchMetrics;
}

export class CohortIndexes {
  readonly #parts: CohortParts;
  readonly #byCache = new Map<ResourceCache, CohortIndex>();

  constructor(parts: CohortParts) {
    this.#parts = parts;
  }

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

  /** The cohort of all who ask for the same. */
  ofQuery(query: WatchQuery, cache: ResourceCache): Cohort {
    const { rendering, namespace, labelSelector, fieldSelector, bookmarks } = query;
    const renderingText = renderingKey(rendering);
    const key = [namespace, labelSelector, fieldSelector, bookmarks, renderingText].join('\u0000');
    const index = this.of(cache);
    const known = index.get(key);
    if (known !== undefined) return known;
    const { selectableFields, clock, metrics } = this.#parts;
    const cohort = newCohort({
      key,
      cache,
      selection: compileSelection(query, selectableFields(cache.storageKey)),
      bookmarks,
      rendering,
      renderingText,
      series: metrics.of(rendering.target),
      lastSentMs: clock.monotonicMs(),
    });
    index.add(cohort);
    return cohort;
  }

  remove(cohort: Cohort): void {
    const index = this.#byCache.get(cohort.cache);
    index?.remove(cohort);
    if (index?.size === 0) this.#byCache.delete(cohort.cache);
  }

  /** Puts all watchers into cohorts over rebuilt caches, in which nobody is live. */
  renew(watchers: Iterable<{ cohort: Cohort }>, cacheFor: (storageKey: string) => ResourceCache): void {
    const cohorts = new Map<Cohort, Cohort>();
    this.#byCache.clear();
    for (const watcher of watchers) {
      const { cohort } = watcher;
      let renewed = cohorts.get(cohort);
      if (renewed === undefined) {
        renewed = { ...cohort, cache: cacheFor(cohort.cache.storageKey), live: new Set(), pending: [] };
        cohorts.set(cohort, renewed);
        this.of(renewed.cache).add(renewed);
      }
      watcher.cohort = renewed;
    }
  }
}
