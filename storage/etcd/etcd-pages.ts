// Everything that lies in etcd at one revision, a page of keys at a time.
import type { SharedValue } from '../shared-engine.ts';
import type { EtcdCluster } from './etcd-cluster.ts';
import type { EtcdKeys } from './etcd-keys.ts';

const PAGE_KEYS = 500;

export class EtcdPages {
  readonly #cluster: EtcdCluster;
  readonly #keys: EtcdKeys;
  #after: string;
  #isDone = false;
  /** The revision that is read: as given, or that of the first page. */
  revision: number;

  constructor(cluster: EtcdCluster, keys: EtcdKeys, revision = 0) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#after = keys.objects;
    this.revision = revision;
  }

  /** The next values, empty at the end, by their keys without what stands before those of objects. May be asked again when it was rejected. */
  async next(): Promise<readonly SharedValue[]> {
    if (this.#isDone) return [];
    const { objects, objectsEnd } = this.#keys;
    const at = this.revision === 0 ? {} : { revision: this.revision };
    const answer = await this.#cluster.range({ key: this.#after, end: objectsEnd, limit: PAGE_KEYS, ...at });
    if (this.revision === 0) this.revision = answer.revision;
    const last = answer.pairs.at(-1);
    this.#isDone = !answer.more || last === undefined;
    if (last !== undefined) this.#after = `${last.key}\0`;
    return answer.pairs.map(({ key, modRevision, value }) => ({ key: key.slice(objects.length), modRevision, value }));
  }
}
