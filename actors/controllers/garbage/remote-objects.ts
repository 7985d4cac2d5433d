// The objects of extension servers that are owned or on their way out, as they were listed last: a part of the ownership graph. They are
// not followed: all are listed again from time to time, and soon after one was written to. Decides nothing about them.
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { RemoteListing, RemoteObject, RemoteType } from '../../../api/aggregation/remote-object.ts';
import { textAt } from '../../../api/json/object-fields.ts';
import { apiVersionOf } from '../../../api/resources/resource-table.ts';
import type { Clock } from '../../../runtime/environment.ts';
import { type Due, NOTHING, type Plan } from '../controller.ts';
import type { PersistedType } from '../options.ts';
import { ownershipOf } from './owner-references.ts';
import type { GraphNode, Ownership, OwnershipGraph } from './ownership-graph.ts';

/** Asks all extension servers. Rejects where nobody can. */
export type ListRemotes = () => Promise<RemoteListing>;

/** The key under which the next listing is due: no uid. */
export const LISTING_KEY = 'objects of extension servers';
/** From the end of one listing to the next: as often as the original asks which types there are. */
const LIST_AGAIN_MS = 30_000;
/** As much when something has been written. */
const LIST_SOON_MS = 1_000;
/** What lists for long is left alone for this many times as long. */
const REST_TIMES = 20;

export interface RemoteObjectsParts {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly due: Due;
  readonly graph: OwnershipGraph;
  readonly remotes: Pick<RemoteGroups, 'isEmpty' | 'at'>;
  readonly list: ListRemotes;
  /** `isOwnedAnew`: as `OwnershipGraph.update` answers. */
  readonly onChanged: (node: GraphNode, before: Ownership, isOwnedAnew: boolean) => void;
  readonly onGone: (node: GraphNode) => void;
}

export class RemoteObjects {
  readonly #parts: RemoteObjectsParts;
  readonly #nodes = new Map<string, GraphNode>();
  /** What was begun before the last `reset` is not listened to. */
  #epoch = 0;
  #isUnderWay = false;
  #isWhole = false;
  /** Monotonic time; undefined: none has ended. */
  #endedMs: number | undefined;
  #tookMs = 0;
  #isStale = false;

  constructor(parts: RemoteObjectsParts) {
    this.#parts = parts;
  }

  /** All that there is was listed: what an owner waits for is known. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The graph is empty. */
  reset(): void {
    this.#nodes.clear();
    this.#epoch++;
    this.#isUnderWay = false;
    this.#isWhole = false;
    this.#endedMs = undefined;
    this.#isStale = false;
  }

  /** The servers are others, or one of their objects has been written to. */
  stale(): void {
    this.#isStale = true;
    this.#parts.due.add(LISTING_KEY);
  }

  /** Of `LISTING_KEY`: begins a listing when it is time. */
  plan(): Plan {
    const { clock, remotes } = this.#parts;
    if (remotes.isEmpty) {
      for (const node of this.#nodes.values()) this.#forget(node);
      return NOTHING;
    }
    if (this.#isUnderWay) return NOTHING;
    const waitMs = this.#waitMs(clock.monotonicMs());
    if (waitMs > 0) return { writes: [], againAfterMs: waitMs };
    void this.#list();
    return NOTHING;
  }

  #waitMs(nowMs: number): number {
    if (this.#endedMs === undefined) return 0;
    const restMs = Math.max(this.#isStale ? LIST_SOON_MS : LIST_AGAIN_MS, REST_TIMES * this.#tookMs);
    return this.#endedMs + restMs - nowMs;
  }

  async #list(): Promise<void> {
    const { clock, due, list } = this.#parts;
    const epoch = this.#epoch;
    const begunMs = clock.monotonicMs();
    this.#isUnderWay = true;
    this.#isStale = false;
    const listing = await list().catch(() => NOTHING_SAID);
    if (epoch !== this.#epoch) return;
    this.#isUnderWay = false;
    this.#endedMs = clock.monotonicMs();
    this.#tookMs = this.#endedMs - begunMs;
    this.#take(listing);
    due.add(LISTING_KEY);
  }

  #take({ objects, types, isWhole }: RemoteListing): void {
    this.#isWhole = isWhole;
    const seen = new Set<string>();
    for (const object of objects) {
      const uid = textAt(object.metadata, 'uid');
      if (uid === '') continue;
      seen.add(uid);
      this.#takeOne(uid, object);
    }
    const listed = new Set(types.map(placeOf));
    const { remotes } = this.#parts;
    for (const [uid, node] of this.#nodes) {
      const { group, version } = node.type;
      // What a server that is there did not say this time, it may still have.
      if (seen.has(uid) || !(listed.has(placeOf(node.type)) || remotes.at(group, version) === undefined)) continue;
      this.#forget(node);
    }
  }

  #takeOne(uid: string, { type, metadata }: RemoteObject): void {
    const { due, graph, onChanged } = this.#parts;
    const known = graph.get(uid);
    // A server may show what is stored here under another name.
    if (known !== undefined && known.isElsewhere !== true) return;
    const [namespace, name] = [textAt(metadata, 'namespace'), textAt(metadata, 'name')];
    const node = known ?? graph.addElsewhere({ uid, type: persistedType(type), namespace, name });
    this.#nodes.set(uid, node);
    const before = node.ownership;
    const isOwnedAnew = graph.update(node, ownershipOf({ metadata }, textAt(metadata, 'resourceVersion')));
    if (before.revision === node.ownership.revision) return;
    // What was planned rests on what it was.
    due.add(uid);
    onChanged(node, before, isOwnedAnew);
  }

  #forget(node: GraphNode): void {
    const { graph, onGone } = this.#parts;
    this.#nodes.delete(node.uid);
    // Another has taken its place where it is stored here now.
    if (graph.get(node.uid) !== node) return;
    graph.removeElsewhere(node.uid);
    onGone(node);
  }
}

const NOTHING_SAID: RemoteListing = { objects: [], types: [], isWhole: false };

function placeOf({ group, plural }: Pick<RemoteType, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

function persistedType(type: RemoteType): PersistedType {
  const { group, version } = type;
  return { ...type, apiVersion: apiVersionOf(group, version), storageKey: `elsewhere ${placeOf(type)}` };
}
