// Deletes what only absent owners hold on to, and carries out foreground deletion and orphaning, as Kubernetes 1.21's
// garbage collector does. Follows every persisted type, and parses an object only when it is owned or being deleted.
// An owner in another namespace is as good as absent, and an event says so. Never deletes an object with an owner that cannot be
// looked up, or one without a namespace for an owner that has one. Owners that extension servers have are asked for
// (remote-owners.ts); those servers' own objects are listed from time to time (remote-objects.ts).
import { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../../api/metadata/deletion.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { FollowedRecords } from '../../../storage/records/followed-records.ts';
import { type Controller, type Due, NOTHING, type Plan, type Write, type WriteOutcome } from '../controller.ts';
import type { CustomTypes } from '../custom-types.ts';
import { controllerIdentity } from '../identities.ts';
import type { PersistedType } from '../options.ts';
import { noteApiService } from '../remote-events.ts';
import { LISTING_KEY, type RemoteListings } from '../remote-listings.ts';
import { deletion, finalizerPatch, policyOf, referencesPatch } from './garbage-writes.ts';
import { misplacedOwnerEvent } from './misplaced-owner-event.ts';
import { ownershipOf } from './owner-references.ts';
import { isMeant, namesKind, type OwnerRelation, OwnerTypes, relationOfDeletion } from './owner-types.ts';
import { type GraphNode, type OwnerReference, type Ownership, OwnershipGraph, UNOWNED } from './ownership-graph.ts';
import { RemoteObjects } from './remote-objects.ts';
import { LOOK_AGAIN_MS, type LookUpOwner, RemoteOwners } from './remote-owners.ts';

/** An owner elsewhere is asked for again. */
const LATER: Plan = { writes: [], againAfterMs: LOOK_AGAIN_MS };
/** Of an owner that holds nobody any more. */
const OVER: ReadonlySet<OwnerRelation> = new Set(['absent', 'misplaced', 'waiting']);
/** Objects looked at in search of a cycle of foreground deletions; longer cycles have to be broken by hand. */
const CYCLE_SEARCH_MAX = 1_000;

export interface CollectorParts {
  readonly types: readonly PersistedType[];
  readonly customTypes: Pick<CustomTypes, 'storageKey' | 'ofStorageKey' | 'ofKind'>;
  readonly lookUp: LookUpOwner;
  readonly listings: RemoteListings;
  /** Of all objects, by uid. */
  readonly records: FollowedRecords;
}

/** The garbage collector. Keys are uids. */
export class GarbageCollector implements Controller {
  readonly name = 'garbage-collector';
  readonly identity;
  readonly wants: readonly string[];
  readonly wantsCustom = true;
  readonly countsAbsence = true;
  readonly keysInFlightMax = 64;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #types: OwnerTypes;
  readonly #remotes: RemoteGroups;
  readonly #remoteOwners: RemoteOwners;
  readonly #remoteObjects: RemoteObjects;
  readonly #listings: RemoteListings;
  readonly #graph: OwnershipGraph;
  readonly #definitionsKey: string;
  /** Objects with an owner of a kind that is not served, by their uids: a definition may come that serves it. */
  readonly #puzzling = new Set<string>();
  #synced = false;

  constructor(clock: Clock, due: Due, dialect: Dialect, parts: CollectorParts) {
    const { types, customTypes, lookUp, listings, records } = parts;
    this.identity = controllerIdentity(dialect, 'generic-garbage-collector');
    this.#clock = clock;
    this.#due = due;
    this.#definitionsKey = customTypes.storageKey;
    this.#remotes = new RemoteGroups(dialect);
    this.#remoteOwners = new RemoteOwners(clock, due, lookUp);
    this.#types = new OwnerTypes(types, customTypes, this.#remotes);
    this.#graph = new OwnershipGraph(records, (storageKey) => this.#types.ofStorageKey(storageKey));
    this.#listings = listings;
    this.#remoteObjects = new RemoteObjects({
      due,
      graph: this.#graph,
      remotes: this.#remotes,
      listings,
      onChanged: (node, before, isOwnedAnew) => this.#changed(node, before, isOwnedAnew),
      onGone: (node) => this.#gone(node.uid, node),
    });
    const followed = [...this.#types.storageKeys(), this.#remotes.storageKey, this.#definitionsKey];
    this.wants = [...new Set(followed)];
  }

  reset(): void {
    this.#synced = false;
    this.#graph.clear();
    this.#puzzling.clear();
    this.#remotes.reset();
    this.#remoteOwners.clear();
    this.#remoteObjects.reset();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === this.#remotes.storageKey) this.#onApiService(event);
    else if (event.storageKey === this.#definitionsKey) this.#onDefinition();
    const type = this.#types.ofStorageKey(event.storageKey);
    if (type === undefined || !event.hasUid()) return;
    if (event.type === 'delete') this.#onGone(type, event);
    else this.#onPresent(type, event);
  }

  onMoved(event: FeedEvent): void {
    if (event.hasUid()) this.#graph.moved(event);
  }

  onSynced(): void {
    this.#synced = true;
    this.#due.add(LISTING_KEY);
    this.#reviewAll();
  }

  /** Owners of a group that another server answers for from here on, or no more, may be there or not. */
  #onApiService(event: FeedEvent): void {
    if (!noteApiService(this.#remotes, event)) return;
    this.#remoteOwners.clear();
    if (!this.#synced) return;
    this.#listings.stale();
    this.#reviewAll();
  }

  /** Who waited for a kind that is served from here on. */
  #onDefinition(): void {
    for (const uid of this.#puzzling) {
      const references = this.#graph.get(uid)?.ownership.references ?? [];
      if (references.some((reference) => !this.#types.isFollowed(reference))) continue;
      this.#puzzling.delete(uid);
      this.#due.add(uid);
    }
  }

  #reviewAll(): void {
    for (const { uid, ownership } of this.#graph.nodes())
      if (ownership !== UNOWNED && this.plan(uid) !== NOTHING) this.#due.add(uid);
  }

  plan(key: string): Plan {
    if (key === LISTING_KEY) return this.#remoteObjects.plan();
    const node = this.#graph.get(key);
    if (node === undefined || node.ownership === UNOWNED) return NOTHING;
    const { references, deletion } = node.ownership;
    const kept = references.filter((reference) => !this.#isGivenUp(node, reference));
    if (kept.length < references.length) return planOf(referencesPatch(node, kept));
    switch (deletion) {
      case 'plain':
        return NOTHING;
      case 'orphan':
        if (this.#mayBeMore(node)) return LATER;
        return this.#graph.dependentsOf(key).size > 0 ? NOTHING : planOf(finalizerPatch(node, ORPHAN_FINALIZER));
      case 'foreground':
        return this.#planForeground(node);
      case 'none':
        return this.#planOwned(node);
    }
  }

  /**
   * True while something is to be written because objects of a kind are gone. Once nobody serves that kind, only this process knows
   * that they were.
   */
  isBehind(kind: Pick<PersistedType, 'group' | 'kind'>): boolean {
    if (!this.#synced) return true;
    for (const { uid, ownership } of this.#graph.dependentsOfKind(kind)) {
      const isConcerned = ownership.references.some((reference) => namesKind(reference, kind));
      if (isConcerned && this.plan(uid).writes.length > 0) return true;
    }
    return false;
  }

  onOutcome(key: string, write: Write, outcome: WriteOutcome): void {
    // Nobody tells of what comes of it, nor of the change that it did not foresee.
    if (write.isElsewhere === true && (outcome.ok || outcome.code === 404 || outcome.code === 409))
      this.#listings.stale();
    // Said once: an event that is refused (its namespace may be on its way out) is not tried for ever.
    const node = this.#graph.get(key);
    if (node === undefined || write.verb !== 'create' || outcome.code < 200 || outcome.code >= 500) return;
    node.reportedUid = this.#stranger(node)?.uid;
    // What else there is to do has waited for that.
    this.#due.add(key);
  }

  #onPresent(type: PersistedType, event: FeedEvent): void {
    const wasPlain = this.#graph.put(event);
    // What ends and has no finalizers is on its way out by itself, and nothing of ours waits for it.
    const isPlain = !event.mayBeTied();
    if (isPlain && wasPlain) return;
    const uid = event.uid();
    const node = wasPlain ? this.#graph.add(uid, type, event.namespace, event.name) : this.#graph.get(uid)!;
    const before = node.ownership;
    if (isPlain && before === UNOWNED) return;
    const after = isPlain ? UNOWNED : ownershipOf(event.object(), event.revision);
    this.#changed(node, before, this.#graph.update(node, after));
  }

  /** What an object says is not what it said before. */
  #changed(node: GraphNode, before: Ownership, isOwnedAnew: boolean): void {
    const { uid, ownership } = node;
    if (isOwnedAnew) this.#remoteOwners.forget(node, before.references);
    if (!this.#synced) return;
    if (isOwnedAnew) {
      this.#due.add(uid);
      this.#reviewOwners(before.references);
    }
    if (before.deletion !== ownership.deletion) {
      this.#due.add(uid);
      this.#reviewDependents(uid);
    }
  }

  #onGone(type: PersistedType, event: FeedEvent): void {
    const uid = event.uid();
    this.#gone(uid, this.#graph.remove({ uid, type, namespace: event.namespace, name: event.name }, event));
  }

  /** `node`: of what was owned, or on its way out. */
  #gone(uid: string, node: GraphNode | undefined): void {
    this.#puzzling.delete(uid);
    if (node !== undefined) this.#remoteOwners.forget(node, node.ownership.references);
    if (!this.#synced) return;
    this.#reviewDependents(uid);
    if (node !== undefined) this.#reviewOwners(node.ownership.references);
  }

  #reviewDependents(uid: string): void {
    for (const dependent of this.#graph.dependentsOf(uid)) this.#due.add(dependent.uid);
  }

  /** Owners that wait for their dependents may have one less to wait for. */
  #reviewOwners(references: readonly OwnerReference[]): void {
    for (const { uid } of references) {
      const deletion = this.#graph.get(uid)?.ownership.deletion;
      if (deletion === 'foreground' || deletion === 'orphan') this.#due.add(uid);
    }
  }

  #planOwned(node: GraphNode): Plan {
    const { references, finalizers } = node.ownership;
    const relations = references.map((reference) => this.#relation(node, reference));
    const stranger = this.#stranger(node);
    if (stranger !== undefined && stranger.uid !== node.reportedUid)
      return planOf(misplacedOwnerEvent(node, stranger, this.#clock.nowMs()));
    if (relations.includes('unknown')) this.#puzzling.add(node.uid);
    const isOver = (relation: OwnerRelation) => OVER.has(relation);
    const isElsewhere = references.some(({ apiVersion }) => this.#types.isElsewhere(apiVersion));
    if (!relations.some(isOver) || relations.includes('impossible') || relations.includes('unknown'))
      return isElsewhere ? LATER : NOTHING;
    if (!relations.every(isOver)) {
      const kept = references.filter((_, index) => !isOver(relations[index]!));
      return planOf(referencesPatch(node, kept));
    }
    const isOwner = this.#graph.dependentsOf(node.uid).size > 0;
    const policy = relations.includes('waiting') && isOwner ? 'Foreground' : policyOf(finalizers);
    return planOf(deletion(node, policy));
  }

  /** Dependents of what another server has are known when all servers have said what they have. */
  #mayBeMore(node: GraphNode): boolean {
    return node.isElsewhere === true && !this.#remoteObjects.isWhole;
  }

  #planForeground(node: GraphNode): Plan {
    if (this.#mayBeMore(node)) return LATER;
    if (!this.#isBlocked(node)) return planOf(finalizerPatch(node, FOREGROUND_FINALIZER));
    if (!this.#isInCycle(node)) return NOTHING;
    // Everyone in the cycle waits for the next: this one lets its owners go first.
    const freed = node.ownership.references.map((reference) => ({ ...reference, blockOwnerDeletion: false }));
    return planOf(referencesPatch(node, freed));
  }

  /** The first reference to what is in another namespace, whatever else it says of its owner. */
  #stranger(node: GraphNode): OwnerReference | undefined {
    return node.ownership.references.find(({ uid }) => {
      const owner = this.#graph.get(uid);
      return owner !== undefined && owner.namespace !== '' && owner.namespace !== node.namespace;
    });
  }

  /** Who orphans gives up all that name its uid, wherever they are and whatever else they say of it. */
  #isGivenUp(node: GraphNode, reference: OwnerReference): boolean {
    if (this.#graph.get(reference.uid)?.ownership.deletion === 'orphan') return true;
    return this.#types.isElsewhere(reference.apiVersion) && this.#relation(node, reference) === 'orphaning';
  }

  #relation(node: GraphNode, reference: OwnerReference): OwnerRelation {
    const { uid } = reference;
    const owner = this.#graph.get(uid);
    if (!this.#types.isElsewhere(reference.apiVersion))
      return this.#types.relation(node, reference, owner, this.#graph.goneOwner(uid));
    // That it waits for its dependents may be known from the listing already.
    const isListed = owner?.isElsewhere === true && isMeant(owner, node, reference);
    const hold = isListed ? relationOfDeletion(owner.ownership.deletion) : 'solid';
    return hold === 'solid' ? this.#remoteOwners.relation(node, reference) : hold;
  }

  #isBlocked(owner: GraphNode): boolean {
    for (const dependent of this.#graph.dependentsOf(owner.uid)) if (this.#blocks(dependent, owner)) return true;
    return false;
  }

  /** True when one of the dependent's references is to the owner, which waits for it. */
  #blocks(dependent: GraphNode, owner: GraphNode): boolean {
    return dependent.ownership.references.some(
      (reference) =>
        reference.uid === owner.uid &&
        reference.blockOwnerDeletion === true &&
        this.#relation(dependent, reference) === 'waiting',
    );
  }

  /** True when the object waits, through others that are being deleted in the foreground too, for itself. */
  #isInCycle(start: GraphNode): boolean {
    const seen = new Set<GraphNode>();
    const open = [start];
    for (let owner = open.pop(); owner !== undefined && seen.size < CYCLE_SEARCH_MAX; owner = open.pop()) {
      for (const dependent of this.#graph.dependentsOf(owner.uid)) {
        if (dependent.ownership.deletion !== 'foreground' || seen.has(dependent)) continue;
        if (!this.#blocks(dependent, owner)) continue;
        if (dependent === start) return true;
        seen.add(dependent);
        open.push(dependent);
        if (seen.size >= CYCLE_SEARCH_MAX) break;
      }
    }
    return false;
  }
}

function planOf(write: Write): Plan {
  return { writes: [write] };
}
