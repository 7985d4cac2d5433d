// Gives services their cluster addresses and node ports, each to one service only. An address in use is a record of its
// own in the store, under a key no request can name (an API group of built-in types has no such name, one of custom types
// has a dot in it). The record is put, absent before, in the transaction that writes the service, and deleted in the one
// that removes it: two admission threads that choose the same address cannot both commit, services never wait for each
// other as they would for one record of a whole range, and a crash can lose neither half.
import { deepEqual } from '../../api/json/deep-equal.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { metadataOf } from '../../api/metadata/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { addressPool, type Pool, pickFree, portPool } from '../../api/services/address-pool.ts';
import { ADDRESS_RECORDS, claimsOf, PORT_RECORDS } from '../../api/services/service-claims.ts';
import {
  completedSpec,
  type IpFamily,
  isHeadless,
  needsClusterIp,
  needsHealthPort,
  needsNodePort,
  type ServiceFields,
  type ServicePortFields,
  updatedSpec,
  withFamilies,
} from '../../api/services/service-fields.ts';
import { internalError } from '../../api/status/failures.ts';
import * as wrong from '../../api/status/field-error.ts';
import { type FieldError, invalidFrom } from '../../api/status/field-error.ts';
import { StatusError } from '../../api/status/status.ts';
import type { ValidationSettings } from '../../api/validation/report.ts';
import { parseKey } from '../../storage/object-key.ts';
import { recordKey } from '../../storage/records/slab-record.ts';
import { type IpRange, parseIp } from '../../values/ip.ts';
import { EXPECT_ABSENT } from '../store/protocol.ts';
import { type Draft, draftRecord, draftRemoval, NO_DRAFTS } from './commits/draft.ts';
import type { Allocated, Allocation } from './kind-version.ts';
import { findRecord, type StoreReader } from './stored/store-reader.ts';
import { NUMBERS_A_PLACE, withList } from './stored/stored-list.ts';

export interface ServiceNetwork {
  /** `--service-cluster-ip-range`: one range, or one of each family, the default family's first. */
  readonly clusterIpRanges: readonly IpRange[];
  /** `--service-node-port-range`, inclusive. */
  readonly nodePorts: { readonly first: number; readonly last: number };
}

/** A pool, and where the store keeps what is taken of it. */
interface Register {
  readonly storageKey: string;
  readonly pool: Pool;
}

/** What one service takes, by store key. */
type Claims = ReadonlyMap<string, { readonly storageKey: string; readonly text: string }>;

export class ServiceAllocation implements Allocation {
  readonly #reader: StoreReader;
  readonly #gate: ValidationSettings['gate'];
  /** Without, services say no families: they have one address, of the first range. */
  readonly #hasFamilies: boolean;
  readonly #families: readonly IpFamily[];
  readonly #addresses = new Map<string, Register>();
  readonly #ports: Register;

  constructor(reader: StoreReader, network: ServiceNetwork, gate: ValidationSettings['gate']) {
    this.#reader = reader;
    this.#gate = gate;
    this.#hasFamilies = gate('IPv6DualStack');
    this.#families = network.clusterIpRanges.map(({ family }): IpFamily => `IPv${family}`);
    for (const range of network.clusterIpRanges) {
      this.#addresses.set(`IPv${range.family}`, { storageKey: ADDRESS_RECORDS, pool: addressPool(range) });
    }
    this.#ports = { storageKey: PORT_RECORDS, pool: portPool(network.nodePorts.first, network.nodePorts.last) };
  }

