// Which cluster addresses and node ports are given, as the original notes it: a RangeAllocation for each range, a bit for each number.
// To the store above, what is given is a record of its own (actors/admission/service-allocation.ts): here records are bits. Knows the
// ranges as they were told last, and which services claim what; decides, and writes nothing.

import { encodeStored } from '../../../api/codec/stored-object.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { addressPool, type Pool, portPool } from '../../../api/services/address-pool.ts';
import { ADDRESS_RECORDS, claimsOf, PORT_RECORDS } from '../../../api/services/service-claims.ts';
import type { ServiceFields } from '../../../api/services/service-fields.ts';
import type { IpRange } from '../../../values/ip.ts';
import type { SharedEvent, SharedWrite } from '../../engines/shared-engine.ts';
import { storedValueBytesMax, writeStoredValue } from '../../forms/stored-value.ts';
import { objectKey, parseKey } from '../../object-key.ts';
import type { EtcdCompare } from '../etcd-cluster.ts';
import { RANGES, SERVICES } from './original-keys.ts';
import type { RangeBits } from './range-allocation.ts';

export interface ServiceNetwork {
  /** `--service-cluster-ip-range` */
  readonly clusterIpRanges: readonly IpRange[];
  /** `--service-node-port-range` */
  readonly nodePorts: { readonly first: number; readonly last: number };
}

/** As often is a number seen that no service claims before it is free again: somebody may be about to write the service. */
const LEAK_SIGHTINGS = 3;

/** A range as it was told last. */
interface KnownRange {
  readonly path: string;
  readonly storageKey: string;
  readonly pool: Pool;
  state: RangeBits;
  /** 0: it is not there. */
  modRevision: number;
  /** At which revision each record came to be. */
  readonly born: Map<string, number>;
}

/** A range as it is to be written, if it still is as it was. */
export interface RangeWrite {
  readonly compare: EtcdCompare;
  readonly path: string;
  readonly state: RangeBits;
}

/** `taken`: what the writes expect is not so any more. */
export type RangePlan = { readonly writes: readonly RangeWrite[] } | { readonly takenAt: number };

export class ServiceRanges {
  readonly #ranges: readonly KnownRange[];
  readonly #byPath: ReadonlyMap<string, KnownRange>;
  /** Keys of records by the service that claims them. */
  readonly #claims = new Map<string, readonly string[]>();
  /** Services that nobody here can read. */
  readonly #unread = new Set<string>();
  readonly #sightings = new Map<string, number>();

