// The cohorts of one resource type, findable by what they fix, so that an event costs in proportion to the cohorts it
// matches and not to all there are. What an event means to a cohort is cohort.ts.

import type { CacheEvent } from '../caches/resource-cache.ts';
import type { FixedValue } from '../selection.ts';
import type { Cohort, EventAttributes } from './cohort.ts';

/** What cohorts without selectors are under, in their namespace. */
const FIXED_NAMESPACE: FixedValue = { of: 'namespace', name: '', value: '' };

/** A field or label that some cohorts fix, and how many do. */
interface FixedName {
  readonly of: FixedValue['of'];
  readonly name: string;
  cohorts: number;
}

export class CohortIndex {
  readonly #byKey = new Map<string, Cohort>();
  readonly #unfixed = new Set<Cohort>();
  /** By what is fixed, to which value, and the namespace (empty: all). */
  readonly #buckets = new Map<string, Set<Cohort>>();
  /** What is fixed by anyone: nothing else of an event is looked at. */
  readonly #names = new Map<string, FixedName>();

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Cohort | undefined {
    return this.#byKey.get(key);
  }

  values(): IterableIterator<Cohort> {
    return this.#byKey.values();
  }

  add(cohort: Cohort): void {
    this.#byKey.set(cohort.key, cohort);
    const fixed = fixedBy(cohort);
    if (fixed === undefined) {
      this.#unfixed.add(cohort);
      return;
    }
    const bucket = bucketOf(fixed, fixed.value, cohort.selection.namespace);
    const cohorts = this.#buckets.get(bucket);
    if (cohorts === undefined) this.#buckets.set(bucket, new Set([cohort]));
    else cohorts.add(cohort);
    const name = this.#names.get(nameOf(fixed));
    if (name === undefined) this.#names.set(nameOf(fixed), { of: fixed.of, name: fixed.name, cohorts: 1 });
    else name.cohorts++;
  }

  remove(cohort: Cohort): void {
    this.#byKey.delete(cohort.key);
    this.#unfixed.delete(cohort);
    const fixed = fixedBy(cohort);
    if (fixed === undefined) return;
    const bucket = bucketOf(fixed, fixed.value, cohort.selection.namespace);
    const cohorts = this.#buckets.get(bucket);
    cohorts?.delete(cohort);
    if (cohorts?.size === 0) this.#buckets.delete(bucket);
    const name = this.#names.get(nameOf(fixed))!;
    if (--name.cohorts === 0) this.#names.delete(nameOf(fixed));
  }

  /** Visits every cohort that may see the event, once. `fieldIndex`: where a selectable field's value stands. */
  forEachCandidate(
    event: CacheEvent,
    attributes: EventAttributes,
    fieldIndex: (field: string) => number,
    visit: (cohort: Cohort) => void,
  ): void {
    for (const cohort of this.#unfixed) visit(cohort);
    if (this.#names.size === 0) return;
    const namespace = event.entry.key.slice(0, event.entry.key.indexOf('/'));
    for (const fixed of this.#names.values()) {
      if (fixed.of === 'namespace') {
        this.#visitBucket(bucketOf(fixed, '', namespace), visit);
        continue;
      }
      const index = fixed.of === 'field' ? fieldIndex(fixed.name) : -1;
      const now = presentValue(fixed, attributes.now, index);
      const before = attributes.before === undefined ? undefined : presentValue(fixed, attributes.before, index);
      if (now !== undefined) this.#visitValue(fixed, now, namespace, visit);
      if (before !== undefined && before !== now) this.#visitValue(fixed, before, namespace, visit);
    }
  }

  #visitValue(fixed: FixedName, value: string, namespace: string, visit: (cohort: Cohort) => void): void {
    this.#visitBucket(bucketOf(fixed, value, ''), visit);
    if (namespace !== '') this.#visitBucket(bucketOf(fixed, value, namespace), visit);
  }

  #visitBucket(bucket: string, visit: (cohort: Cohort) => void): void {
    const cohorts = this.#buckets.get(bucket);
    if (cohorts !== undefined) for (const cohort of cohorts) visit(cohort);
  }
}

/** A fixed field or label, else the namespace, else nothing. */
function fixedBy({ selection }: Cohort): FixedValue | undefined {
  return selection.fixed ?? (selection.namespace === '' ? undefined : FIXED_NAMESPACE);
}

/** The value one side of an event has for what is fixed; undefined: none. */
function presentValue(
  { of, name }: FixedName,
  { labels, fields }: EventAttributes['now'],
  fieldIndex: number,
): string | undefined {
  return of === 'label' ? labels[name] : (fields[fieldIndex] ?? '');
}

function nameOf({ of, name }: FixedValue): string {
  return `${of} ${name}`;
}

function bucketOf({ of, name }: { of: FixedValue['of']; name: string }, value: string, namespace: string): string {
  return `${of} ${name}\u0000${value}\u0000${namespace}`;
}
