// Keeps the status of quotas: what they promise, and what is used of it. Admission counts what comes; what goes, what ends, and
// what was there before a quota was made is counted here, from the stream. A status is only written to the quota that it was
// counted for: what admission counts meanwhile makes it another one, and it is counted again.
import type { RemoteListing } from '../../../api/aggregation/remote-object.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { asObject, partAt } from '../../../api/json/object-fields.ts';
import { type Amounts, amountsOf, masked, NO_AMOUNTS, pieces, sumOf, textsOf } from '../../../api/quota/amounts.ts';
import { isMetBy, requirementsOf, type ScopeRequirement } from '../../../api/quota/scopes.ts';
import type { Tally } from '../../../api/quota/tally.ts';
import { type CountedType, isCounted, isMeasured, namesOf, pieceUsage } from '../../../api/quota/usage.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import type { CustomTypes } from '../custom-types.ts';
import { controllerIdentity } from '../identities.ts';
import type { NamespaceContents } from '../namespaces/namespace-contents.ts';
import type { NamespacedType } from '../options.ts';
import { LISTING_KEY, type RemoteListings } from '../remote-listings.ts';
import { coreTarget, keyOf, splitKey } from '../targets.ts';
import { MeasuredObjects } from './measured-objects.ts';
import { RemoteCounts } from './remote-counts.ts';

const QUOTAS = 'core/resourcequotas';
/** Every quota is counted again this often, whatever happens. */
const RESYNC_MS = 5 * 60_000;

type CountedCustomTypes = Pick<CustomTypes, 'isCustomKey' | 'definition' | 'storageKey'>;

export interface QuotasParts {
  readonly types: readonly NamespacedType[];
  readonly customTypes: CountedCustomTypes;
  readonly contents: NamespaceContents;
  readonly listings: RemoteListings;
}

/** The resource quota controller. Keys are `<namespace>/<name>` of quotas. */
export class ResourceQuotas implements Controller {
  readonly name = 'resource-quotas';
  readonly identity;
  readonly wants: readonly string[];
  readonly wantsCustom = true;
  readonly #customTypes: CountedCustomTypes;
  readonly countsAbsence = true;
  readonly keysInFlightMax = 16;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #dialect: Dialect;
  /** By storage key; several where a type is served by several groups. */
  readonly #types = new Map<string, CountedType[]>();
  /** By namespace and name. */
  readonly #quotas = new Map<string, Map<string, ApiObject>>();
  /** Objects that count by what they are like. */
  readonly #measured: MeasuredObjects;
  /** The others. */
  readonly #contents: NamespaceContents;
  readonly #listings: RemoteListings;
  readonly #remote: RemoteCounts;

