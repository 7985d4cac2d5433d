// The cohorts of one resource type, findable by what they pin, so that an event costs in proportion to the cohorts it
// matches and not to all there are. What an event means to a cohort is cohort.ts.
import type { Cohort, EventAttributes } from './cohort.ts';
import type { CacheEvent } from './resource-cache.ts';
import type { Pin } from './selection.ts';

/** What cohorts without selectors are under, in their namespace. */
const NAMESPACE_PIN: Pin = { of: 'namespace', name: '', value: '' };

/** A field or label that some cohorts pin, and how many do. */
interface PinnedName {
  readonly of: Pin['of'];
  readonly name: string;
  cohorts: number;
}

export class CohortIndex {
  readonly #byKey = new Map<string, Cohort>();
  readonly #unpinned = new Set<Cohort>();
  /** By what is pinned, to which value, and the namespace (empty: all). */
  readonly #buckets = new Map<string, Set<Cohort>>();
  /** What is pinned by anyone: nothing else of an event is looked at. */
  readonly #names = new Map<string, PinnedName>();

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
    const pin = pinOf(cohort);
    if (pin === undefined) {
      this.#unpinned.add(cohort);
      return;
    }
    const bucket = bucketOf(pin, pin.value, cohort.selection.namespace);
    const cohorts = this.#buckets.get(bucket);
    if (cohorts === undefined) this.#buckets.set(bucket, new Set([cohort]));
    else cohorts.add(cohort);
    const name = this.#names.get(nameOf(pin));
    if (name === undefined) this.#names.set(nameOf(pin), { of: pin.of, name: pin.name, cohorts: 1 });
    else name.cohorts++;
  }

  remove(cohort: Cohort): void {
    this.#byKey.delete(cohort.key);
    this.#unpinned.delete(cohort);
    const pin = pinOf(cohort);
    if (pin === undefined) return;
    const bucket = bucketOf(pin, pin.value, cohort.selection.namespace);
    const cohorts = this.#buckets.get(bucket);
    cohorts?.delete(cohort);
    if (cohorts?.size === 0) this.#buckets.delete(bucket);
    const name = this.#names.get(nameOf(pin))!;
    if (--name.cohorts === 0) this.#names.delete(nameOf(pin));
  }

  /** Visits every cohort that may see the event, once. `fieldIndex`: where a selectable field's value stands. */
  forEachCandidate(
    event: CacheEvent,
    attributes: EventAttributes,
    fieldIndex: (field: string) => number,
    visit: (cohort: Cohort) => void,
  ): void {
    for (const cohort of this.#unpinned) visit(cohort);
    if (this.#names.size === 0) return;
    const namespace = event.entry.key.slice(0, event.entry.key.indexOf('/'));
    for (const pinned of this.#names.values()) {
      if (pinned.of === 'namespace') {
        this.#visitBucket(bucketOf(pinned, '', namespace), visit);
        continue;
      }
      const index = pinned.of === 'field' ? fieldIndex(pinned.name) : -1;
      const now = pinnedValue(pinned, attributes.now, index);
      const before = attributes.before === undefined ? undefined : pinnedValue(pinned, attributes.before, index);
      if (now !== undefined) this.#visitValue(pinned, now, namespace, visit);
      if (before !== undefined && before !== now) this.#visitValue(pinned, before, namespace, visit);
    }
  }

  #visitValue(pinned: PinnedName, value: string, namespace: string, visit: (cohort: Cohort) => void): void {
    this.#visitBucket(bucketOf(pinned, value, ''), visit);
    if (namespace !== '') this.#visitBucket(bucketOf(pinned, value, namespace), visit);
  }

  #visitBucket(bucket: string, visit: (cohort: Cohort) => void): void {
    const cohorts = this.#buckets.get(bucket);
    if (cohorts !== undefined) for (const cohort of cohorts) visit(cohort);
  }
}

/** A pinned field or label, else the namespace, else nothing. */
function pinOf({ selection }: Cohort): Pin | undefined {
  return selection.pinned ?? (selection.namespace === '' ? undefined : NAMESPACE_PIN);
}

/** The value one side of an event has for what is pinned; undefined: none. */
function pinnedValue(
  { of, name }: PinnedName,
  { labels, fields }: EventAttributes['now'],
  fieldIndex: number,
): string | undefined {
  return of === 'label' ? labels[name] : (fields[fieldIndex] ?? '');
}

function nameOf({ of, name }: Pin): string {
  return `${of} ${name}`;
}

function bucketOf({ of, name }: { of: Pin['of']; name: string }, value: string, namespace: string): string {
  return `${of} ${name}\u0000${value}\u0000${namespace}`;
}
