// Deletes Events that nobody has written for the event TTL (`--event-ttl`; SPEC.md "Events"). Keeps the Events in the
// order in which they expire, which is the order in which they were last written, since all live equally long.

import { asObject, asTimeMs, partAt } from '../../api/json/object-fields.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Clock, Timer, Timers } from '../../runtime/environment.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, deletionOf, NOTHING, type Plan } from './controller.ts';
import { apiServerIdentity } from './identities.ts';
import { coreTarget, keyOf, splitKey } from './targets.ts';

/** Events handed to the queue and not answered yet. */
const LEAVING_MAX = 64;
/** Expired events wait for company, so that many go in one commit. */
const SWEEP_INTERVAL_MIN_MS = 1_000;
/** The longest time a timer is set for (setTimeout takes 31 bits). */
const SWEEP_INTERVAL_MAX_MS = 3_600_000;

interface Entry {
  /** Monotonic. */
  readonly writtenAtMs: number;
  readonly revision: number;
}

/** The TTL of Events, which is an option of the API server. Keys are `<namespace>/<name>`. */
export class EventExpiry implements Controller {
  readonly name = 'event-expiry';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 32;
  readonly #environment: { readonly clock: Clock; readonly timers: Timers };
  readonly #due: Due;
  readonly #ttlMs: number;
  /** In order of `writtenAtMs`: a Map keeps insertion order, and a renewed event is taken out and put in again. */
  readonly #live = new Map<string, Entry>();
  /** Expired, and with the queue. */
  readonly #leaving = new Map<string, Entry>();
  /** From before the stream began anew: spares parsing what has not changed since. */
  #known: ReadonlyMap<string, Entry> = new Map();
  #present: [key: string, entry: Entry][] = [];
  #timer: Timer | undefined;

  /** With a TTL of 0 it wants nothing, and events are kept. */
  constructor(
    environment: { readonly clock: Clock; readonly timers: Timers },
    due: Due,
    dialect: Dialect,
    ttlMs: number,
  ) {
    this.identity = apiServerIdentity(dialect);
    this.wants = ttlMs > 0 ? ['core/events'] : [];
    this.#environment = environment;
    this.#due = due;
    this.#ttlMs = ttlMs;
  }

  reset(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#live.size + this.#leaving.size > 0) this.#known = new Map([...this.#leaving, ...this.#live]);
    this.#live.clear();
    this.#leaving.clear();
    this.#present = [];
  }

  onEvent(event: FeedEvent): void {
    const key = keyOf(event.namespace, event.name);
    if (event.type === 'present') {
      const known = this.#known.get(key);
      const entry = known?.revision === event.revision ? known : this.#entryOf(event);
      this.#present.push([key, entry]);
      return;
    }
    this.#live.delete(key);
    this.#leaving.delete(key);
    if (event.type === 'put')
      this.#live.set(key, { writtenAtMs: this.#environment.clock.monotonicMs(), revision: event.revision });
    this.#arm();
  }

  onSynced(): void {
    this.#known = new Map();
    this.#present.sort(([, a], [, b]) => a.writtenAtMs - b.writtenAtMs);
    for (const [key, entry] of this.#present) this.#live.set(key, entry);
    this.#present = [];
    for (const key of this.#leaving.keys()) this.#due.add(key);
    this.#arm();
  }

  // The revision is a precondition: an event written again meanwhile has a new life, which the feed will show.
  plan(key: string): Plan {
    const entry = this.#leaving.get(key);
    if (entry === undefined) return NOTHING;
    const { namespace, name } = splitKey(key);
    // In Kubernetes they end with their leases in etcd: no webhook hears of it.
    const target = { ...coreTarget('events', namespace, name), asStored: true } as const;
    return { writes: [deletionOf(target, { resourceVersion: String(entry.revision) })] };
  }

  onOutcome(key: string, _write: unknown, outcome: { readonly ok: boolean }): void {
    if (!outcome.ok) return;
    this.#leaving.delete(key);
    if (this.#leaving.size <= LEAVING_MAX / 2) this.#sweep();
  }

  onStop(): [] {
    this.#timer?.cancel();
    return [];
  }

  // What was there before we looked: the last time that the event itself speaks of, but not a time to come.
  #entryOf(event: FeedEvent): Entry {
    const { clock } = this.#environment;
    const writtenWallMs = lastWrittenMs(event.object()) ?? clock.nowMs();
    const ageMs = Math.max(0, clock.nowMs() - writtenWallMs);
    return { writtenAtMs: clock.monotonicMs() - ageMs, revision: event.revision };
  }

  #sweep(): void {
    const nowMs = this.#environment.clock.monotonicMs();
    for (const [key, entry] of this.#live) {
      if (this.#leaving.size >= LEAVING_MAX || entry.writtenAtMs + this.#ttlMs > nowMs) break;
      this.#live.delete(key);
      this.#leaving.set(key, entry);
      this.#due.add(key);
    }
    this.#arm();
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#leaving.size >= LEAVING_MAX) return;
    const [oldest] = this.#live.values();
    if (oldest === undefined) return;
    const { clock, timers } = this.#environment;
    const delayMs = oldest.writtenAtMs + this.#ttlMs - clock.monotonicMs();
    const boundedMs = Math.min(SWEEP_INTERVAL_MAX_MS, Math.max(SWEEP_INTERVAL_MIN_MS, delayMs));
    this.#timer = timers.after(boundedMs, () => {
      this.#timer = undefined;
      this.#sweep();
    });
  }
}

function lastWrittenMs(event: ApiObject): number | undefined {
  const times = [
    asTimeMs(partAt(event, 'metadata').creationTimestamp),
    asTimeMs(event.lastTimestamp),
    asTimeMs(event.eventTime),
    asTimeMs(asObject(event.series).lastObservedTime),
  ].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}
