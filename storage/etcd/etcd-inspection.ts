// Everything that can be said of a keyspace in etcd by reading it: each key at one revision, what does not decode, and what
// disagrees with what lies beside it. Changes nothing, and holds nothing up: servers may be running on it.
import type { Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { isSealedValue } from '../encryption/sealed-value.ts';
import type { StoredEncryption } from '../encryption/stored-encryption.ts';
import { storedRevision } from '../forms/stored-value.ts';
import { AddressRecords, type MissingRecord } from '../upkeep/address-records.ts';
import { askedAgain } from './asked-again.ts';
import type { EtcdCluster, EtcdPair } from './etcd-cluster.ts';
import { type Identity, readIdentity, unservedIn } from './etcd-identity.ts';
import { type EtcdKeys, etcdKeys } from './etcd-keys.ts';
import { isOutline } from './etcd-outline.ts';
import { type LookedInto, lookInto, outerProblems, unreadable } from './value-problems.ts';

const PAGE_KEYS = 500;

export interface InspectionParts {
  readonly cluster: EtcdCluster;
  readonly prefix: string;
  readonly timers: Timers;
  /** Opens what is encrypted; without it such values are not looked into. */
  readonly encryption?: StoredEncryption;
  /** A value of this place or above is the last of an object that is gone. */
  readonly dyingPlace: number;
}

/** A key as it was found, to be changed only if it still is so. */
export interface FoundKey {
  /** Of the object. */
  readonly key: string;
  readonly modRevision: number;
  readonly what: string;
}

/** A record of an address that there is not, of a service as it was found. */
export interface UnnotedAddress extends MissingRecord {
  readonly serviceRevision: number;
}

export interface KeyspaceInspection {
  /** What lies under it was read at this revision of etcd. */
  readonly revision: number;
  readonly place: string;
  readonly identity: Identity | undefined;
  /** How often the identity was written. */
  readonly identityVersion: number;
  readonly objects: number;
  readonly encrypted: number;
  readonly bytes: number;
  /** One line each; empty when the keyspace is sound. */
  readonly problems: readonly string[];
  /** Why no server serves it, sound as it may be: it is being moved, or was moved away. */
  readonly unserved: OrchError | undefined;
  /** Objects that nobody can read. */
  readonly unreadable: readonly FoundKey[];
  /** Records of addresses that no service has. */
  readonly orphans: readonly FoundKey[];
  /** Records of addresses that services have, where there is none. */
  readonly unnoted: readonly UnnotedAddress[];
}

/** Throws OrchError StoreUnusable where etcd does not answer, or holds none of ours. */
export async function inspectKeyspace(parts: InspectionParts): Promise<KeyspaceInspection> {
  const run = new KeyspaceReading(parts);
  await run.readAll();
  return run.finish();
}

class KeyspaceReading {
  readonly #parts: InspectionParts;
  readonly #keys: EtcdKeys;
  readonly #addresses = new AddressRecords();
  readonly #problems: string[] = [];
  readonly #unreadable: FoundKey[] = [];
  #unserved: OrchError | undefined;
  readonly #revisions = new Map<string, number>();
  #identity: Identity | undefined;
  #identityVersion = 0;
  #outlineRevision = 0;
  #newestObject = { key: '', revision: 0 };
  #revision = 0;
  #keysRead = 0;
  #objects = 0;
  #encrypted = 0;
  #bytes = 0;

  constructor(parts: InspectionParts) {
    this.#parts = parts;
    this.#keys = etcdKeys(parts.prefix);
  }

  async readAll(): Promise<void> {
    const { cluster, timers } = this.#parts;
    const { root, rootEnd } = this.#keys;
    for (let after = root, more = true; more; ) {
      const at = this.#revision === 0 ? {} : { revision: this.#revision };
      const request = { key: after, end: rootEnd, limit: PAGE_KEYS, ...at };
      const answer = await askedAgain(timers, () => cluster.range(request));
      if (this.#revision === 0) this.#revision = answer.revision;
      for (const pair of answer.pairs) await this.#look(pair);
      after = `${answer.pairs.at(-1)?.key}\0`;
      more = answer.more && answer.pairs.length > 0;
    }
  }

  finish(): KeyspaceInspection {
    const { identity: place } = this.#keys;
    if (this.#keysRead === 0) throw new OrchError('StoreUnusable', `there is no store at ${place}`);
    if (this.#identityVersion === 0) this.#problems.push(`${place} is missing`);
    const { key, revision } = this.#newestObject;
    if (revision > this.#outlineRevision) {
      const newest = `${this.#keys.outline} is of revision ${this.#outlineRevision}`;
      this.#problems.push(`${key} was written at revision ${revision}, by none of ours: ${newest}`);
    }
    const orphans = this.#addresses.orphans();
    const missing = this.#addresses.missing();
    this.#problems.push(...[...missing, ...orphans].map(({ what }) => what));
    return {
      revision: this.#revision,
      place,
      identity: this.#identity,
      identityVersion: this.#identityVersion,
      objects: this.#objects,
      encrypted: this.#encrypted,
      bytes: this.#bytes,
      problems: this.#problems,
      unserved: this.#unserved,
      unreadable: this.#unreadable,
      orphans: orphans.map((one) => ({ ...one, modRevision: this.#revisions.get(one.key) ?? 0 })),
      unnoted: missing
        .filter(({ isAbsent }) => isAbsent)
        .map((one) => ({ ...one, serviceRevision: this.#revisions.get(one.service) ?? 0 })),
    };
  }

  async #look(pair: EtcdPair): Promise<void> {
    const { objects, outline, identity, writers, compaction, damaged } = this.#keys;
    const { key } = pair;
    this.#keysRead++;
    this.#bytes += pair.value.byteLength;
    if (key.startsWith(objects)) await this.#lookAtObject(key.slice(objects.length), pair);
    else if (key === identity) this.#lookAtIdentity(pair);
    else if (key === outline) this.#lookAtOutline(pair);
    else if (key.startsWith(writers)) this.#lookAtWriter(key.slice(writers.length), pair);
    else if (key !== compaction && !key.startsWith(damaged)) this.#problems.push(`${key} is none of ours`);
  }

  #lookAtIdentity(pair: EtcdPair): void {
    this.#identityVersion = pair.version;
    try {
      this.#identity = readIdentity(pair.key, pair);
    } catch (error) {
      this.#problems.push((error as Error).message);
      return;
    }
    this.#unserved = unservedIn(pair.key, this.#identity.move);
  }

  #lookAtOutline({ key, modRevision, value }: EtcdPair): void {
    this.#outlineRevision = modRevision;
    if (!isOutline(value)) this.#problems.push(`${key} cannot be read`);
  }

  /** A counter says how often it was written. Beside it lies, empty, what of a batch failed. */
  #lookAtWriter(name: string, { key, version, value }: EtcdPair): void {
    const isRight = name.includes('/') ? value.byteLength === 0 : Buffer.from(value).toString() === String(version);
    if (!isRight) this.#problems.push(`${key} was written ${version} times, and does not say so`);
  }

  async #lookAtObject(key: string, { modRevision, value }: EtcdPair): Promise<void> {
    const { dyingPlace } = this.#parts;
    if (modRevision > this.#newestObject.revision) this.#newestObject = { key, revision: modRevision };
    const outer = outerProblems(key, value, dyingPlace);
    const place = storedRevision(key, value);
    if (place !== undefined && place >= dyingPlace && outer.length === 0) return;
    this.#objects++;
    if (isSealedValue(value)) this.#encrypted++;
    const inner = outer.length > 0 ? undefined : await this.#inside(key, value);
    if (inner?.object === undefined) this.#addresses.miss(key);
    else {
      this.#addresses.see(key, inner.object);
      if (AddressRecords.concerns(key)) this.#revisions.set(key, modRevision);
    }
    const problems = [...outer, ...(inner?.problems ?? [])];
    for (const problem of problems) this.#problems.push(`the value of ${key} ${problem}`);
    if (outer.length > 0 || inner?.isUnreadable) this.#unreadable.push({ key, modRevision, what: problems[0]! });
  }

  /** Undefined: it cannot be looked into, and nothing follows from that. */
  async #inside(key: string, value: Uint8Array): Promise<LookedInto | undefined> {
    const { encryption } = this.#parts;
    if (encryption === undefined) return isSealedValue(value) ? undefined : lookInto(key, value);
    try {
      return lookInto(key, await encryption.open(key, value));
    } catch (error) {
      // The configuration may be the wrong one: no reason to take the value for lost.
      const { message } = error as Error;
      return { ...unreadable(`cannot be opened: ${message}`), isUnreadable: false };
    }
  }
}
