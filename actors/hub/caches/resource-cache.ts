// The objects of one resource type as the hub holds them: an ordered tree of the present, the events of the history
// window, and checkpoints between, so that any revision inside the window can be read. Knows nothing of watchers.

import sortedBTree from 'sorted-btree';
import bulk from 'sorted-btree/extended/bulkLoad.js';
import { recordKey, recordRevision, type Slab } from '../../../storage/records/slab-record.ts';
import { compareTexts } from '../../../values/compare-texts.ts';
import { firstIndex } from '../../../values/first-index.ts';
import { EntriesByName } from './entries-by-name.ts';

const { default: BTree } = sortedBTree;

/** One object version: where its record lies. `slab` and `offset` change when the store moves the record. */
export interface Entry {
  /** `<namespace>/<name>`. */
  readonly key: string;
  readonly revision: number;
  slab: number;
  offset: number;
}

/** One change. `entry` of a removal is the object's last state, stamped with the removal's revision. */
export interface CacheEvent {
  readonly revision: number;
  readonly deleted: boolean;
  readonly entry: Entry;
  /** What it replaced; undefined for a creation. */
  readonly previous: Entry | undefined;
}

type ChangingTree = InstanceType<typeof BTree<string, Entry>>;

/** A state to be read. Only its cache changes one: it has found entries beside it. */
export type Tree = Pick<
  ChangingTree,
  'size' | 'get' | 'maxKey' | 'keys' | 'values' | 'entries' | 'toArray' | 'forRange' | 'clone'
>;

/** Entries in a node of a tree: the library's own choice. */
const NODE_ENTRIES = 32;

interface Checkpoint {
  readonly revision: number;
  readonly tree: Tree;
}

/** Events between two checkpoints: replaying this many takes about a millisecond; a checkpoint costs 28 µs and 2.4 KB. */
const CHECKPOINT_EVENTS = 4096;
/** Events beyond the most that are taken out together, at least. */
const TRIMMED_MIN = 64;
/** Trees of past revisions kept because chunked lists come back to them. */
const RECENT_TREES_MAX = 16;

export class ResourceCache {
  readonly storageKey: string;
  /** What the store's keys of these objects begin with. */
  readonly keyPrefix: Buffer;
  #tree: ChangingTree = new BTree<string, Entry>(undefined, compareTexts, NODE_ENTRIES);
  readonly #read = new EntriesByName<Entry>();
  readonly events: CacheEvent[] = [];
  /** Changes applied since the present state was taken over. */
  applied = 0;
  #checkpoints: Checkpoint[] = [];
  #recent: Checkpoint[] = [];
  #eventsSinceCheckpoint = 0;
  readonly #checkpointEvents: number;
  readonly #eventsMax: number;
  /** What went beyond the most events that there may be. */
  #forgotten = 0;
  /** When its type went, where it has. */
  #endedAt: number | undefined;

  /** `eventsMax`: changes that can be asked for; `checkpointEvents`: events between two checkpoints. */
  constructor(storageKey: string, eventsMax = Number.POSITIVE_INFINITY, checkpointEvents: number = CHECKPOINT_EVENTS) {
    this.storageKey = storageKey;
    this.#eventsMax = eventsMax;
    this.keyPrefix = Buffer.from(`${storageKey}/`);
    this.#checkpointEvents = checkpointEvents;
  }

  /** The entry of a record of this type. */
  entryAt(slab: Slab, slabNumber: number, offset: number): Entry {
    // Read without the prefix and not cut off it: a part of a longer string keeps that, and is slow to compare.
    const key = recordKey(slab, offset, this.keyPrefix.length);
    return { key, revision: recordRevision(slab, offset), slab: slabNumber, offset };
  }

  get tree(): Tree {
    return this.#tree;
  }

  /** The present entry of an object. */
  entryOf(namespace: string, name: string): Entry | undefined {
    const recent = this.#read.get(namespace, name);
    if (recent !== undefined) return recent;
    const entry = this.#tree.get(`${namespace}/${name}`);
    if (entry !== undefined) this.#read.missed(namespace, name, entry);
    return entry;
  }

  /** Takes the live objects of a present state, which come nearly always in the order of their keys. */
  load(entries: Entry[]): void {
    let previous = '';
    const isSorted = entries.every(({ key }) => {
      const follows = previous < key;
      previous = key;
      return follows;
    });
    if (!isSorted) entries.sort((a, b) => compareTexts(a.key, b.key));
    const keys = entries.map(({ key }) => key);
    this.#read.clear();
    this.#tree = bulk.bulkLoad(keys, entries, NODE_ENTRIES, compareTexts) as unknown as ChangingTree;
  }

