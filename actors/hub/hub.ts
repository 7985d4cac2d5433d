// The watch hub: every stored object as this thread reads it, and everyone who watches. Follows the store's
// publications and answers from shared memory; holds no socket (the ingress of its thread does) and no object's bytes.

import type { ProtobufRecords } from '../../rendering/protobuf-records.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { forEachRecord } from '../../storage/following/publication.ts';
import { DELETED, recordType } from '../../storage/records/slab-record.ts';
import { type SlabView, ThreadSlabs } from '../../storage/records/thread-slabs.ts';
import { SharedState } from '../../storage/shared-state.ts';
import { StoreSubscription } from '../following/store-subscription.ts';
import type { PresentState, StoreBatch } from '../store/protocol.ts';
import type { ResourceCache } from './caches/resource-cache.ts';
import { ResourceCaches } from './caches/resource-caches.ts';
import { UnreadableObjects } from './caches/unreadable-objects.ts';
import type { WatchWindows } from './caches/windows.ts';
import { HUB_FACTS } from './facts.ts';
import { measureHub } from './hub-metrics.ts';
import { HubQuestions } from './hub-questions.ts';
import { type FollowedTypes, HubTypes } from './hub-types.ts';
import { Gatherings } from './lists/gatherings.ts';
import { ListAnswers } from './lists/list-answers.ts';
import type { HubProtocol } from './protocol.ts';
import { ReadGate } from './read-gate.ts';
import { SelfCheck } from './self-check.ts';
import type { HUB_SETTINGS } from './settings.ts';
import { FanOutPace } from './watches/fan-out-pace.ts';
import { Watchers } from './watches/watchers.ts';

export interface HubOptions {
  /** What the thread knows of types and groups, which follows what is applied here. */
  readonly types?: readonly FollowedTypes[];
  /** KnownType.storedFields by storageKey. */
  readonly selectableFields: (storageKey: string) => readonly string[];
  /** How far back each type can be asked about, and who is sent bookmarks. Absent: as far as the store remembers, everybody. */
  readonly windows?: WatchWindows;
  /** The annotation on the bookmark that ends a watch's initial events. */
  readonly initialEventsEndAnnotation: string;
  /** The thread's records as Protobuf. */
  readonly records: ProtobufRecords;
}

const BOOKMARK_CHECK_MS = 1000;

export class Hub implements Actor<HubProtocol> {
  readonly #context: ActorContext;
  readonly #records: ProtobufRecords;
  readonly #subscription: StoreSubscription;
  readonly #slabs: SlabView;
  readonly #caches: ResourceCaches;
  readonly #types: HubTypes;
  readonly #gate: ReadGate;
  readonly #watchers: Watchers;
  readonly #gatherings: Gatherings;
  readonly #questions: HubQuestions;
  readonly #selfCheck: SelfCheck;
  readonly #pace: FanOutPace;
  /** Lists in progress: the publication they began at. */
  readonly #pins = new Map<number, number>();
  readonly #unreadable = new UnreadableObjects();
  #nextPin = 1;
  #readerSlot = 0;
  #shared: SharedState | undefined;