  constructor(clock: Clock, due: Due, dialect: Dialect, { types, customTypes, contents, listings }: QuotasParts) {
    this.#contents = contents;
    this.#listings = listings;
    this.#remote = new RemoteCounts(dialect);
    listings.tell({ due, take: (listing) => this.#onListing(listing) });
    this.#customTypes = customTypes;
    this.identity = controllerIdentity(dialect, 'resourcequota-controller');
    this.#clock = clock;
    this.#due = due;
    this.#dialect = dialect;
    for (const { storageKey, group, plural } of types) {
      if (!isCounted({ group, plural })) continue;
      const known = this.#types.get(storageKey) ?? [];
      if (!known.some((type) => type.group === group)) this.#types.set(storageKey, [...known, { group, plural }]);
    }
    this.#measured = new MeasuredObjects(dialect, this.#types);
    this.wants = [...new Set([QUOTAS, customTypes.storageKey, this.#remote.storageKey, ...this.#types.keys()])];
  }

  reset(): void {
    this.#remote.reset();
    this.#listings.reset();
    this.#quotas.clear();
    this.#measured.reset();
    this.#contents.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === QUOTAS) this.#onQuota(event);
    if (event.storageKey === this.#customTypes.storageKey) this.#onDefinition(event);
    if (event.storageKey === this.#remote.storageKey && this.#remote.onEvent(event)) this.#due.add(LISTING_KEY);
    if (!this.#isCounted(event)) return;
    const isMeasured = this.#measured.isAbout(event.storageKey);
    const makesDifference = isMeasured ? this.#measured.onEvent(event) : this.#contents.onEvent(event);
    if (makesDifference) for (const name of this.#within(event.namespace).keys()) this.#dueFor(event.namespace, name);
  }

  /** Quotas may have waited for the type. */
  #onDefinition({ name }: FeedEvent): void {
    const definition = this.#customTypes.definition(name);
    const dot = name.indexOf('.');
    const storageKey = `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
    if (definition === undefined) this.#types.delete(storageKey);
    else if (definition.isEstablished && definition.namespaced && !this.#types.has(storageKey)) {
      this.#addCustom(storageKey);
      this.onSynced();
    }
  }

  #addCustom(storageKey: string): void {
    const [group = '', plural = ''] = storageKey.split('/');
    this.#types.set(storageKey, [{ group, plural }]);
  }

  /** An object may be there before its type: what it counts by is in its key. */
  #isCounted({ storageKey, namespace }: FeedEvent): boolean {
    if (this.#types.has(storageKey)) return true;
    if (namespace === '' || !this.#customTypes.isCustomKey(storageKey)) return false;
    this.#addCustom(storageKey);
    return true;
  }

  onMoved(event: FeedEvent): void {
    if (this.#measured.isAbout(event.storageKey)) this.#measured.onMoved(event);
  }

  onSynced(): void {
    for (const [namespace, quotas] of this.#quotas) for (const name of quotas.keys()) this.#dueFor(namespace, name);
  }

  #onListing(listing: RemoteListing): void {
    if (!this.#remote.take(listing)) return;
    for (const [namespace, name] of this.#ofRemotes()) this.#dueFor(namespace, name);
  }

  /** The quotas that limit what extension servers have. */
  *#ofRemotes(): Iterable<readonly [namespace: string, name: string]> {
    for (const [namespace, quotas] of this.#quotas)
      for (const [name, quota] of quotas) if (this.#remotesOf(quota).length > 0) yield [namespace, name];
  }

  #remotesOf(quota: ApiObject): readonly string[] {
    return this.#remote.namesOf(Object.keys(asObject(partAt(quota, 'spec').hard)));
  }

  plan(key: string): Plan {
    if (key === LISTING_KEY) {
      const [one] = this.#ofRemotes();
      return one === undefined ? NOTHING : this.#listings.plan();
    }
    const { namespace, name } = splitKey(key);
    const quota = this.#within(namespace).get(name);
    if (quota === undefined) return NOTHING;
    if (this.#remotesOf(quota).length > 0) this.#due.add(LISTING_KEY);
    const nowMs = this.#clock.nowMs();
    let status = this.#isCountedLately(namespace, nowMs) ? this.#statusOf(namespace, quota, nowMs) : undefined;
    if (status === undefined) {
      if (!this.#measured.count(namespace, nowMs)) return { writes: [], againAfterMs: 0 };
      status = this.#statusOf(namespace, quota, nowMs)!;
    }
    const nextMs = this.#measured.tally(namespace, 'core/pods')?.nextChangeMs(nowMs);
    // A pod counts to the end of the moment that it counts until.
    const againAfterMs = nextMs === undefined ? RESYNC_MS : Math.min(RESYNC_MS, nextMs - nowMs + 1);
    const before = partAt(quota, 'status');
    const isSame = (['hard', 'used'] as const).every((part) =>
      areSame(amountsOf(partAt(before, part)), amountsOf(status[part])),
    );
    if (isSame) return { writes: [], againAfterMs };
    const target = coreTarget('resourcequotas', namespace, name, 'status');
    return { writes: [{ verb: 'update', target, body: { ...quota, status } }], againAfterMs };
  }

  /** The first quota of a namespace has what is there read, and each resync what has come since. */
  #isCountedLately(namespace: string, nowMs: number): boolean {
    const wholeAtMs = this.#measured.wholeAtMs(namespace);
    // A clock that was set back does not put it off.
    return wholeAtMs !== undefined && Math.abs(nowMs - wholeAtMs) < RESYNC_MS;
  }

  #within(namespace: string): ReadonlyMap<string, ApiObject> {
    return this.#quotas.get(namespace) ?? NO_QUOTAS;
  }

  #dueFor(namespace: string, name: string): void {
    this.#due.add(keyOf(namespace, name));
  }

  #onQuota(event: FeedEvent): void {
    const { namespace, name } = event;
    const quotas = this.#quotas.get(namespace);
    if (event.type === 'delete') {
      quotas?.delete(name);
      if (quotas?.size !== 0) return;
      this.#quotas.delete(namespace);
      this.#measured.release(namespace);
      return;
    }
    const quota = event.object();
    const isLimitedAnew = !deepEqual(partAt(quota, 'spec'), partAt(quotas?.get(name) ?? {}, 'spec'));
    // Who limits what is elsewhere wants to know what there is now.
    if (isLimitedAnew && this.#remotesOf(quota).length > 0) this.#listings.stale();
    const metadata = { ...partAt(quota, 'metadata'), resourceVersion: String(event.revision) };
    if (quotas === undefined) this.#quotas.set(namespace, new Map([[name, { ...quota, metadata }]]));
    else quotas.set(name, { ...quota, metadata });
    this.#dueFor(namespace, name);
  }

  /** Undefined where it takes objects that are not read. */
  #statusOf(namespace: string, quota: ApiObject, nowMs: number): { hard: ApiObject; used: ApiObject } | undefined {
    const spec = partAt(quota, 'spec');
    const hard = asObject(spec.hard);
    const limited = Object.keys(hard);
    const requirements = requirementsOf(spec);
    let used: Amounts = NO_AMOUNTS;
    for (const [storageKey, types] of this.#types) {
      for (const type of types) {
        const names = namesOf(type, limited, this.#dialect);
        if (names.length === 0) continue;
        let usage: Amounts | undefined = NO_AMOUNTS;
        if (isMeasured(type)) {
          const tally = this.#measured.tally(namespace, storageKey);
          if (tally !== undefined) usage = measuredUsage(tally, type, { quota, requirements, names, nowMs });
        } else if (requirements.length === 0) usage = pieceUsage(type, this.#contents.count(namespace, storageKey));
        if (usage === undefined) return undefined;
        const none = Object.fromEntries(names.map((name) => [name, pieces(0)]));
        used = sumOf(used, sumOf(none, masked(usage, names)));
      }
    }
    for (const name of this.#remotesOf(quota)) {
      const count = requirements.length > 0 ? 0 : this.#remote.count(namespace, name);
      // While no server has said, it is as it was.
      const amount = count === undefined ? amountsOf(partAt(partAt(quota, 'status'), 'used'))[name] : pieces(count);
      if (amount !== undefined) used = { [name]: amount, ...used };
    }
    return { hard, used: textsOf(used) };
  }
}

const NO_QUOTAS: ReadonlyMap<string, ApiObject> = new Map();

interface MeasuredFor {
  readonly quota: ApiObject;
  readonly requirements: readonly ScopeRequirement[];
  /** Of the quota, those of the type. */
  readonly names: readonly string[];
  readonly nowMs: number;
}

/** What objects of a type come to; undefined where it takes some that are not read. */
function measuredUsage(
  tally: Tally,
  { group, plural }: CountedType,
  { quota, requirements, names, nowMs }: MeasuredFor,
): Amounts | undefined {
  const isPod = plural === 'pods' && group === '';
  const read = tally.usage(nowMs, (object) => requirements.every((one) => isPod && isMetBy(one, object)));
  if (tally.unreadCount === 0) return read;
  if (!isPod || requirements.length > 0) return undefined;
  const charged = amountsOf(partAt(partAt(quota, 'status'), 'used'));
  return isChargedFor(tally.unreadCount, read, charged, names) ? charged : undefined;
}

/**
 * Whether admission has charged a quota for so many pods more than what is read of them comes to: by its count of pods. What they ask
 * for, it has read; it is read here when one of them changes or goes, and with the next resync.
 */
function isChargedFor(unread: number, read: Amounts, charged: Amounts, names: readonly string[]): boolean {
  const counts = names.filter((name) => COUNTS_OF_PODS.includes(name));
  const added = pieces(unread).nano;
  return (
    counts.length > 0 &&
    counts.every((name) => charged[name]?.nano === (read[name]?.nano ?? 0n) + added) &&
    names.every((name) => charged[name] !== undefined && charged[name].nano >= (read[name]?.nano ?? 0n))
  );
}

const COUNTS_OF_PODS: readonly string[] = ['pods', 'count/pods'];

/** The same amounts of the same resources, however written. */
function areSame(one: Amounts, other: Amounts): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name]!.nano === other[name]?.nano);
}
