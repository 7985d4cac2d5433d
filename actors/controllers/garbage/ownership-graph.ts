// Which objects own which. What is not owned, and is not on its way out, is only known by where its record lies; the others have
// a node. Knows nothing of what follows from ownership.

import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import { parseKey } from '../../../storage/object-key.ts';
import type { FollowedRecords, RecordPlace } from '../../../storage/records/followed-records.ts';
import { GroupedSets } from '../../../values/grouped-sets.ts';
import type { PersistedType } from '../options.ts';

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
  /** The resourceVersion this is from; a text where another server gave it. */
  readonly revision: number | string;
  readonly references: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly deletion: DeletionState;
}

/** Of an object that nobody owns and that is not being deleted. */
export const UNOWNED: Ownership = { revision: 0, references: [], finalizers: [], deletion: 'none' };

/** Which object one is, or was. */
export interface ObjectIdentity {
  readonly uid: string;
  readonly type: PersistedType;
  readonly namespace: string;
  readonly name: string;
}

/** An object that exists. */
export interface GraphNode extends ObjectIdentity {
  /** Changed by the graph alone. */
  ownership: Ownership;
  /** The owner that cannot be one of which its users have been told. */
  reportedUid: string | undefined;
  /** Another server has it. */
  readonly isElsewhere?: true;
}

/** What dependents say of one owner, which need not exist. */
interface Owner {
  readonly dependents: Set<GraphNode>;
  /** References to it that dependents share: those of one owner are nearly always the same. */
  readonly shared: OwnerReference[];
  /** Those that dependents take it for, as `kindKey` has them. */
  readonly kinds: string[];
  /** What it was, once it is gone: its type may be gone as well by the time a dependent is looked at. */
  gone: ObjectIdentity | undefined;
}

const SHARED_MAX = 4;
const NOBODY: ReadonlySet<GraphNode> = new Set();

/** Tag of the records of which there is a node. */
const NODE = 1;

export class OwnershipGraph {
  readonly #typeOf: (storageKey: string) => PersistedType | undefined;
  readonly #records: FollowedRecords;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #owners = new Map<string, Owner>();
  /** The uids of owners by the kinds that dependents take them for: what a kind owns is found without looking at all that is owned. */
  readonly #byKind = new GroupedSets();

  /** `records`: of all objects that have a uid; told here of the same events as others who share them. */
  constructor(records: FollowedRecords, typeOf: (storageKey: string) => PersistedType | undefined) {
    this.#records = records;
    this.#typeOf = typeOf;
  }

  clear(): void {
    this.#records.clear();
    this.#nodes.clear();
    this.#owners.clear();
    this.#byKind.clear();
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid) ?? this.#plainNode(uid);
  }

  /** Takes an object's record as it is now. True when there is no node of it. */
  put(at: RecordPlace): boolean {
    return this.#records.put(at) !== NODE;
  }

  moved(at: RecordPlace): void {
    this.#records.moved(at);
  }

  /** The nodes of what is owned or on its way out, or was. */
  nodes(): Iterable<GraphNode> {
    return this.#nodes.values();
  }

  /** The objects that name this uid as an owner, whether or not it is theirs to name. */
  dependentsOf(uid: string): ReadonlySet<GraphNode> {
    return this.#owners.get(uid)?.dependents ?? NOBODY;
  }

  /** The objects that name an owner of a kind, in whatever version or case, and others that name the same owner. */
  *dependentsOfKind({ group, kind }: Pick<PersistedType, 'group' | 'kind'>): Iterable<GraphNode> {
    for (const uid of this.#byKind.of(kindKey(group, kind))) yield* this.dependentsOf(uid);
  }

  /** Makes a node of an object whose record has been put. */
  add(uid: string, type: PersistedType, namespace: string, name: string): GraphNode {
    this.removeElsewhere(uid);
    const node = { uid, type, namespace, name, ownership: UNOWNED, reportedUid: undefined };
    this.#nodes.set(uid, node);
    this.#records.tag(uid, NODE);
    return node;
  }

  /** Makes a node of an object that another server has, of which there is no record here. */
  addElsewhere(object: ObjectIdentity): GraphNode {
    const node = { ...object, ownership: UNOWNED, reportedUid: undefined, isElsewhere: true } as const;
    this.#nodes.set(object.uid, node);
    return node;
  }

  /** Forgets an object that another server has, if one is known. */
  removeElsewhere(uid: string): void {
    const node = this.#nodes.get(uid);
    if (node?.isElsewhere !== true) return;
    this.#nodes.delete(uid);
    this.#unlink(node);
  }

  /** What an owner was that has gone, while there are objects yet that named it then. */
  goneOwner(uid: string): ObjectIdentity | undefined {
    return this.#owners.get(uid)?.gone;
  }

  /** Forgets an object. Answers its node, if there was one. */
  remove(object: ObjectIdentity, at: RecordPlace): GraphNode | undefined {
    const { uid } = object;
    const owner = this.#owners.get(uid);
    if (owner !== undefined) owner.gone = object;
    this.#records.remove(at);
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
    return true;
  }

  #plainNode(uid: string): GraphNode | undefined {
    const key = this.#records.keyOf(uid);
    if (key === undefined) return undefined;
    const { storageKey, namespace, name } = parseKey(key);
    const type = this.#typeOf(storageKey);
    return type && { uid, type, namespace, name, ownership: UNOWNED, reportedUid: undefined };
  }

  /** Answers the reference to be kept: the one that others have already, where there is one. */
  #link(node: GraphNode, reference: OwnerReference): OwnerReference {
    let owner = this.#owners.get(reference.uid);
    if (owner === undefined) {
      owner = { dependents: new Set(), shared: [], kinds: [], gone: undefined };
      this.#owners.set(reference.uid, owner);
    }
    owner.dependents.add(node);
    const shared = owner.shared.find((other) => sameReference(other, reference));
    if (shared !== undefined) return shared;
    this.#noteKind(owner, reference);
    if (owner.shared.length < SHARED_MAX) owner.shared.push(reference);
    return reference;
  }

  #unlink(node: GraphNode): void {
    for (const { uid } of node.ownership.references) {
      const owner = this.#owners.get(uid);
      owner?.dependents.delete(node);
      if (owner?.dependents.size === 0) this.#forgetOwner(uid, owner);
    }
  }

  #noteKind({ kinds }: Owner, { apiVersion, kind, uid }: OwnerReference): void {
    const key = kindKey(splitApiVersion(apiVersion).group, kind);
    if (this.#byKind.of(key).has(uid)) return;
    kinds.push(key);
    this.#byKind.add(key, uid);
  }

  #forgetOwner(uid: string, { kinds }: Owner): void {
    this.#owners.delete(uid);
    for (const key of kinds) this.#byKind.remove(key, uid);
  }
}

/** References may name a kind in small letters. */
function kindKey(group: string, kind: string): string {
  return `${group} ${kind.toLowerCase()}`;
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
