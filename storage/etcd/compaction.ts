// Compaction of an etcd by whoever of its users comes first in each interval, as the original's servers do it: who raises a key
// compacts to what was newest when it last saw the key.
import { type EtcdCluster, EtcdError } from './etcd-cluster.ts';

export class SharedCompaction {
  readonly #cluster: EtcdCluster;
  readonly #key: string;
  /** What this process last saw: how often it was done, and the revision at that time. */
  #seen = { version: 0, revision: 0 };

  constructor(cluster: EtcdCluster, key: string) {
    this.#cluster = cluster;
    this.#key = key;
  }

  /** One turn; rejects as the cluster does. */
  async turn(): Promise<void> {
    const key = this.#key;
    const { version, revision } = this.#seen;
    const { succeeded, results, ...answer } = await this.#cluster.transact({
      compare: [{ key, target: 'version', value: version }],
      success: [{ put: { key, value: Buffer.from(String(revision)) } }],
      failure: [{ range: { key } }],
    });
    const [result] = results;
    const seen = result?.kind === 'range' ? (result.pairs[0]?.version ?? 0) : version + 1;
    this.#seen = { version: seen, revision: answer.revision };
    if (!succeeded || revision === 0) return;
    await this.#cluster.compact(revision).catch((error: unknown) => {
      // Others may have compacted further.
      if (!(error instanceof EtcdError && error.kind === 'compacted')) throw error;
    });
  }
}
