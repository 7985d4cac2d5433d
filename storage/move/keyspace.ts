// A keyspace in etcd as a move sees it: no server may use it meanwhile. Every write of the move holds only while the identity
// is as this run wrote it, and servers compare it in each of their batches: whoever was running ends, and of two moves that
// run at once the earlier one does. Calls that nobody answered are asked again.
import type { Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { askedAgain } from '../etcd/asked-again.ts';
import type { EtcdCluster, EtcdOperation } from '../etcd/etcd-cluster.ts';
import { type Identity, readIdentity } from '../etcd/etcd-identity.ts';
import { etcdKeys } from '../etcd/etcd-keys.ts';
import { EMPTY_OUTLINE } from '../etcd/etcd-outline.ts';
import { ObjectPages } from '../etcd/etcd-pages.ts';

/** A server that controls renews its lease every two seconds. */
const QUIET_MS = 6000;
const KEYS_A_BATCH = 100;

export interface KeyspaceParts {
  readonly cluster: EtcdCluster;
  readonly prefix: string;
  readonly timers: Timers;
}

export interface FoundIdentity {
  readonly identity: Identity;
  readonly version: number;
}

export class MovedKeyspace {
  readonly #cluster: EtcdCluster;
  readonly #timers: Timers;
  readonly #keys: ReturnType<typeof etcdKeys>;

  constructor({ cluster, prefix, timers }: KeyspaceParts) {
    this.#cluster = cluster;
    this.#timers = timers;
    this.#keys = etcdKeys(prefix);
  }

  /** The key that the others lie beside. */
  get place(): string {
    return this.#keys.identity;
  }

  async identity(): Promise<FoundIdentity | undefined> {
    const { pairs } = await this.#ask(() => this.#cluster.range({ key: this.#keys.identity }));
    const [pair] = pairs;
    return pair && { identity: readIdentity(this.#keys.identity, pair), version: pair.version };
  }

  async holdsObjects(): Promise<boolean> {
    const { objects: key, objectsEnd: end } = this.#keys;
    return (await this.#ask(() => this.#cluster.range({ key, end, limit: 1 }))).pairs.length > 0;
  }

  /** Writes the identity if it was written `version` times; resolves with how often it is then. Throws StoreUnusable. */
  async claim(identity: Identity, version: number): Promise<number> {
    const key = this.#keys.identity;
    const value = Buffer.from(JSON.stringify(identity));
    const { succeeded, results } = await this.#ask(() =>
      this.#cluster.transact({
        compare: [{ key, target: 'version', value: version }],
        success: [{ put: { key, value } }],
        failure: [{ range: { key } }],
      }),
    );
    if (succeeded) return version + 1;
    const [result] = results;
    const found = result?.kind === 'range' ? result.pairs[0] : undefined;
    // The answer to the same question may have been lost.
    if (found?.version === version + 1 && value.equals(found.value)) return found.version;
    throw this.#taken();
  }

  /** Removes every object, and says with the outline that something changed. */
  async clear(version: number): Promise<void> {
    const { objects: key, objectsEnd: end } = this.#keys;
    for (;;) {
      const { pairs } = await this.#ask(() => this.#cluster.range({ key, end, limit: KEYS_A_BATCH }));
      if (pairs.length === 0) return;
      await this.#write(
        pairs.map((pair) => ({ delete: { key: pair.key } })),
        version,
      );
    }
  }

  /** Writes objects, as many as fit into one transaction; they are then all of one revision. */
  put(objects: readonly (readonly [key: string, value: Uint8Array])[], version: number): Promise<void> {
    return this.#write(
      objects.map(([key, value]) => ({ put: { key: this.#keys.objects + key, value } })),
      version,
    );
  }

  /** The engine revision of the newest batch. */
  async newest(): Promise<number> {
    return (await this.#ask(() => this.#cluster.range({ key: this.#keys.outline }))).pairs[0]?.modRevision ?? 0;
  }

  /** Every object, a page at a time, at one revision. */
  async *objects() {
    const pages = new ObjectPages(this.#cluster, this.#keys);
    for (let page = await this.#ask(() => pages.next()); page.length > 0; page = await this.#ask(() => pages.next())) {
      yield page;
    }
  }

  /** Throws StoreUnusable when something writes: a server is running. */
  async refuseInUse(): Promise<void> {
    const before = await this.newest();
    await new Promise<void>((resolve) => void this.#timers.after(QUIET_MS, resolve));
    if ((await this.newest()) === before) return;
    throw new OrchError('StoreUnusable', `a server is running on ${this.place}: stop all of them first`);
  }

  async #write(operations: readonly EtcdOperation[], version: number): Promise<void> {
    const { identity, outline } = this.#keys;
    const { succeeded } = await this.#ask(() =>
      this.#cluster.transact({
        compare: [{ key: identity, target: 'version', value: version }],
        success: [{ put: { key: outline, value: EMPTY_OUTLINE } }, ...operations],
        failure: [],
      }),
    );
    if (!succeeded) throw this.#taken();
  }

  #taken(): OrchError {
    return new OrchError('StoreUnusable', `${this.place} was changed by somebody else: is another move running?`);
  }

  #ask<T>(question: () => Promise<T>): Promise<T> {
    return askedAgain(this.#timers, question);
  }
}
