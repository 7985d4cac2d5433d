// The objects of extension servers that are owned or on their way out, as they were listed last: a part of the ownership graph. They are
// not followed, but listed from time to time (remote-listings.ts). Decides nothing about them.
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { RemoteListing, RemoteObject, RemoteType } from '../../../api/aggregation/remote-object.ts';
import { textAt } from '../../../api/json/object-fields.ts';
import { apiVersionOf } from '../../../api/resources/resource-table.ts';
import { type Due, NOTHING, type Plan } from '../controller.ts';
import type { PersistedType } from '../options.ts';
import type { RemoteListings } from '../remote-listings.ts';
import { ownershipOf } from './owner-references.ts';
import type { GraphNode, Ownership, OwnershipGraph } from './ownership-graph.ts';

export interface RemoteObjectsParts {
  readonly due: Due;
  readonly graph: OwnershipGraph;
  readonly remotes: Pick<RemoteGroups, 'isEmpty' | 'at'>;
  readonly listings: RemoteListings;
  /** `isOwnedAnew`: as `OwnershipGraph.update` answers. */
  readonly onChanged: (node: GraphNode, before: Ownership, isOwnedAnew: boolean) => void;
  readonly onGone: (node: GraphNode) => void;
}

export class RemoteObjects {
  readonly #parts: RemoteObjectsParts;
  readonly #nodes = new Map<string, GraphNode>();
  #isWhole = false;

  constructor(parts: RemoteObjectsParts) {
    this.#parts = parts;
    const { due, listings } = parts;
    listings.tell({ due, take: (listing) => this.#take(listing) });
  }

  /** All that there is was listed: what an owner waits for is known. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The graph is empty. */
  reset(): void {
    this.#nodes.clear();
    this.#isWhole = false;
    this.#parts.listings.reset();
  }

  /** Of `LISTING_KEY`: begins a listing when it is time. */
  plan(): Plan {
    const { listings, remotes } = this.#parts;
    if (!remotes.isEmpty) return listings.plan();
    for (const node of this.#nodes.values()) this.#forget(node);
    return NOTHING;
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

function placeOf({ group, plural }: Pick<RemoteType, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

function persistedType(type: RemoteType): PersistedType {
  const { group, version } = type;
  return { ...type, apiVersion: apiVersionOf(group, version), storageKey: `elsewhere ${placeOf(type)}` };
}
