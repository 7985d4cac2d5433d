// Makes the objects the API server needs for itself, keeps them as its reconcile intervals say, and knows which
// post-start hooks are through. What the objects are is in bootstrap-objects.ts.

import type { Dialect } from '../../../config/dialect.ts';
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { GroupedSets } from '../../../values/grouped-sets.ts';
import type { FirstObjects } from '../../store/protocol.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { checkName, hooksOf, waitsForCorrections } from '../hooks.ts';
import { apiServerIdentity } from '../identities.ts';
import type { HookState } from '../protocol.ts';
import { type BootstrapOptions, desiredObjects } from './bootstrap-objects.ts';
import type { Desired, Review } from './desired.ts';

const REVIEW_INTERVALS_MS = [
  ['every10s', 10_000],
  ['every60s', 60_000],
] as const satisfies readonly (readonly [Review, number])[];

/** Until the feed has shown that what was to be replaced is gone. */
const REPLACE_AGAIN_MS = 50;

/** What of the actor's context this needs. */
type BootstrapTime = { readonly timers: Timers; readonly clock: Clock };

/** The bootstrap hooks. Keys are `<storageKey>/<namespace>/<name>` of the desired objects. */
export class Bootstrap implements Controller {
  readonly name = 'bootstrap';
  readonly identity;
  readonly wants: readonly string[];
  readonly goesBy?: FirstObjects;
  readonly keysInFlightMax = 128;
  readonly #timers: Timers;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #hooks: readonly string[];
  readonly #desired = new Map<string, Desired>();
  /** The namespaces that desired objects are in, by storage key: most events are of others. */
  readonly #rooms = new GroupedSets();
  /** The desired objects that exist, as the feed last showed them. */
  readonly #stored = new Map<string, ApiObject>();
  /** Seen as they should be, or written so, at least once since the start. */
  readonly #settled = new Set<string>();
  readonly #failures = new Map<string, string>();
  /** The cluster has had them, and to set them right, or to make them again, has failed. */
  readonly #uncorrected = new Set<string>();
  #reviews: Timer[] | undefined;
  /** Whether the cluster is new to what is made on the first start only; undefined until the feed has shown. */
  #isFirstStart: boolean | undefined;