  /** Takes an event of a present state's history, whose effect the tree holds already. */
  recall(event: CacheEvent): void {
    this.events.push(event);
    this.#trim();
  }

  /** The first revision whose state, and what followed it, can be asked for here: the store may have forgotten more. */
  get oldest(): number {
    const over = this.events.length - this.#eventsMax;
    return over > 0 ? Math.max(this.events[over - 1]!.revision, this.#forgotten) : this.#forgotten;
  }

  /** Applies the next change. */
  apply(entry: Entry, deleted: boolean): CacheEvent {
    const last = this.events.at(-1)?.revision ?? 0;
    // Between revisions only: a revision's events belong together.
    if (this.#eventsSinceCheckpoint >= this.#checkpointEvents && entry.revision > last) {
      this.#checkpoints.push({ revision: last, tree: this.#tree.clone() });
      this.#eventsSinceCheckpoint = 0;
    }
    const previous = this.#tree.get(entry.key);
    if (previous !== undefined) this.#read.forget(previous);
    if (deleted) this.#tree.delete(entry.key);
    else this.#tree.set(entry.key, entry);
    const event: CacheEvent = { revision: entry.revision, deleted, entry, previous };
    this.events.push(event);
    this.applied++;
    this.#eventsSinceCheckpoint++;
    this.#trim();
    return event;
  }

  /** Now and then, since what is taken out moves the rest. */
  #trim(): void {
    if (this.events.length <= this.#eventsMax * 1.25 + TRIMMED_MIN) return;
    this.#forgotten = this.oldest;
    this.compact(this.#forgotten);
  }

  /** The store moved a record: same object, same revision, another place. */
  moved({ key, revision, slab, offset }: Entry): void {
    const entry = this.#tree.get(key);
    if (entry === undefined || entry.revision !== revision) return;
    entry.slab = slab;
    entry.offset = offset;
  }

  /** What was there up to a revision cannot be asked for any more: it was of a type that has gone. */
  end(revision: number): void {
    this.#forgotten = Math.max(this.#forgotten, revision);
    this.#endedAt = revision;
    this.compact(revision);
  }

  /** True of one whose type went at a revision that nobody can ask for any more, and did not come again: a new cache would answer the same. */
  isOver(compactedRevision: number): boolean {
    const isPast = this.#endedAt !== undefined && this.#endedAt <= compactedRevision;
    return isPast && this.events.length === 0 && this.tree.size === 0;
  }

  /** Forgets events up to a revision, and the trees of states before it. */
  compact(upToRevision: number): void {
    const kept = this.eventsAfter(upToRevision);
    if (kept > 0) this.events.splice(0, kept);
    this.#checkpoints = this.#checkpoints.filter(({ revision }) => revision >= upToRevision);
    this.#recent = this.#recent.filter(({ revision }) => revision >= upToRevision);
  }

  /** Index of the first event after a revision. */
  eventsAfter(revision: number): number {
    return firstIndex(0, this.events.length, (index) => this.events[index]!.revision > revision);
  }

  /** The state at a revision not before the window: the present one, or a copy. Never change what it returns. */
  treeAt(revision: number): Tree {
    const target = this.eventsAfter(revision);
    if (target === this.events.length) return this.tree;
    const recent = this.#recent.find((tree) => tree.revision === revision);
    if (recent !== undefined) return recent.tree;
    const tree = this.#rebuild(revision, target);
    this.#recent.push({ revision, tree });
    if (this.#recent.length > RECENT_TREES_MAX) this.#recent.shift();
    return tree;
  }

  /** Keeps the state at a revision, the present one or one that is not changed any more, findable for the chunks of a list that follow. */
  remember(revision: number, tree: Tree): void {
    if (this.#recent.some((recent) => recent.revision === revision)) return;
    this.#recent.push({ revision, tree: tree === this.#tree ? tree.clone() : tree });
    if (this.#recent.length > RECENT_TREES_MAX) this.#recent.shift();
  }

  /** Starts from the nearest later state and undoes what came after the revision. */
  #rebuild(revision: number, target: number): Tree {
    const later = this.#checkpoints.find((checkpoint) => checkpoint.revision >= revision);
    const base = later ?? { revision: Number.MAX_SAFE_INTEGER, tree: this.tree };
    const tree = base.tree.clone();
    for (let i = this.eventsAfter(base.revision) - 1; i >= target; i--) {
      const { entry, previous } = this.events[i]!;
      if (previous === undefined) tree.delete(entry.key);
      else tree.set(previous.key, previous);
    }
    return tree;
  }
}
