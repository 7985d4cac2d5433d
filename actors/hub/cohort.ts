// Watchers that see the same bytes: same namespace, selectors, bookmarks and rendering. What a batch means for them is
// decided and framed once; each member then costs one socket write and nothing else.
import type { Rendering } from '../../api/render/rendering.ts';
import type { Attributes } from '../../storage/attributes.ts';
import type { SlabView } from '../../storage/slab-view.ts';
import type { FramedEvent } from './frames.ts';
import type { CacheEvent, ResourceCache } from './resource-cache.ts';
import { attributesOf, type CompiledSelection, inNamespace } from './selection.ts';

/** One open watch. */
export interface Watcher {
  readonly id: number;
  readonly cohort: Cohort;
  /** Everything up to here was delivered or does not concern this watcher. Kept only while not live. */
  position: number;
  state: /** Gets the cohort's chunks. */
    | 'live'
    /** Waits for `watchReady`: its socket is full, or its last catch-up chunk is on the way. */
    | 'waiting'
    /** The store was lost: goes on when it has been read again. */
    | 'suspended'
    /** Asked for a revision that has not been reached. */
    | 'future';
  /** How often its socket was reported full. */
  parks: number;
  /** Has been sent something since the last such report: the ingress knows that it was heard. */
  parksAnswered: boolean;
  /** The initial state still to be sent; undefined when there is none left. */
  initial: InitialState | undefined;
  readonly initialEventsEnd: boolean;
  cancelTimeout: () => void;
}

/** The consistent cut a watch begins with. */
export interface InitialState {
  readonly revision: number;
  /** Slab and offset of each object, two numbers each. */
  readonly places: Uint32Array;
  next: number;
  readonly pin: number;
}

export interface Cohort {
  readonly key: string;
  readonly cache: ResourceCache;
  readonly selection: CompiledSelection;
  readonly bookmarks: boolean;
  readonly rendering: Rendering;
  readonly live: Set<number>;
  /** Members that have had no Table yet: their first one says what its columns are. Empty for other shapes. */
  readonly columnsDue: Set<number>;
  members: number;
  /** Events of the batch being applied. */
  pending: FramedEvent[];
  /** Monotonic time of the last bytes to live members, for bookmarks. */
  lastSentMs: number;
}

/** Labels and fields of one event's two sides, unpacked at most once per event however many cohorts look. */
export class EventAttributes {
  readonly #event: CacheEvent;
  readonly #slabs: SlabView;
  #now: Attributes | undefined;
  #before: Attributes | undefined;

  constructor(event: CacheEvent, slabs: SlabView) {
    this.#event = event;
    this.#slabs = slabs;
  }

  get now(): Attributes {
    this.#now ??= attributesOf(this.#event.entry, this.#slabs);
    return this.#now;
  }

  get before(): Attributes | undefined {
    if (this.#event.previous === undefined) return undefined;
    this.#before ??= attributesOf(this.#event.previous, this.#slabs);
    return this.#before;
  }
}

/**
 * What an event is to a selection: an object that leaves it was deleted, one that enters was added; undefined when it was
 * and is outside.
 */
export function seenThrough(
  selection: CompiledSelection,
  event: CacheEvent,
  attributes: EventAttributes,
): FramedEvent | undefined {
  const { entry, previous, deleted } = event;
  if (!inNamespace(entry.key, selection.namespace)) return undefined;
  const { matches } = selection;
  const wasIn = previous !== undefined && (matches === undefined || matches(attributes.before!));
  const isIn = !deleted && (matches === undefined || matches(attributes.now));
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', entry, shownRevision: undefined };
  if (!wasIn) return undefined;
  return deleted
    ? { type: 'DELETED', entry, shownRevision: undefined }
    : { type: 'DELETED', entry: previous, shownRevision: event.revision };
}

/** The cohorts of one resource type, findable by what they pin, so that an event costs what it matches. */
export class CohortIndex {
  readonly #byKey = new Map<string, Cohort>();
  readonly #unpinned = new Set<Cohort>();
  /** `<field> NUL <value>` or `NUL <namespace>` → cohorts. */
  readonly #pinned = new Map<string, Set<Cohort>>();
  /** How many cohorts pin each field, so that fields nobody pins are not looked at. */
  readonly #pinnedFields = new Map<string, number>();

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
    const bucket = this.#pinned.get(pin.bucket);
    if (bucket === undefined) this.#pinned.set(pin.bucket, new Set([cohort]));
    else bucket.add(cohort);
    this.#pinnedFields.set(pin.field, (this.#pinnedFields.get(pin.field) ?? 0) + 1);
  }

  remove(cohort: Cohort): void {
    this.#byKey.delete(cohort.key);
    this.#unpinned.delete(cohort);
    const pin = pinOf(cohort);
    if (pin === undefined) return;
    const bucket = this.#pinned.get(pin.bucket);
    bucket?.delete(cohort);
    if (bucket?.size === 0) this.#pinned.delete(pin.bucket);
    const left = (this.#pinnedFields.get(pin.field) ?? 1) - 1;
    if (left === 0) this.#pinnedFields.delete(pin.field);
    else this.#pinnedFields.set(pin.field, left);
  }

  /** Visits every cohort that may see the event. `fieldIndex`: where a selectable field's value stands. */
  forEachCandidate(
    event: CacheEvent,
    attributes: EventAttributes,
    fieldIndex: (field: string) => number,
    visit: (cohort: Cohort) => void,
  ): void {
    for (const cohort of this.#unpinned) visit(cohort);
    if (this.#pinned.size === 0) return;
    for (const field of this.#pinnedFields.keys()) {
      if (field === '') {
        this.#visitBucket(bucketOf('', event.entry.key.slice(0, event.entry.key.indexOf('/'))), visit);
        continue;
      }
      const index = fieldIndex(field);
      const now = attributes.now.fields[index] ?? '';
      const before = attributes.before?.fields[index];
      this.#visitBucket(bucketOf(field, now), visit);
      if (before !== undefined && before !== now) this.#visitBucket(bucketOf(field, before), visit);
    }
  }

  #visitBucket(bucket: string, visit: (cohort: Cohort) => void): void {
    const cohorts = this.#pinned.get(bucket);
    if (cohorts !== undefined) for (const cohort of cohorts) visit(cohort);
  }
}

function bucketOf(field: string, value: string): string {
  return `${field}\u0000${value}`;
}

/** A pinned field, else the namespace (as field ''), else nothing. */
function pinOf(cohort: Cohort): { field: string; bucket: string } | undefined {
  const { pinned, namespace } = cohort.selection;
  if (pinned !== undefined) return { field: pinned.field, bucket: bucketOf(pinned.field, pinned.value) };
  return namespace === '' ? undefined : { field: '', bucket: bucketOf('', namespace) };
}
