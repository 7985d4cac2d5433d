// The hub's doubt of itself: from time to time what it holds is added up and compared with the store's sums of the same
// revision. Reads records in slices, so that nobody waits for it; answers no reads, and repairs nothing itself.
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import type { ResourceDigest } from '../../storage/live-digest.ts';
import { recordDigest } from '../../storage/records/record-reading.ts';
import type { SlabView } from '../../storage/records/thread-slabs.ts';
import type { StoreProtocol } from '../store/protocol.ts';
import type { Entry, ResourceCache } from './caches/resource-cache.ts';
import type { ReadGate } from './read-gate.ts';

/** Entries added up in one turn: about a third of a millisecond. */
const SLICE_ENTRIES = 1000;
const ASK_DEADLINE_MS = 30_000;

export interface SelfCheckParts {
  readonly context: ActorContext;
  readonly store: Ref<StoreProtocol>;
  readonly slabs: SlabView;
  readonly gate: ReadGate;
  readonly caches: () => Iterable<ResourceCache>;
  /** Keeps the records that can be reached now in place until `release`. */
  readonly pin: () => number;
  readonly release: (pin: number) => void;
  /** The hub does not hold what the store does. */
  readonly onDifference: () => void;
}

/** What one cache held at the store's revision, before its entries are added up. */
interface Held {
  readonly storageKey: string;
  readonly entries: Iterator<Entry>;
  objects: number;
  digest: number;
  readonly changes: number;
}

export class SelfCheck {
  readonly #parts: SelfCheckParts;
  #isRunning = false;
  /** Counts how often the hub has begun: what was begun under another is given up. */
  #round = 0;
  /** By resource type, how many more changes the store has counted than this hub: the same until the next present state. */
  #changesBefore = new Map<string, number>();

  constructor(parts: SelfCheckParts) {
    this.#parts = parts;
  }

  start(intervalMs: number): void {
    if (intervalMs > 0) this.#parts.context.timers.every(intervalMs, () => this.#check());
  }

  /** The hub begins again. */
  reset(): void {
    this.#round++;
    this.#changesBefore.clear();
  }

  #check(): void {
    const { store, gate, context } = this.#parts;
    if (this.#isRunning || !gate.ready) return;
    this.#isRunning = true;
    const round = this.#round;
    store
      .ask<'digests'>({ type: 'digests' }, { deadlineMs: ASK_DEADLINE_MS })
      .then(({ revision, resources }) => {
        gate.pass({ kind: 'exact', revision }, (refusal) => {
          if (refusal === undefined && round === this.#round) this.#compare(revision, resources, round);
          else this.#isRunning = false;
        });
      })
      .catch((error: unknown) => {
        this.#isRunning = false;
        context.log.debug({ err: error }, 'self-check put off');
      });
  }

  #compare(revision: number, resources: readonly ResourceDigest[], round: number): void {
    const { context, pin, release } = this.#parts;
    const pinned = pin();
    const { whole, cut } = this.#cachesAt(revision);
    const all = whole.map((cache) => this.#heldAt(cache, revision));
    let next = 0;
    const slice = (): void => {
      let left = SLICE_ENTRIES;
      while (left > 0 && next < all.length && round === this.#round) {
        left = this.#addUp(all[next]!, left);
        if (left > 0) next++;
      }
      if (next < all.length && round === this.#round) {
        context.timers.soon(slice);
        return;
      }
      release(pinned);
      this.#isRunning = false;
      const judged = resources.filter(({ storageKey }) => !cut.has(storageKey));
      if (round === this.#round) this.#judge(revision, judged, all);
    };
    slice();
  }

  /** Which types can be told as of a revision; of the others what was then is forgotten, as of one whose definition has gone. */
  #cachesAt(revision: number): { readonly whole: readonly ResourceCache[]; readonly cut: ReadonlySet<string> } {
    const all = [...this.#parts.caches()];
    const whole = all.filter(({ oldest }) => oldest <= revision);
    const cut = all.filter(({ oldest }) => oldest > revision).map(({ storageKey }) => storageKey);
    return { whole, cut: new Set(cut) };
  }

  /** The present state, with sums that begin at what undoes the changes since the revision. */
  #heldAt(cache: ResourceCache, revision: number): Held {
    const { events, storageKey } = cache;
    const held = { storageKey, objects: 0, digest: 0, changes: 0, entries: cache.tree.clone().values() };
    const first = cache.eventsAfter(revision);
    for (let index = first; index < events.length; index++) {
      const { entry, deleted, previous } = events[index]!;
      if (!deleted) this.#count(held, entry, -1);
      if (previous !== undefined) this.#count(held, previous, 1);
    }
    return { ...held, changes: cache.applied - (events.length - first) };
  }

  /** Adds up to `most` entries; answers how many more may be added, none while there are entries left. */
  #addUp(held: Held, most: number): number {
    for (let left = most; left > 0; left--) {
      const { done, value } = held.entries.next();
      if (done === true) return left;
      this.#count(held, value, 1);
    }
    return 0;
  }

  /** By what its record says: bytes that were overwritten count as another object. */
  #count(held: { objects: number; digest: number }, entry: Entry, times: 1 | -1): void {
    held.objects += times;
    held.digest = (held.digest + times * this.#digestOf(entry)) >>> 0;
  }

  /** Of a record that lies nowhere, or not where it should, that of no object: that is what is looked for. */
  #digestOf({ slab: number, offset }: Entry): number {
    try {
      return recordDigest(this.#parts.slabs.slab(number), offset);
    } catch {
      return UNREADABLE;
    }
  }

  #judge(revision: number, resources: readonly ResourceDigest[], all: readonly Held[]): void {
    const { context, onDifference } = this.#parts;
    const { metrics, log } = context;
    const helds = new Map(all.map((held) => [held.storageKey, held]));
    const stored = new Map(resources.map((resource) => [resource.storageKey, resource]));
    let isSame = true;
    for (const storageKey of new Set([...stored.keys(), ...helds.keys()])) {
      const { objects, digest, changes } = helds.get(storageKey) ?? NOTHING;
      const expected = stored.get(storageKey) ?? NOTHING;
      const changesBefore = expected.changes - changes;
      const isCounted = (this.#changesBefore.get(storageKey) ?? changesBefore) === changesBefore;
      this.#changesBefore.set(storageKey, changesBefore);
      if (objects === expected.objects && digest === expected.digest && isCounted) continue;
      isSame = false;
      metrics.counter(DIVERGENCE_METRIC, DIVERGENCE_HELP, { resource: storageKey }).add(1);
      log.error(
        { resource: storageKey, revision, objects, storeObjects: expected.objects },
        'the hub does not hold what the store does',
      );
    }
    metrics.gauge(CHECKED_METRIC, 'The revision this hub was last compared with the store at.').set(revision);
    if (!isSame) onDifference();
  }
}

/** As good as any other number that no key and revision are likely to have. */
const UNREADABLE = 1;
const NOTHING = { objects: 0, digest: 0, changes: 0 } as const;
export const DIVERGENCE_METRIC = 'orch_hub_divergence_total';
export const CHECKED_METRIC = 'orch_hub_checked_revision';
const DIVERGENCE_HELP = 'Times that what this hub holds of a resource was not what the store holds.';