  /** `root`: before the paths of ranges. */
  constructor({ clusterIpRanges, nodePorts }: ServiceNetwork, root: string) {
    const places = [RANGES.addresses, RANGES.secondAddresses];
    const make = (place: string, storageKey: string, pool: Pool): KnownRange => {
      const state = { spec: pool.shown, bits: new Set<number>(), whole: undefined };
      return { path: root + place, storageKey, pool, state, modRevision: 0, born: new Map() };
    };
    this.#ranges = [
      ...clusterIpRanges.map((range, index) => make(places[index]!, ADDRESS_RECORDS, addressPool(range))),
      make(RANGES.ports, PORT_RECORDS, portPool(nodePorts.first, nodePorts.last)),
    ];
    this.#byPath = new Map(this.#ranges.map((range) => [range.path, range]));
  }

  /** Of all ranges, with what each has to be of. */
  get paths(): readonly { readonly path: string; readonly spec: string }[] {
    return this.#ranges.map(({ path, pool }) => ({ path, spec: pool.shown }));
  }

  isRange(path: string): boolean {
    return this.#byPath.has(path);
  }

  static isRecord(key: string): boolean {
    return key.startsWith(`${ADDRESS_RECORDS}/`) || key.startsWith(`${PORT_RECORDS}/`);
  }

  /** Nothing is known of any more. */
  clear(): void {
    for (const range of this.#ranges) {
      Object.assign(range, {
        modRevision: 0,
        state: { spec: range.pool.shown, bits: new Set<number>(), whole: undefined },
      });
      range.born.clear();
    }
    this.#claims.clear();
    this.#unread.clear();
  }

  /** A range as it is at a revision, by whomever it was written; the records that have come and gone with it. */
  told(path: string, state: RangeBits | undefined, revision: number): readonly SharedEvent[] {
    const range = this.#byPath.get(path)!;
    const before = range.state.bits;
    // Of another spec, it says nothing of what is given here: what services have does.
    const bits = state?.spec === range.pool.shown ? state.bits : this.#claimed(range);
    const events: SharedEvent[] = [];
    for (const bit of bits) {
      const key = recordKey(range, bit);
      if (bit >= range.pool.size || (before.has(bit) && range.born.has(key))) continue;
      range.born.set(key, revision);
      events.push({ key, value: recordOf(key), place: undefined });
    }
    for (const bit of before) {
      if (bits.has(bit)) continue;
      const key = recordKey(range, bit);
      // Who is given the number next may be about to write a service, as well.
      this.#sightings.delete(key);
      if (range.born.delete(key)) events.push({ key, value: undefined, place: undefined });
    }
    range.state = { spec: state?.spec ?? '', bits, whole: state?.whole };
    range.modRevision = state === undefined ? 0 : revision;
    return events;
  }

  /** Records there are, with the revision of each. */
  records(): readonly { readonly key: string; readonly revision: number; readonly value: Uint8Array }[] {
    return this.#ranges.flatMap(({ born }) =>
      [...born].map(([key, revision]) => ({ key, revision, value: recordOf(key) })),
    );
  }

  /** The records of what a service has, which say whose they are. */
  recordsOf(service: JsonObject): readonly { readonly key: string; readonly value: Uint8Array }[] {
    const { namespace = '', name = '', uid = '' } = metadataOf(service);
    return claimsOf((service.spec ?? {}) as ServiceFields).map(({ storageKey, written }) => {
      const asWritten = objectKey(storageKey, '', written);
      const found = this.#find(asWritten);
      const key = found === undefined ? asWritten : recordKey(found.range, found.bit);
      return { key, value: recordOf(key, { owner: { namespace, name, uid } }) };
    });
  }

  /** What writes of records are for the ranges. Records of numbers in no range are noted nowhere. */
  plan(writes: readonly SharedWrite[]): RangePlan {
    const changed = new Map<KnownRange, Set<number>>();
    for (const { key, expect, value } of writes) {
      const found = this.#find(key);
      if (found === undefined) continue;
      const { range, bit } = found;
      const bits = changed.get(range) ?? new Set(range.state.bits);
      changed.set(range, bits);
      const isThere = bits.has(bit);
      if (value === undefined ? !isThere || range.born.get(key) !== expect : isThere)
        return { takenAt: range.modRevision };
      if (value === undefined) bits.delete(bit);
      else bits.add(bit);
    }
    return { writes: [...changed].map(([range, bits]) => writeOf(range, bits)) };
  }

  /** A plan was carried out at a revision. */
  wrote(writes: readonly RangeWrite[], revision: number): void {
    for (const { path, state } of writes) this.told(path, state, revision);
  }

  /** What lies under a key cannot be read. Of a service it is not known what it claims: until it is, nothing is freed. */
  serviceUnread(key: string): void {
    if (parseKey(key).storageKey === SERVICES) this.#unread.add(key);
  }

  /** A service as it was written, or undefined when it is gone. */
  noteService(key: string, service: JsonObject | undefined): void {
    this.#unread.delete(key);
    if (service === undefined) {
      this.#claims.delete(key);
      return;
    }
    const claims = claimsOf((service.spec ?? {}) as ServiceFields).flatMap(({ storageKey, written }) => {
      const found = this.#find(objectKey(storageKey, '', written));
      return found === undefined ? [] : [recordKey(found.range, found.bit)];
    });
    if (claims.length > 0) this.#claims.set(key, claims);
    else this.#claims.delete(key);
  }

  /** What the ranges must be by the services: what one claims is noted, and what none has claimed for a while is free. */
  repairs(): readonly RangeWrite[] {
    if (this.#unread.size > 0) return [];
    const claimed = new Set([...this.#claims.values()].flat());
    return this.#ranges.flatMap((range) => {
      const isOurs = range.state.spec === range.pool.shown && range.modRevision > 0;
      const bits = new Set(isOurs ? range.state.bits : []);
      let changes = isOurs ? 0 : 1;
      for (const key of claimed) {
        const bit = this.#bitIn(range, key);
        if (bit < 0 || bits.has(bit)) continue;
        bits.add(bit);
        changes++;
      }
      for (const bit of bits) {
        if (!this.#isLeaked(recordKey(range, bit), claimed)) continue;
        bits.delete(bit);
        changes++;
      }
      return changes === 0 ? [] : [writeOf(range, bits)];
    });
  }

  /** What services have and no range notes. */
  unnoted(): readonly string[] {
    return this.#ranges.flatMap((range) => {
      return [...this.#claimed(range)].filter((bit) => !range.state.bits.has(bit)).map((bit) => recordKey(range, bit));
    });
  }

  #claimed(range: KnownRange): Set<number> {
    const keys = [...this.#claims.values()].flat();
    return new Set(keys.map((key) => this.#bitIn(range, key)).filter((bit) => bit >= 0));
  }

  #isLeaked(key: string, claimed: ReadonlySet<string>): boolean {
    if (claimed.has(key)) {
      this.#sightings.delete(key);
      return false;
    }
    const sightings = (this.#sightings.get(key) ?? 0) + 1;
    this.#sightings.set(key, sightings);
    if (sightings < LEAK_SIGHTINGS) return false;
    this.#sightings.delete(key);
    return true;
  }

  #find(key: string): { readonly range: KnownRange; readonly bit: number } | undefined {
    for (const range of this.#ranges) {
      const bit = this.#bitIn(range, key);
      if (bit >= 0) return { range, bit };
    }
    return undefined;
  }

  #bitIn({ storageKey, pool }: KnownRange, key: string): number {
    const parsed = parseKey(key);
    return parsed.storageKey === storageKey ? pool.index(parsed.name) : -1;
  }
}

function writeOf({ path, pool, state, modRevision }: KnownRange, bits: ReadonlySet<number>): RangeWrite {
  return {
    compare: { key: path, target: 'modRevision', value: modRevision },
    path,
    state: { spec: pool.shown, bits, whole: state.whole },
  };
}

function recordKey({ storageKey, pool }: KnownRange, bit: number): string {
  return objectKey(storageKey, '', pool.text(bit));
}

/** A record in our stored form: whose it is, a bit does not say. */
function recordOf(key: string, more: JsonObject = {}): Uint8Array {
  const record = { metadata: { name: parseKey(key).name }, ...more };
  const { text, revisionOffset, itemOffset } = encodeStored(record, 'internal/v1', 'Record');
  const json = Buffer.from(text);
  const target = Buffer.allocUnsafe(storedValueBytesMax('', json.length, itemOffset));
  const head = { revision: 0, bornRevision: 0, schemaGeneration: 1, revisionOffset, itemOffset };
  return target.subarray(0, writeStoredValue(target, 0, key, head, '', json, 'json'));
}
