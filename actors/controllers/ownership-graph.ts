// Which objects there are, by uid, and which of them own which. Every object costs a small node; only what owns or is
// owned costs more. Knows nothing of what follows from ownership.
import type { PersistedType } from './options.ts';

/** One of an object's metadata.ownerReferences, as it is written. Frozen by convention: dependents share it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** How an object is being deleted: `plain` waits for nothing of ours. */
export type DeletionState = 'none' | 'plain' | 'foreground' | 'orphan';

/** What matters of an object that is owned or on its way out. */
export interface Ownership {
  /** The resourceVersion this is from. */
  readonly revision: number;
  readonly references: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly deletion: DeletionState;
}

/** Of an object that nobody owns and that is not being deleted. */
export const UNOWNED: Ownership = { revision: 0, references: [], finalizers: [], deletion: 'none' };

/** An object that exists. */
export interface GraphNode {
  readonly uid: string;
  readonly type: PersistedType;
  readonly namespace: string;
  readonly name: string;
  /** Changed by the graph alone. */
  ownership: Ownership;
  /** Its users have been told of an owner that cannot be one. */
  isReported: boolean;
}

/** What dependents say of one owner, which need not exist. */
interface Owner {
  readonly dependents: Set<GraphNode>;
  /** References to it that dependents share: those of one owner are nearly always the same. */
  readonly shared: OwnerReference[];
}

const SHARED_MAX = 4;
const NOBODY: ReadonlySet<GraphNode> = new Set();

export class OwnershipGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #owners = new Map<string, Owner>();

  clear(): void {
    this.#nodes.clear();
    this.#owners.clear();
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  nodes(): Iterable<GraphNode> {
    return this.#nodes.values();
  }

  /** The objects that name this uid as an owner, whether or not it is theirs to name. */
  dependentsOf(uid: string): ReadonlySet<GraphNode> {
    return this.#owners.get(uid)?.dependents ?? NOBODY;
  }

  add(uid: string, type: PersistedType, namespace: string, name: string): GraphNode {
    const node = { uid, type, namespace, name, ownership: UNOWNED, isReported: false };
    this.#nodes.set(uid, node);
    return node;
  }

  /** Answers the node that was removed. */
  remove(uid: string): GraphNode | undefined {
    const node = this.#nodes.get(uid);
    if (node === undefined) return undefined;
    this.#nodes.delete(uid);
    this.#unlink(node);
    return node;
  }

  /** Takes over what an object says now. True when its owner references are not what they were. */
  update(node: GraphNode, ownership: Ownership): boolean {
    const before = node.ownership;
    if (sameReferences(before.references, ownership.references)) {
      node.ownership = ownership === UNOWNED ? UNOWNED : { ...ownership, references: before.references };
      return false;
    }
    this.#unlink(node);
    node.ownership = { ...ownership, references: ownership.references.map((reference) => this.#link(node, reference)) };
    node.isReported = false;
    return true;
  }

  /** Answers the reference to be kept: the one that others have already, where there is one. */
  #link(node: GraphNode, reference: OwnerReference): OwnerReference {
    let owner = this.#owners.get(reference.uid);
    if (owner === undefined) {
      owner = { dependents: new Set(), shared: [] };
      this.#owners.set(reference.uid, owner);
    }
    owner.dependents.add(node);
    const shared = owner.shared.find((other) => sameReference(other, reference));
    if (shared !== undefined) return shared;
    if (owner.shared.length < SHARED_MAX) owner.shared.push(reference);
    return reference;
  }

  #unlink(node: GraphNode): void {
    for (const { uid } of node.ownership.references) {
      const owner = this.#owners.get(uid);
      owner?.dependents.delete(node);
      if (owner?.dependents.size === 0) this.#owners.delete(uid);
    }
  }
}

function sameReferences(left: readonly OwnerReference[], right: readonly OwnerReference[]): boolean {
  return left.length === right.length && left.every((reference, index) => sameReference(reference, right[index]!));
}

function sameReference(left: OwnerReference, right: OwnerReference): boolean {
  return (
    left.uid === right.uid &&
    left.name === right.name &&
    left.kind === right.kind &&
    left.apiVersion === right.apiVersion &&
    left.controller === right.controller &&
    left.blockOwnerDeletion === right.blockOwnerDeletion
  );
}