  complete(_type: KnownType, object: JsonObject, stored: JsonObject | undefined): JsonObject {
    if (object.spec === stored?.spec) return object;
    const spec = specOf(object);
    const before = stored === undefined ? undefined : specOf(stored);
    const linked = before === undefined ? completedSpec(spec) : updatedSpec(spec, before);
    if (!this.#hasFamilies || keepsFamilies(linked, before)) {
      return linked === spec ? object : { ...object, spec: linked };
    }
    // Families that cannot be are told of once everything else is found to be right.
    const families = withFamilies(linked, this.#families);
    const complete = families.errors.length > 0 ? linked : families.spec;
    return complete === spec ? object : { ...object, spec: complete };
  }

  /** The first choice is blind, since it is nearly always free. */
  async allocate(
    type: KnownType,
    object: JsonObject,
    stored: JsonObject | undefined,
    informed: boolean,
  ): Promise<Allocated> {
    if (object.spec === stored?.spec) return { object, also: NO_DRAFTS };
    this.#requireFamilies(type, object, stored);
    const held = stored === undefined ? NO_CLAIMS : this.#claims(specOf(stored));
    const choice = new Choice(type, object, held, this.#reader, informed);
    let spec = await this.#withAddresses(specOf(object), choice);
    spec = await this.#withNodePorts(spec, choice, stored === undefined);
    spec = await this.#withHealthPort(spec, choice);
    const claims = this.#claims(spec);
    const also: Draft[] = [];
    for (const [key, { storageKey, text }] of claims) {
      if (!held.has(key)) also.push(this.#taking(storageKey, text, object));
    }
    for (const [key, claim] of held) {
      if (!claims.has(key)) also.push(...(await this.#giving(claim.storageKey, claim.text)));
    }
    return { object: { ...object, spec }, also };
  }

  /** Said of a service that nothing else is wrong with. */
  #requireFamilies(type: KnownType, object: JsonObject, stored: JsonObject | undefined): void {
    const spec = specOf(object);
    if (!this.#hasFamilies || keepsFamilies(spec, stored === undefined ? undefined : specOf(stored))) return;
    const { errors } = withFamilies(spec, this.#families);
    if (errors.length > 0) throw invalid(type, object, errors);
  }

  async release(_type: KnownType, object: JsonObject): Promise<readonly Draft[]> {
    const also: Draft[] = [];
    for (const { storageKey, text } of this.#claims(specOf(object)).values()) {
      also.push(...(await this.#giving(storageKey, text)));
    }
    return also;
  }

  async #withAddresses(spec: ServiceFields, choice: Choice): Promise<ServiceFields> {
    if (!needsClusterIp(spec) || isHeadless(spec)) return spec;
    const given = spec.clusterIPs ?? [];
    const addresses: string[] = [];
    const { ipFamilies: families = [] } = spec;
    for (const [index, family] of (families.length === 0 ? this.#families.slice(0, 1) : families).entries()) {
      const register = this.#addresses.get(family);
      const address = given[index];
      if (register === undefined) {
        // A family that services had under former options: what they have of it they keep.
        if (address !== undefined) addresses.push(address);
      } else if (address === undefined) addresses.push(await choice.pick(register));
      else {
        const problem = await choice.problemWith(register, address, 'IP');
        if (problem !== undefined) {
          choice.refuse('spec.clusterIPs', given, `failed to allocate IP ${address}: ${problem}`);
        }
        addresses.push(address);
      }
    }
    return { ...spec, clusterIP: addresses[0] ?? '', clusterIPs: addresses };
  }

  async #withNodePorts(spec: ServiceFields, choice: Choice, isNew: boolean): Promise<ServiceFields> {
    const { ports = [], allocateLoadBalancerNodePorts } = spec;
    if (!needsNodePort(spec) || ports.length === 0) return spec;
    const optsOut = spec.type === 'LoadBalancer' && this.#gate('ServiceLBNodePortControl');
    const isWanted = !(optsOut && allocateLoadBalancerNodePorts === false);
    /** One port of the service, whatever the protocol, is one port of the node. */
    const chosen = new Map<number, number>();
    const given = new Set<number>();
    for (const [index, { port = 0, nodePort = 0 }] of ports.entries()) {
      if (nodePort === 0) continue;
      const path = `spec.ports[${index}].nodePort`;
      await this.#requirePort(path, nodePort, choice);
      // A new service gives a port of the node to one port of its own, an update to any of other protocols.
      if (isNew && given.has(nodePort) && chosen.get(port) !== nodePort) choice.refuse(path, nodePort, ALREADY_TAKEN);
      given.add(nodePort);
      if (!chosen.has(port)) chosen.set(port, nodePort);
    }
    const complete: ServicePortFields[] = [];
    for (const port of ports) {
      if (port.nodePort || !isWanted) {
        complete.push(port);
        continue;
      }
      const number = port.port ?? 0;
      const nodePort = chosen.get(number) ?? Number(await choice.pick(this.#ports));
      chosen.set(number, nodePort);
      complete.push({ ...port, nodePort });
    }
    return { ...spec, ports: complete };
  }

  async #withHealthPort(spec: ServiceFields, choice: Choice): Promise<ServiceFields> {
    if (!needsHealthPort(spec)) return spec;
    const { healthCheckNodePort = 0 } = spec;
    if (healthCheckNodePort === 0) return { ...spec, healthCheckNodePort: Number(await choice.pick(this.#ports)) };
    await this.#requirePort('spec.healthCheckNodePort', healthCheckNodePort, choice);
    return spec;
  }

  async #requirePort(path: string, port: number, choice: Choice): Promise<void> {
    const problem = await choice.problemWith(this.#ports, String(port), 'port');
    if (problem !== undefined) choice.refuse(path, port, problem);
  }

  /** What of a spec is in use, what is of no pool (any more) as it is written. */
  #claims(spec: ServiceFields): Claims {
    const claims = new Map<string, { storageKey: string; text: string }>();
    for (const { storageKey, written } of claimsOf(spec)) {
      const family = `IPv${parseIp(written)?.family}`;
      const pool = storageKey === PORT_RECORDS ? this.#ports.pool : this.#addresses.get(family)?.pool;
      const index = pool?.index(written) ?? -1;
      // Written in one way only, since it is part of a key.
      const text = index < 0 ? written : pool!.text(index);
      claims.set(`${storageKey} ${text}`, { storageKey, text });
    }
    return claims;
  }

  #taking(storageKey: string, text: string, service: JsonObject): Draft {
    const { namespace = '', name = '', uid = '' } = metadataOf(service);
    const record = { metadata: { name: text }, owner: { namespace, name, uid } };
    return draftRecord(storageKey, text, record, EXPECT_ABSENT);
  }

  /** The removal of a record, when there is one. */
  async #giving(storageKey: string, text: string): Promise<readonly Draft[]> {
    const place = await findRecord(this.#reader, storageKey, '', text);
    return place === null ? NO_DRAFTS : [draftRemoval(storageKey, text, place.revision)];
  }
}

const ALREADY_TAKEN = 'provided port is already allocated';

/** What decides which addresses a service has. */
const FAMILY_FIELDS = ['type', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const;

/** What was accepted under other options stays acceptable. What was stored without families is given them. */
function keepsFamilies(spec: ServiceFields, before: ServiceFields | undefined): boolean {
  if (before === undefined || !needsClusterIp(before) || (before.ipFamilies ?? []).length === 0) return false;
  return FAMILY_FIELDS.every((field) => deepEqual(spec[field], before[field]));
}

const NO_CLAIMS: Claims = new Map();

/** The choices made for one service in one try. */
class Choice {
  readonly #type: KnownType;
  readonly #object: JsonObject;
  readonly #held: Claims;
  readonly #reader: StoreReader;
  readonly #informed: boolean;
  readonly #taken = new Map<string, Set<string>>();
  /** What others have, as far as it was read. */
  readonly #others = new Set<string>();

  constructor(type: KnownType, object: JsonObject, held: Claims, reader: StoreReader, informed: boolean) {
    this.#type = type;
    this.#object = object;
    this.#held = held;
    this.#reader = reader;
    this.#informed = informed;
  }

  async pick({ storageKey, pool }: Register): Promise<string> {
    const taken = await this.#takenOf(storageKey);
    const text = pickFree(pool, taken, () => this.#reader.context.random.next());
    if (text === undefined) {
      const what = storageKey === PORT_RECORDS ? 'nodePort' : 'serviceIP';
      throw new StatusError(internalError(`failed to allocate a ${what}: range is full`));
    }
    taken.add(text);
    return text;
  }

  /** Why a service may not have what it asks for; undefined when it may, as far as is known. */
  async problemWith({ storageKey, pool }: Register, text: string, what: 'IP' | 'port'): Promise<string | undefined> {
    const index = pool.index(text);
    if (this.#held.has(`${storageKey} ${index < 0 ? text : pool.text(index)}`)) return undefined;
    if (index < 0) return `provided ${what} is not in the valid range. The range of valid ${what}s is ${pool.shown}`;
    const taken = await this.#takenOf(storageKey);
    if (this.#others.has(`${storageKey} ${pool.text(index)}`)) return `provided ${what} is already allocated`;
    taken.add(pool.text(index));
    return undefined;
  }

  refuse(path: string, value: unknown, detail: string): never {
    throw invalid(this.#type, this.#object, [wrong.invalid(path, value, detail)]);
  }

  /** What is taken, by others and by this service so far. */
  async #takenOf(storageKey: string): Promise<Set<string>> {
    let taken = this.#taken.get(storageKey);
    if (taken === undefined) {
      taken = new Set(this.#informed ? await takenNames(this.#reader, storageKey) : undefined);
      for (const text of taken) this.#others.add(`${storageKey} ${text}`);
      this.#taken.set(storageKey, taken);
    }
    return taken;
  }
}

function takenNames(reader: StoreReader, storageKey: string): Promise<string[]> {
  return withList(reader, { storageKey, namespace: '' }, ({ places, slabs }) => {
    const names: string[] = [];
    for (let i = 0; i < places.length; i += NUMBERS_A_PLACE) {
      names.push(parseKey(recordKey(slabs.slab(places[i]!), places[i + 1]!)).name);
    }
    return names;
  });
}

function specOf(service: JsonObject): ServiceFields {
  return (service.spec ?? {}) as ServiceFields;
}

function invalid(type: KnownType, object: JsonObject, errors: readonly FieldError[]): StatusError {
  return new StatusError(invalidFrom(type.kind, type.group, metadataOf(object).name ?? '', errors));
}
