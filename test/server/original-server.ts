// Does to an etcd what a kube-apiserver of 1.20 or 1.21 does, as far as others can tell: its keys, its values (Protobuf by a route of
// its own, test/server/kubernetes-messages.ts), a transaction a write, its ranges, master leases and leases of events, its turn at
// compaction. Serves nobody. Written from what is known of that server; nothing of ours but the way to etcd is used.
import { type EtcdCluster, EtcdError, type EtcdOperation } from '../../storage/etcd/etcd-cluster.ts';
import { fromWire, openWire, sealWire } from './kubernetes-messages.ts';

export type Json = Record<string, unknown>;

export interface Found {
  readonly object: Json;
  readonly revision: number;
  /** Of the envelope; of JSON its own. */
  readonly apiVersion: string;
  readonly isProtobuf: boolean;
}

const RANGES = { addresses: 'ranges/serviceips', ports: 'ranges/servicenodeports' } as const;

export class OriginalServer {
  readonly #cluster: EtcdCluster;
  readonly #prefix: string;
  #lease = 1_000_000;
  #compaction = { version: 0, revision: 0 };
  /** As a transformer of values: of encryption at rest. */
  readonly transform: {
    readonly seal: (path: string, value: Buffer) => Buffer;
    readonly open: (path: string, value: Buffer) => Buffer;
  };

  constructor(
    cluster: EtcdCluster,
    prefix = '/registry',
    transform: OriginalServer['transform'] = { seal: (_, value) => value, open: (_, value) => value },
  ) {
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.transform = transform;
  }

  path(below: string): string {
    return `${this.#prefix}/${below}`;
  }

  /** Throws when there is one. Answers the revision. */
  async create(below: string, apiVersion: string, kind: string, object: Json, lease?: number): Promise<number> {
    return this.#put(below, 0, sealWire(apiVersion, kind, object), lease);
  }

  /** What definitions make, definitions and APIServices are JSON. */
  async createJson(below: string, object: Json): Promise<number> {
    return this.#put(below, 0, Buffer.from(`${JSON.stringify(object)}\n`));
  }

