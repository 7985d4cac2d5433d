// All open watches of one hub: cohorts get the batches of a turn at once; a watcher that begins, falls behind or waits for
// a full socket goes by itself from its position, a chunk at a time, until it has caught up. Nothing is kept for a slow
// watcher but its position. Whatever makes a watcher live, or speaks of the present to one, flushes first: live watchers
// have been sent all but what is pending, and nobody gets that twice.
import type { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import { Deadlines } from '../../../runtime/messages/deadlines.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { CacheEvent, ResourceCache } from '../caches/resource-cache.ts';
import type { WatchDeliveryProtocol, WatchQuery } from '../protocol.ts';
import type { HUB_SETTINGS } from '../settings.ts';
import { eventsAfter, takeInitial, takesLong } from './catch-up.ts';
import { CatchUpPace } from './catch-up-pace.ts';
import { CohortIndexes } from './cohort-indexes.ts';
import { FanOut } from './fan-out.ts';
import { Framing } from './framing.ts';
import { NO_CHUNK, WatchDelivery } from './watch-delivery.ts';
import { WatchMetrics } from './watch-metrics.ts';
import { type InitialState, Watcher, type WatcherOwner, type WatcherState } from './watcher.ts';

/** Watches may last so much longer than they are to: their timeouts are whole seconds. */
const TIMEOUT_TICK_MS = 250;

export interface WatchersOptions {
  readonly context: ActorContext;
  readonly slabs: SlabView;
  readonly records: ProtobufRecords;
  readonly ingress: Ref<WatchDeliveryProtocol>;
  readonly selectableFields: (storageKey: string) => readonly string[];
  /** The annotation that marks the end of initial events. */
  readonly initialEventsEndAnnotation: string;
  /** Where the hub stands: revisions applied and compacted. */
  readonly position: () => { applied: number; compacted: number };
  readonly release: (pin: number) => void;
}

export class Watchers implements WatcherOwner {
  readonly #options: WatchersOptions;
  readonly #watchers = new Map<number, Watcher>();
  readonly #cohorts: CohortIndexes;
  readonly #future = new Set<Watcher>();
  /** Still in their initial state, which holds slabs back. */
  readonly #beginning = new Set<Watcher>();
  /** Live watchers have been sent all up to here. */
  #sentThrough = 0;
  readonly #framing: Framing;
  readonly #fanOut: FanOut;
  readonly #delivery: WatchDelivery;
  readonly #pace: CatchUpPace;
  readonly #timeouts: Deadlines;
  /** The caches are not to be read. */
  #suspended = false;
  readonly #metrics: WatchMetrics;
  readonly #settings: typeof HUB_SETTINGS;

  constructor(options: WatchersOptions) {
    this.#options = options;
    const { slabs, selectableFields } = options;
    const { clock, metrics, timers, settings } = options.context;
    this.#settings = settings as typeof HUB_SETTINGS;
    this.#framing = new Framing(slabs, options.records, clock);
    this.#delivery = new WatchDelivery({
      ingress: options.ingress,
      timers,
      onRefused: (watchers) => {
        for (const id of watchers) this.close(id);
      },
    });
    this.#metrics = new WatchMetrics(metrics);
    this.#cohorts = new CohortIndexes({ selectableFields, clock, metrics: this.#metrics });
    this.#pace = new CatchUpPace({ clock, timers, next: (id) => this.#goOn(id) });
    this.#fanOut = new FanOut({
      clock,
      slabs,
      selectableFields,
      cohorts: this.#cohorts,
      framing: this.#framing,
      delivery: this.#delivery,
      metrics: this.#metrics,
      bytesMax: this.#settings.fanOutBytesMax,
      goAlone: (id) => {
        this.#goAlone(this.#watchers.get(id)!, this.#sentThrough);
        this.#pace.due(id);
      },
    });
    this.#timeouts = new Deadlines(clock, timers, TIMEOUT_TICK_MS);
  }

  get count(): number {
    return this.#watchers.size;
  }

  /** Where a watcher stands, as docs/WATCHES.md has it. */
  stateOf(id: number): WatcherState | 'gone' {
    return this.#watchers.get(id)?.state ?? 'gone';
  }

  get cohorts(): Pick<CohortIndexes, 'size' | 'get'> {
    return this.#cohorts;
  }

  /** How many move with their cohort; the others begin, catch up, or wait for their socket. */
  get liveCount(): number {
    return this.#cohorts.liveCount;
  }

  /** Opens a watch. `initial`: the state it begins with, when it does not begin after a revision. */
  open(query: WatchQuery, cache: ResourceCache, initial: InitialState | undefined): void {
    this.flush();
    const cohort = this.#cohorts.ofQuery(query, cache);
    const position = query.afterRevision ?? initial?.revision ?? 0;
    const watcher = new Watcher(this, query.watcher, cohort, position, initial, query.sendInitialEventsEnd);
    cohort.members++;
    cohort.series.watchers.add(1);
    if (query.rendering.shape?.kind === 'Table') cohort.columnsDue.add(watcher.id);
    this.#watchers.set(watcher.id, watcher);
    if (initial !== undefined) this.#beginning.add(watcher);
    this.#timeouts.add(watcher, query.timeoutMs);
    if (watcher.position > this.#options.position().applied) {
      watcher.state = 'future';
      this.#future.add(watcher);
    } else if (takesLong(watcher, this.#settings.gatheredEntriesMax)) this.#pace.due(watcher.id);
    else this.#advance(watcher);
  }

  close(id: number): void {
    const watcher = this.#watchers.get(id);
    if (watcher !== undefined) this.#drop(watcher);
  }

  /** The socket took the last chunk, or takes bytes again. */
  ready(id: number): void {
    const watcher = this.#watchers.get(id);
    if (watcher?.state !== 'waiting') return;
    if (takesLong(watcher, this.#settings.gatheredEntriesMax)) this.#pace.due(id);
    else this.#goOn(id);
  }

  #goOn(id: number): void {
    const watcher = this.#watchers.get(id);
    if (watcher?.state !== 'waiting') return;
    this.flush();
    if (this.#suspended) watcher.state = 'suspended';
    else this.#advance(watcher);
  }

  /**
   * The socket is full: whatever was sent after `deliveredRevision`, in whatever state, was dropped there, and `ready`
   * follows.
   */
  park(id: number, deliveredRevision: number): void {
    const watcher = this.#watchers.get(id);
    if (watcher === undefined) return;
    this.#goAlone(watcher, deliveredRevision);
    this.#pace.forget(id);
    watcher.parks++;
    watcher.parksAnswered = false;
  }

  /** One event of a batch being applied; `flush` sends what it means to whom. */
  collect(cache: ResourceCache, event: CacheEvent): void {
    this.#fanOut.collect(cache, event);
  }

  /** Sends what was collected, one chunk per cohort, before the places in it may be written over. True: there was something. */
  flush(): boolean {
    const { applied } = this.#options.position();
    const { isPending } = this.#fanOut;
    this.#fanOut.send(applied);
    this.#sentThrough = applied;
    if (!this.#pace.isBusy) this.#fanOut.forget();
    this.#expireBeginning();
    this.#beginFuture(applied);
    return isPending;
  }

  /** What follows an initial state before the window is gone: nobody waits for who does not even read that. */
  #expireBeginning(): void {
    const { compacted } = this.#options.position();
    for (const watcher of this.#beginning) if (watcher.position < compacted) this.#expire(watcher);
  }

  /** Watchers whose revision has been reached. */
  #beginFuture(applied: number): void {
    for (const watcher of this.#future) {
      if (watcher.position > applied) continue;
      this.#future.delete(watcher);
      this.#advance(watcher);
    }
  }

  /** Gives bookmarks to cohorts that have been silent; call every second or so. */
  bookmark(): void {
    this.flush();
    this.#fanOut.bookmark(this.#options.position().applied);
  }

  /** The store is lost: nothing is sent until `resume`, when everyone goes on from where they were. */
  suspend(): void {
    this.flush();
    this.#suspended = true;
    const { applied } = this.#options.position();
    for (const watcher of this.#watchers.values()) {
      if (watcher.state !== 'live') continue;
      watcher.cohort.live.delete(watcher.id);
      watcher.state = 'suspended';
      watcher.position = applied;
    }
  }

  /**
   * Attaches all watchers to rebuilt caches. A watch still in its initial state cannot go on: it ends. `isKnown`: what they have seen
   * is of the same history; where that is not known all of them end.
   */
  resume(cacheFor: (storageKey: string) => ResourceCache, isKnown = true): void {
    this.#suspended = false;
    const watchers = [...this.#watchers.values()];
    this.#cohorts.renew(watchers, cacheFor);
    this.#sentThrough = this.#options.position().applied;
    for (const watcher of watchers) {
      if (watcher.initial !== undefined || !isKnown) this.#expire(watcher);
      else if (watcher.state === 'suspended') this.#advance(watcher);
    }
    this.#beginFuture(this.#options.position().applied);
  }

  /** Sends the next chunk of what the watcher has not seen, or makes it live when there is none. */
  #advance(watcher: Watcher): void {
    watcher.state = 'waiting';
    if (watcher.initial !== undefined) {
      this.#sendInitial(watcher, watcher.initial);
      return;
    }
    const { slabs, position } = this.#options;
    const { applied, compacted } = position();
    const { cohort } = watcher;
    if (watcher.position < Math.max(compacted, cohort.cache.oldest)) {
      this.#expire(watcher);
      return;
    }
    const { framed, through } = eventsAfter(watcher, applied, slabs, this.#settings.gatheredEntriesMax);
    watcher.position = through;
    if (framed.length === 0 && through < applied) {
      this.#pace.due(watcher.id);
      return;
    }
    if (framed.length > 0) {
      const withColumns = cohort.columnsDue.delete(watcher.id);
      const chunk = this.#pace.isBusy
        ? this.#fanOut.framed(cohort, framed, withColumns)
        : this.#framing.events(cohort, framed, withColumns);
      cohort.series.sent(framed.length, chunk.length, 1);
      this.#delivery.catchUp(watcher, chunk);
      return;
    }
    if (!watcher.parksAnswered) this.#delivery.catchUp(watcher, NO_CHUNK);
    if (!this.#watchers.has(watcher.id)) return;
    watcher.state = 'live';
    cohort.live.add(watcher.id);
  }

  #sendInitial(watcher: Watcher, initial: InitialState): void {
    const { slabs, release, initialEventsEndAnnotation } = this.#options;
    const { cohort } = watcher;
    const framed = takeInitial(initial, slabs);
    let chunk = this.#framing.events(cohort, framed, framed.length > 0 && cohort.columnsDue.delete(watcher.id));
    cohort.series.sent(framed.length, chunk.length, 1);
    if (initial.next >= initial.places.length) {
      release(initial.pin);
      watcher.initial = undefined;
      watcher.position = initial.revision;
      this.#beginning.delete(watcher);
      if (watcher.initialEventsEnd) {
        const withColumns = cohort.columnsDue.delete(watcher.id);
        const end = this.#framing.bookmark(cohort, initial.revision, initialEventsEndAnnotation, withColumns);
        chunk = Buffer.concat([chunk, end]);
      }
    }
    if (chunk.length > 0) this.#delivery.catchUp(watcher, chunk);
    else this.#advance(watcher);
  }

  #goAlone(watcher: Watcher, position: number): void {
    watcher.cohort.live.delete(watcher.id);
    watcher.state = 'waiting';
    watcher.position = position;
  }

  #expire(watcher: Watcher): void {
    const { compacted } = this.#options.position();
    const oldest = Math.max(compacted, watcher.cohort.cache.oldest);
    const message = `too old resource version: ${watcher.position} (${oldest})`;
    const chunk = this.#framing.expired(watcher.cohort, message);
    this.#drop(watcher);
    this.#delivery.ended([watcher.id], chunk);
  }

  /** Its time is over. */
  end(watcher: Watcher): void {
    this.flush();
    const { cohort, id } = watcher;
    if (!this.#watchers.has(id)) return;
    if (cohort.bookmarks && watcher.state === 'live') {
      const { applied } = this.#options.position();
      const bookmark = this.#framing.bookmark(cohort, applied, undefined, cohort.columnsDue.has(id));
      // As an event like any other: a socket that misses earlier ones must miss this one too.
      this.#delivery.live([id], bookmark, applied);
      if (!this.#watchers.has(id)) return;
    }
    this.#drop(watcher);
    this.#delivery.ended([id], NO_CHUNK);
  }

  /**
   * Ends all watches of a type, each behind what has come so far. That may be a part of a batch: others get it whole when it has been
   * applied, and no bookmark says how far it goes.
   */
  endOf(storageKey: string): void {
    this.#fanOut.sendOf(storageKey, this.#options.position().applied);
    for (const one of [...this.#watchers.values()]) {
      if (one.cohort.cache.storageKey !== storageKey) continue;
      this.#drop(one);
      this.#delivery.ended([one.id], NO_CHUNK);
    }
  }

  #drop(watcher: Watcher): void {
    const { cohort } = watcher;
    this.#timeouts.remove(watcher);
    if (!this.#watchers.delete(watcher.id)) return;
    this.#future.delete(watcher);
    this.#beginning.delete(watcher);
    cohort.series.watchers.add(-1);
    cohort.live.delete(watcher.id);
    cohort.columnsDue.delete(watcher.id);
    if (watcher.initial !== undefined) this.#options.release(watcher.initial.pin);
    if (--cohort.members === 0) this.#cohorts.remove(cohort);
  }
}
