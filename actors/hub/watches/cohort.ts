// Watchers that see the same bytes: same namespace, selectors, bookmarks and rendering. What a batch means for them is
// decided and framed once; each member then costs one socket write and nothing else.
import { keepsStoredBytes, type Rendering } from '../../../rendering/rendering.ts';
import type { Attributes } from '../../../storage/forms/attributes.ts';
import { sameAttributes } from '../../../storage/records/slab-record.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { CacheEvent, ResourceCache } from '../caches/resource-cache.ts';
import type { FramedEvent, WatchEventType } from '../frames/frames.ts';
import { attributesOf, type CompiledSelection, inNamespace } from '../selection.ts';
import type { WatchSeries } from './watch-metrics.ts';

export interface Cohort {
  readonly key: string;
  readonly cache: ResourceCache;
  readonly selection: CompiledSelection;
  readonly bookmarks: boolean;
  readonly rendering: Rendering;
  /** Says the same of equal renderings. */
  readonly renderingText: string;
  /** Of the kind it is sent. */
  readonly series: WatchSeries;
  readonly live: Set<number>;
  /** Members that have had no Table yet: their first one says what its columns are. Empty for other shapes. */
  readonly columnsDue: Set<number>;
  members: number;
  /** Events of the batches that have been applied since the last flush. */
  pending: FramedEvent[];
  /** Monotonic time of the last bytes to live members, for bookmarks. */
  lastSentMs: number;
}

/** A cohort that nobody is in yet. */
export function newCohort(fixed: Omit<Cohort, 'live' | 'columnsDue' | 'members' | 'pending'>): Cohort {
  return { ...fixed, live: new Set(), columnsDue: new Set(), members: 0, pending: [] };
}

/** A chunk of it costs more than to copy it. */
export function isRendered({ rendering }: Cohort): boolean {
  return !keepsStoredBytes(rendering);
}

/** What the cohorts need to know of one event, read at most once however many look. */
export class EventAttributes {
  readonly #event: CacheEvent;
  readonly #slabs: SlabView;
  #now: Attributes | undefined;
  #before: Attributes | undefined;
  #isSame: boolean | undefined;
  #shown: FramedEvent | undefined;

  constructor(event: CacheEvent, slabs: SlabView) {
    this.#event = event;
    this.#slabs = slabs;
  }

  /** Labels and fields after the event. */
  get now(): Attributes {
    this.#now ??= attributesOf(this.#event.entry, this.#slabs);
    return this.#now;
  }

  /** Labels and fields before the event. */
  get before(): Attributes | undefined {
    const { previous } = this.#event;
    if (previous === undefined) return undefined;
    this.#before ??= this.isSame ? this.now : attributesOf(previous, this.#slabs);
    return this.#before;
  }

  /** True when the event leaves labels and fields as they were, which most do. */
  get isSame(): boolean {
    this.#isSame ??= this.#compare();
    return this.#isSame;
  }

  /** The event as something to be framed: one for all cohorts to which it is of that type, so that comparing is cheap. */
  shownAs(type: WatchEventType): FramedEvent {
    if (this.#shown?.type !== type) this.#shown = this.#show(type);
    return this.#shown;
  }

  #show(type: WatchEventType): FramedEvent {
    const { entry, previous, deleted, revision } = this.#event;
    // What leaves a selection is shown as it last was inside.
    if (type === 'DELETED' && !deleted) return { type, entry: previous!, shownRevision: revision };
    return { type, entry, shownRevision: undefined };
  }

  #compare(): boolean {
    const { entry, previous } = this.#event;
    if (previous === undefined) return false;
    const slabs = this.#slabs;
    return sameAttributes(slabs.slab(entry.slab), entry.offset, slabs.slab(previous.slab), previous.offset);
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
  const isIn = !deleted && (matches === undefined || (attributes.isSame ? wasIn : matches(attributes.now)));
  if (isIn) return attributes.shownAs(wasIn ? 'MODIFIED' : 'ADDED');
  return wasIn ? attributes.shownAs('DELETED') : undefined;
}