  /** Whatever is there, in any form: what another program or an older release left. */
  async leave(below: string, value: Uint8Array): Promise<number> {
    const put = { put: { key: this.path(below), value } };
    return (await this.#cluster.transact({ compare: [], success: [put], failure: [] })).revision;
  }

  async get(below: string): Promise<Found | undefined> {
    const path = this.path(below);
    const { pairs } = await this.#cluster.range({ key: path });
    const [pair] = pairs;
    return pair === undefined
      ? undefined
      : { revision: pair.modRevision, ...this.#decoded(this.transform.open(path, Buffer.from(pair.value))) };
  }

  /** Reads, changes and writes until nobody came in between. */
  async update(below: string, kind: string, change: (object: Json) => Json): Promise<number> {
    for (;;) {
      const found = await this.get(below);
      if (found === undefined) throw new Error(`there is no ${below}`);
      const { kind: _, apiVersion, ...object } = change(found.object);
      const value = found.isProtobuf
        ? sealWire(String(apiVersion), kind, object)
        : Buffer.from(JSON.stringify({ kind, apiVersion, ...object }));
      try {
        return await this.#put(below, found.revision, value);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
      }
    }
  }

  async delete(below: string): Promise<number> {
    const found = await this.get(below);
    const key = this.path(below);
    const compare = [{ key, target: 'modRevision' as const, value: found?.revision ?? -1 }];
    const answer = await this.#cluster.transact({ compare, success: [{ delete: { key } }], failure: [] });
    if (!answer.succeeded) throw new Lost(below);
    return answer.revision;
  }

  /** Notes in the range that a number is given, then creates the service. Throws when it is given already. */
  async createService(
    below: string,
    spec: Json,
    bits: { readonly address: number; readonly port?: number },
    object: Json,
  ): Promise<number> {
    await this.allocate('addresses', bits.address);
    if (bits.port !== undefined) await this.allocate('ports', bits.port);
    return this.create(below, 'v1', 'Service', { ...object, spec });
  }

  async allocate(range: keyof typeof RANGES, bit: number): Promise<void> {
    await this.update(RANGES[range], 'RangeAllocation', (found) => {
      const number = BigInt(`0x0${Buffer.from(String(found.data ?? ''), 'base64').toString('hex')}`);
      if ((number >> BigInt(bit)) & 1n) throw new Error(`${bit} of ${RANGES[range]} is given`);
      return { ...found, data: bytesOf(number | (1n << BigInt(bit))).toString('base64') };
    });
  }

  /** Which numbers are given. */
  async given(range: keyof typeof RANGES): Promise<readonly number[]> {
    const found = await this.get(RANGES[range]);
    const number = BigInt(`0x0${Buffer.from(String(found?.object.data ?? ''), 'base64').toString('hex')}`);
    const bits: number[] = [];
    for (let bit = 0n; number >> bit > 0n; bit++) if ((number >> bit) & 1n) bits.push(Number(bit));
    return bits;
  }

  /** Says that a server is at an address, for fifteen seconds. */
  async heartbeat(address: string): Promise<void> {
    const lease = ++this.#lease;
    await this.#cluster.grantLease(lease, 15);
    const below = `masterleases/${address}`;
    const found = await this.get(below);
    const generation = Number((found?.object.metadata as Json | undefined)?.generation ?? 0) + 1;
    const object = { metadata: { generation }, subsets: [{ addresses: [{ ip: address }] }] };
    await this.#put(below, found?.revision ?? 0, sealWire('v1', 'Endpoints', object), lease);
  }

  /** An event, which ends with its lease. */
  async createEvent(below: string, object: Json, seconds: number): Promise<number> {
    const lease = ++this.#lease;
    await this.#cluster.grantLease(lease, seconds);
    return this.create(below, 'v1', 'Event', object, lease);
  }

  /** One turn of the compactor; true when it compacted. */
  async compact(): Promise<boolean> {
    const key = 'compact_rev_key';
    const { version, revision } = this.#compaction;
    const answer = await this.#cluster.transact({
      compare: [{ key, target: 'version', value: version }],
      success: [{ put: { key, value: Buffer.from(String(revision)) } }],
      failure: [{ range: { key } }],
    });
    const [result] = answer.results;
    const seen = result?.kind === 'range' ? (result.pairs[0]?.version ?? 0) : version + 1;
    this.#compaction = { version: seen, revision: answer.revision };
    if (!answer.succeeded || revision === 0) return false;
    await this.#cluster.compact(revision).catch((error: unknown) => {
      if (!(error instanceof EtcdError && error.kind === 'compacted')) throw error;
    });
    return true;
  }

  async #put(below: string, expect: number, value: Buffer, lease?: number): Promise<number> {
    const key = this.path(below);
    const put: EtcdOperation = {
      put: { key, value: this.transform.seal(key, value), ...(lease === undefined ? {} : { lease }) },
    };
    const compare = [{ key, target: 'modRevision' as const, value: expect }];
    const answer = await this.#cluster.transact({ compare, success: [put], failure: [{ range: { key } }] });
    if (!answer.succeeded) throw new Lost(below);
    return answer.revision;
  }

  /** As the original's decoder does it: by the first bytes. Fields that the messages of the tests lack are lost. */
  #decoded(value: Buffer): Omit<Found, 'revision'> {
    if (value[0] === 0x7b) {
      const object = JSON.parse(value.toString()) as Json;
      return { object, apiVersion: String(object.apiVersion), isProtobuf: false };
    }
    const { apiVersion, kind, raw } = openWire(value);
    return { object: { kind, apiVersion, ...fromWire(kind, raw) }, apiVersion, isProtobuf: true };
  }
}

/** Somebody else was first. */
export class Lost extends Error {
  constructor(below: string) {
    super(`${below} was changed meanwhile`);
  }
}

function bytesOf(number: bigint): Buffer {
  const hex = number.toString(16);
  return number === 0n ? Buffer.alloc(0) : Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
