// The types that can own and be owned, and what a reference to an owner amounts to: whether its owner is there, is where
// owners may be, and what becomes of it. Pure.
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import type { CustomTypes } from '../custom-types.ts';
import type { PersistedType } from '../options.ts';
import type { DeletionState, GraphNode, ObjectIdentity, OwnerReference } from './ownership-graph.ts';

/**
 * `solid`: the owner is there. `absent`: nothing of that kind, name and uid is where it should be. `waiting`: it is being
 * deleted in the foreground. `orphaning`: it is being deleted and gives its dependents up. `misplaced`: it is in another
 * namespace, which is as good as absent. `impossible`: it has a namespace, and the dependent none. `unknown`: its kind is not
 * followed, or another server has its objects and has not said.
 */
export type OwnerRelation = 'solid' | 'absent' | 'waiting' | 'orphaning' | 'misplaced' | 'impossible' | 'unknown';

/** Types whose objects own nothing and are left alone when owned: they come in great numbers, and go by themselves. */
const IGNORED: ReadonlySet<string> = new Set(['core/events']);

export class OwnerTypes {
  readonly #byStorageKey = new Map<string, PersistedType>();
  readonly #byKind = new Map<string, PersistedType>();
  readonly #customTypes: Pick<CustomTypes, 'ofStorageKey' | 'ofKind'>;
  readonly #remotes: Pick<RemoteGroups, 'isEmpty' | 'at'>;

  /** `remotes`: what other servers answer for, even where there is a type of that name here. */
  constructor(
    types: readonly PersistedType[],
    customTypes: Pick<CustomTypes, 'ofStorageKey' | 'ofKind'>,
    remotes: Pick<RemoteGroups, 'isEmpty' | 'at'>,
  ) {
    this.#customTypes = customTypes;
    this.#remotes = remotes;
    for (const type of types) {
      if (IGNORED.has(type.storageKey)) continue;
      this.#byKind.set(kindKey(type.apiVersion, type.kind), type);
      // People write `deployment`, which the original takes too.
      this.#byKind.set(kindKey(type.apiVersion, type.kind.toLowerCase()), type);
      if (!this.#byStorageKey.has(type.storageKey)) this.#byStorageKey.set(type.storageKey, type);
    }
  }

  storageKeys(): readonly string[] {
    return [...this.#byStorageKey.keys()];
  }

  /** The type in the version that its objects are deleted and patched in. */
  ofStorageKey(storageKey: string): PersistedType | undefined {
    return this.#byStorageKey.get(storageKey) ?? this.#customTypes.ofStorageKey(storageKey);
  }

  /** Whether a reference's kind is one that is followed. */
  isFollowed(reference: OwnerReference): boolean {
    return this.#typeOf(reference) !== undefined;
  }

  #typeOf(reference: OwnerReference): PersistedType | undefined {
    return this.#byKind.get(kindKey(reference.apiVersion, reference.kind)) ?? this.#customKind(reference);
  }

  #customKind({ apiVersion, kind }: OwnerReference): PersistedType | undefined {
    const { group, version } = splitApiVersion(apiVersion);
    return this.#customTypes.ofKind(group, version, kind);
  }

  /** Whether another server has the objects of a group and version. */
  isElsewhere(apiVersion: string): boolean {
    if (this.#remotes.isEmpty) return false;
    const { group, version } = splitApiVersion(apiVersion);
    return this.#remotes.at(group, version) !== undefined;
  }

  /**
   * What a dependent's reference amounts to, given the object that has its uid, or the one that had it. Not of what is elsewhere.
   */
  relation(
    dependent: GraphNode,
    reference: OwnerReference,
    owner: GraphNode | undefined,
    gone: ObjectIdentity | undefined,
  ): OwnerRelation {
    const type = this.#typeOf(reference);
    // Dependents of what went with its definition are looked at when nobody knows its kind any more.
    if (type === undefined) return gone !== undefined && isMeant(gone, dependent, reference) ? 'absent' : 'unknown';
    if (type.namespaced && dependent.namespace === '') return owner === undefined ? 'unknown' : 'impossible';
    if (owner === undefined) return 'absent';
    if (owner.type.storageKey !== type.storageKey || owner.name !== reference.name) return 'absent';
    if (type.namespaced && owner.namespace !== dependent.namespace) return 'misplaced';
    return relationOfDeletion(owner.ownership.deletion);
  }
}

/** Of an owner that is there. */
export function relationOfDeletion(deletion: DeletionState): OwnerRelation {
  if (deletion === 'foreground') return 'waiting';
  return deletion === 'orphan' ? 'orphaning' : 'solid';
}

/** Whether a reference is to an object, as references have to be: by its kind and name, and from where it may be owned. */
export function isMeant(
  { type, namespace, name }: ObjectIdentity,
  dependent: GraphNode,
  reference: OwnerReference,
): boolean {
  const isThere = namespace === '' || namespace === dependent.namespace;
  return isThere && reference.name === name && namesKind(reference, type);
}

/** Whether a reference is to an object of a kind, in whatever version. */
export function namesKind(
  { apiVersion, kind: named }: OwnerReference,
  { group, kind }: Pick<PersistedType, 'group' | 'kind'>,
): boolean {
  return splitApiVersion(apiVersion).group === group && (named === kind || named === kind.toLowerCase());
}

function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}
