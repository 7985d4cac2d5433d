// Everything that lies in etcd at one revision, a page of keys at a time.
import type { SharedValue } from '../engines/shared-engine.ts';
import type { EtcdCluster, EtcdPair } from './etcd-cluster.ts';
import type { EtcdKeys } from './etcd-keys.ts';

const PAGE_KEYS_MAX = 500;
/** Of a first page, whose values may be of any size. */
const PAGE_KEYS_FIRST = 50;
/** What a page is to take: it lies in memory twice while it is put together. */
const PAGE_BYTES = 8 * 1024 * 1024;

export class EtcdPages {
  readonly #cluster: EtcdCluster;
  readonly #end: string;
  #after: string;
  #isDone = false;
  #limit = PAGE_KEYS_FIRST;
  /** The revision that is read: as given, or that of the first page. */
  revision: number;

  /** The keys from `from` to before `end`. */
  constructor(cluster: EtcdCluster, from: string, end: string, revision = 0) {
    this.#cluster = cluster;
    this.#end = end;
    this.#after = from;
    this.revision = revision;
  }

  /** The next pairs, empty at the end. May be asked again when it was rejected. */
  async next(): Promise<readonly EtcdPair[]> {
    if (this.#isDone) return [];
    const at = this.revision === 0 ? {} : { revision: this.revision };
    const answer = await this.#cluster.range({ key: this.#after, end: this.#end, limit: this.#limit, ...at });
    if (this.revision === 0) this.revision = answer.revision;
    const last = answer.pairs.at(-1);
    this.#isDone = !answer.more || last === undefined;
    if (last !== undefined) this.#after = `${last.key}\0`;
    this.#limit = limitBehind(answer.pairs, this.#limit);
    return answer.pairs;
  }
}

/** How many keys the next page is of, if their values are as large as those of this one. */
function limitBehind(pairs: readonly EtcdPair[], limit: number): number {
  const bytes = pairs.reduce((sum, { value }) => sum + value.byteLength, 0);
  if (bytes * 2 <= PAGE_BYTES) return Math.min(limit * 2, PAGE_KEYS_MAX);
  return Math.max(1, Math.min(limit, Math.floor((limit * PAGE_BYTES) / bytes)));
}

/** Those of the own layout's objects, by our keys. */
export class ObjectPages {
  readonly #pages: EtcdPages;
  readonly #prefix: string;

  constructor(cluster: EtcdCluster, { objects, objectsEnd }: EtcdKeys, revision = 0) {
    this.#pages = new EtcdPages(cluster, objects, objectsEnd, revision);
    this.#prefix = objects;
  }

  get revision(): number {
    return this.#pages.revision;
  }

  async next(): Promise<readonly SharedValue[]> {
    const from = this.#prefix.length;
    const page = await this.#pages.next();
    return page.map(({ key, modRevision, value }) => ({ key: key.slice(from), modRevision, value }));
  }
}