  /** Throws a RangeError when the service range is none. */
  constructor({ timers, clock }: BootstrapTime, due: Due, dialect: Dialect, options: BootstrapOptions) {
    this.identity = apiServerIdentity(dialect);
    this.#timers = timers;
    this.#clock = clock;
    this.#due = due;
    for (const desired of desiredObjects(dialect, options)) {
      const { namespace, name } = desired.target;
      this.#rooms.add(desired.storageKey, namespace);
      this.#desired.set(`${desired.storageKey}/${namespace}/${name}`, desired);
    }
    this.#hooks = hooksOf(this.#desired.values());
    this.wants = [...this.#rooms.groups()];
    // Where other servers may be in the endpoints, it goes by their leases too.
    if (options.liveAddresses === undefined) this.goesBy = { keys: [...this.#desired.keys()] };
  }

  reset(): void {
    this.#stored.clear();
  }

  onEvent(event: FeedEvent): void {
    if (!this.#rooms.of(event.storageKey).has(event.namespace)) return;
    const key = `${event.storageKey}/${event.namespace}/${event.name}`;
    const desired = this.#desired.get(key);
    if (desired === undefined) return;
    if (event.type === 'delete') this.#stored.delete(key);
    else this.#stored.set(key, event.object());
    // What is not right yet has a plan pending that this may be the answer to.
    if (desired.review === 'onChange' || !this.#settled.has(key)) this.#due.add(key);
  }

  onSynced(): void {
    this.#isFirstStart ??= [...this.#desired].some(
      ([key, { only }]) => only === 'afterSuggested' && !this.#stored.has(key),
    );
    for (const key of this.#desired.keys()) this.#due.add(key);
    this.#reviews ??= REVIEW_INTERVALS_MS.map(([review, intervalMs]) =>
      this.#timers.every(intervalMs, () => this.#reviewAll(review)),
    );
  }

  plan(key: string): Plan {
    const desired = this.#desired.get(key);
    if (desired === undefined) return NOTHING;
    const { parameters = {} } = desired;
    const stored = this.#stored.get(key);
    if (stored === undefined) {
      // Whoever has deleted it since is believed, also when the stream begins anew.
      if (desired.review === 'never' && this.#settled.has(key)) return NOTHING;
      // An object waits for its namespace, which makes it due when it is there.
      if (!this.#isThere(desired.target.namespace) || !this.#isWanted(desired)) return NOTHING;
      const target = { ...desired.target, name: '' };
      return { writes: [{ verb: 'create', target, parameters, body: this.#bodyOf(desired) }] };
    }
    const correction = desired.correct?.(stored, !this.#settled.has(key), this.#clock.nowMs());
    if (correction === 'replace')
      return { writes: [{ verb: 'delete', target: desired.target }], againAfterMs: REPLACE_AGAIN_MS };
    if (correction !== undefined)
      return { writes: [{ verb: 'update', target: desired.target, parameters, body: correction }] };
    this.#settle(key, desired);
    return NOTHING;
  }

  #bodyOf({ object, splitFrom }: Desired): ApiObject {
    const source = splitFrom && this.#stored.get(splitFrom.key);
    return source === undefined ? object : splitFrom!.body(source);
  }

  onOutcome(key: string, write: Write, outcome: WriteOutcome): void {
    const desired = this.#desired.get(key);
    if (desired === undefined) return;
    if (!outcome.ok) {
      this.#failures.set(key, outcome.message);
      if (write.verb !== 'create' || this.#isFirstStart === false) this.#uncorrected.add(key);
    } else if (write.verb !== 'delete') this.#settle(key, desired);
  }

  onStop(): readonly Write[] {
    for (const timer of this.#reviews ?? []) timer.cancel();
    this.#reviews = [];
    const writes: Write[] = [];
    for (const [key, desired] of this.#desired) {
      const stored = this.#stored.get(key);
      const body = stored === undefined ? undefined : desired.retire?.(stored);
      if (body !== undefined) writes.push({ verb: 'update', target: desired.target, body });
    }
    return writes;
  }

  /** The state of each hook. What was done once stays done when the stream begins anew. */
  hooks(): readonly HookState[] {
    return this.#hooks.map((hook) => this.#hookState(hook));
  }

  /** Looks at the hook's objects again: what they are to be has changed. */
  review(hook: string): void {
    for (const [key, desired] of this.#desired) if (desired.hook === hook) this.#due.add(key);
  }

  #hookState(hook: string): HookState {
    let done = this.#isFirstStart !== undefined;
    let failure = '';
    for (const [key, desired] of this.#desired) {
      if (desired.hook !== hook || this.#settled.has(key) || this.#isLeftAlone(desired)) continue;
      if (this.#uncorrected.has(key) && !waitsForCorrections(hook)) continue;
      done = false;
      failure ||= this.#failures.get(key) ?? '';
    }
    return { name: checkName(hook), done, failure };
  }

  /** Whether a missing object may be made by now. */
  #isWanted({ only }: Desired): boolean {
    if (only === undefined) return true;
    if (only === 'onFirstStart') return this.#isFirstStart === true;
    return [...this.#desired].every(
      ([key, one]) => one.only !== 'onFirstStart' || this.#isLeftAlone(one) || this.#settled.has(key),
    );
  }

  /** What is made on a first start only, on a later one. */
  #isLeftAlone({ only }: Desired): boolean {
    return only === 'onFirstStart' && this.#isFirstStart === false;
  }

  #isThere(namespace: string): boolean {
    const key = `core/namespaces//${namespace}`;
    return namespace === '' || this.#stored.has(key) || this.#settled.has(key);
  }

  #settle(key: string, desired: Desired): void {
    this.#failures.delete(key);
    if (this.#settled.has(key)) return;
    this.#settled.add(key);
    if (desired.only === 'onFirstStart') {
      for (const [other, { only }] of this.#desired) if (only === 'afterSuggested') this.#due.add(other);
    }
    if (desired.storageKey !== 'core/namespaces') return;
    for (const [other, { target }] of this.#desired) if (target.namespace === desired.target.name) this.#due.add(other);
  }

  #reviewAll(review: Review): void {
    for (const [key, desired] of this.#desired) if (desired.review === review) this.#due.add(key);
  }
}