  constructor(context: ActorContext, options: HubOptions) {
    this.#context = context;
    this.#records = options.records;
    this.#subscription = new StoreSubscription({
      store: context.ref('store'),
      subscription: { subscriber: context.name },
      timers: context.timers,
      onPresent: (present) => {
        this.#begin(present);
        return undefined;
      },
      onBatch: (batch) => this.#apply(batch),
      onLost: (reason) => this.#lost(reason),
      crash: (error) => context.crash(error),
    });
    this.#slabs = ThreadSlabs.of(context).viewOf(context.name);
    this.#caches = new ResourceCaches(options.windows?.sizeOf);
    this.#types = new HubTypes(options.types ?? [], this.#slabs, context.log);
    this.#gate = new ReadGate(context, context.ref('store'));
    this.#watchers = new Watchers({
      context,
      slabs: this.#slabs,
      records: options.records,
      ingress: context.ref('ingress'),
      selectableFields: options.selectableFields,
      initialEventsEndAnnotation: options.initialEventsEndAnnotation,
      position: () => this.#gate,
      release: (pin) => this.#release(pin),
    });
    const { gatheredEntriesMax: turnEntries } = context.settings as typeof HUB_SETTINGS;
    const pins = { pin: () => this.#pin(), release: (pin: number) => this.#release(pin) };
    const gatherings = new Gatherings({ timers: context.timers, turnEntries, ...pins });
    this.#gatherings = gatherings;
    this.#questions = new HubQuestions({
      gate: this.#gate,
      slabs: this.#slabs,
      caches: this.#caches,
      unreadable: this.#unreadable,
      gatherings,
      lists: new ListAnswers({ slabs: this.#slabs, gatherings, unreadable: this.#unreadable, ...pins }),
      watchers: this.#watchers,
      selectableFields: options.selectableFields,
      sendsBookmarks: (storageKey) => options.windows?.sendsBookmarks(storageKey) !== false,
    });
    this.#selfCheck = new SelfCheck({
      context,
      store: context.ref('store'),
      slabs: this.#slabs,
      gate: this.#gate,
      caches: () => this.#caches.values(),
      ...pins,
      onDifference: () => this.#subscription.restart('it does not hold what the store does'),
    });
    const { clock, timers, metrics } = context;
    this.#pace = new FanOutPace({ clock, timers, fanOut: () => this.#watchers.flush(), behind: () => this.#letGo() });
    measureHub(metrics, { watchers: this.#watchers, records: options.records, gate: this.#gate });
  }

  async start(): Promise<void> {
    await this.#subscription.start();
    this.#context.timers.every(BOOKMARK_CHECK_MS, () => this.#watchers.bookmark());
    const { selfCheckIntervalMs } = this.#context.settings as { readonly selfCheckIntervalMs: number };
    this.#selfCheck.start(selfCheckIntervalMs);
  }

  onMessage(message: MessageOf<HubProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'get':
        this.#questions.get(message, reply);
        return;
      case 'list':
        this.#questions.list(message, reply);
        return;
      case 'watch':
        this.#questions.watch(message, reply);
        return;
      case 'reach':
        this.#gate.pass({ kind: 'notOlderThan', revision: message.revision }, (refusal) => {
          reply.send(refusal ?? { revision: this.#gate.applied });
        });
        return;
      case 'flush':
        this.#gate.pass({ kind: 'any' }, () => {
          this.#watchers.flush();
          reply.send({});
        });
        return;
      case 'status':
        reply.send(this.#status());
        return;
      case 'storeBatch':
        this.#subscription.receive(message);
        return;
      case 'storeLost':
        this.#subscription.restart('the hub fell behind');
        return;
      case 'release':
        this.#release(message.pin);
        return;
      case 'watchParked':
        this.#watchers.park(message.watcher, message.deliveredRevision);
        return;
      case 'watchReady':
        this.#watchers.ready(message.watcher);
        return;
      case 'watchClosed':
        this.#watchers.close(message.watcher);
        return;
      default:
        unreachable(message);
    }
  }

  peerRestarted(name: string): void {
    if (name === 'store') this.#subscription.restart('the store restarted');
  }

  #status(): { ready: boolean; revision: number; watchers: number; objects: number } {
    const { objects } = this.#caches;
    return { ready: this.#gate.ready, revision: this.#gate.applied, watchers: this.#watchers.count, objects };
  }

  /** Nothing can be told from the present any more; watchers wait where they are. */
  #lost(reason: string): void {
    this.#context.log.warn({ reason }, 'hub begins again');
    if (this.#gate.ready) this.#watchers.suspend();
    this.#gate.shut();
    this.#selfCheck.reset();
    this.#gatherings.giveUp();
    // The epoch slot is no longer ours to write to.
    this.#shared = undefined;
  }

  #begin(present: PresentState): void {
    // One that others write to as well may have been restored from a backup meanwhile, and its versions be given again.
    const isKnown = !present.isShared || present.incarnation === this.#slabs.incarnation;
    this.#slabs.learn(present.slabs, present.incarnation);
    this.#caches.begin(present, this.#slabs);
    // Clients go on from what they have seen, as where the change is followed.
    for (const storageKey of this.#types.begin(this.#caches)) this.#endOf(storageKey);
    for (const [storageKey, revision] of this.#types.ended()) this.#caches.of(storageKey).end(revision);
    for (const storageKey of this.#unreadable.take(present.unreadable ?? [])) this.#endOf(storageKey);
    this.#records.clear();
    this.#gatherings.giveUp();
    this.#questions.begin(present.tokenKey);
    this.#readerSlot = present.readerSlot;
    this.#shared = new SharedState(present.sharedState);
    this.#gate.open(this.#shared, present.isShared, present.revision, present.compactedRevision, isKnown);
    this.#watchers.resume((storageKey) => this.#caches.of(storageKey), isKnown);
    // Only now: a watch that waited to be opened must find the others attached.
    this.#gate.release();
    this.#pace.due();
  }

  #apply(batch: StoreBatch): void {
    this.#slabs.learn(batch.newSlabs, batch.incarnation);
    forEachRecord(batch.runs, this.#slabs, (slab, slabNumber, offset) => {
      const cache = this.#caches.ofRecord(slab, offset);
      const entry = cache.entryAt(slab, slabNumber, offset);
      const isDeleted = recordType(slab, offset) === DELETED;
      const changed = this.#types.apply(cache, entry, isDeleted);
      this.#watchers.collect(cache, cache.apply(entry, isDeleted));
      // What is watched is shown otherwise: clients go on from what they have seen.
      if (changed === undefined) return;
      this.#endOf(changed);
      // One that is made anew under the name does not show what there was.
      if (isDeleted) this.#caches.of(changed).end(entry.revision);
    });
    forEachRecord(batch.movedRuns, this.#slabs, (slab, slabNumber, offset) => {
      const cache = this.#caches.ofRecord(slab, offset);
      cache.moved(cache.entryAt(slab, slabNumber, offset));
      this.#records.forget(slab, offset);
    });
    // What was readable up to there is shown first.
    if (batch.unreadable !== undefined)
      for (const storageKey of this.#unreadable.take(batch.unreadable)) this.#endOf(storageKey);
    if (batch.compactedRevision > this.#gate.compacted) {
      const isWatched = (cache: ResourceCache): boolean => this.#watchers.cohorts.get(cache) !== undefined;
      // The changes of a type that comes again are counted anew.
      if (this.#caches.compact(batch.compactedRevision, isWatched)) this.#selfCheck.reset();
    }
    this.#gate.advance(batch.lastRevision, batch.compactedRevision);
    this.#gate.release();
    // Of several that wait, the watches get one chunk.
    if (this.#context.hasWaitingMessages()) this.#pace.due();
    else this.#pace.came();
  }

  /** Ends the watches of a type, and does not open those that are not open yet. */
  #endOf(storageKey: string): void {
    this.#gatherings.giveUp(storageKey);
    this.#watchers.endOf(storageKey);
  }

  #pin(): number {
    const pin = this.#nextPin++;
    this.#pins.set(pin, this.#subscription.sequence);
    return pin;
  }

  #release(pin: number): void {
    if (this.#pins.delete(pin)) this.#pace.due();
  }

  /** The store is told what this thread no longer reads, which answers of the last turn may still have done. */
  #letGo(): void {
    let epoch = this.#subscription.sequence;
    for (const sequence of this.#pins.values()) if (sequence < epoch) epoch = sequence;
    this.#shared?.setReaderEpoch(this.#readerSlot, epoch);
  }
}

/** The hub as a placeable actor. */
export const hubActor: ActorDefinition<HubOptions> = {
  ...HUB_FACTS,
  create: (context, options) => new Hub(context, options),
};
