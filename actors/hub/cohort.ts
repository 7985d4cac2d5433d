// Watchers that see the same bytes: same namespace, selectors, bookmarks and rendering. What a batch means for them is
// decided and framed once; each member then costs one socket write and nothing else.
import type { Rendering } from '../../api/render/rendering.ts';
import { type Attributes, unpackAttributes } from '../../storage/attributes.ts';
import type { SlabView } from '../../storage/thread-slabs.ts';
import type { FramedEvent } from './frames.ts';
import type { CacheEvent, ResourceCache } from './resource-cache.ts';
import { type CompiledSelection, inNamespace, packedAttributes } from './selection.ts';

export interface Cohort {
  readonly key: string;
  readonly cache: ResourceCache;
  readonly selection: CompiledSelection;
  readonly bookmarks: boolean;
  readonly rendering: Rendering;
  /** Says the same of equal renderings. */
  readonly renderingText: string;
  readonly live: Set<number>;
  /** Members that have had no Table yet: their first one says what its columns are. Empty for other shapes. */
  readonly columnsDue: Set<number>;
  members: number;
  /** Events of the batches that have been applied since the last flush. */
  pending: FramedEvent[];
  /** Monotonic time of the last bytes to live members, for bookmarks. */
  lastSentMs: number;
}

/** Labels and fields of one event's two sides, unpacked at most once per event however many cohorts look. */
export class EventAttributes {
  readonly #event: CacheEvent;
  readonly #slabs: SlabView;
  #packedNow: string | undefined;
  #now: Attributes | undefined;
  #before: Attributes | undefined;

  constructor(event: CacheEvent, slabs: SlabView) {
    this.#event = event;
    this.#slabs = slabs;
  }

  get now(): Attributes {
    this.#now ??= unpackAttributes(this.#packed);
    return this.#now;
  }

  get before(): Attributes | undefined {
    const { previous } = this.#event;
    if (previous === undefined) return undefined;
    if (this.#before === undefined) {
      // Most changes leave labels and selectable fields as they were.
      const packed = packedAttributes(previous, this.#slabs);
      this.#before = packed === this.#packed ? this.now : unpackAttributes(packed);
    }
    return this.#before;
  }

  get #packed(): string {
    this.#packedNow ??= packedAttributes(this.#event.entry, this.#slabs);
    return this.#packedNow;
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
