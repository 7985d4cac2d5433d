// Where things lie in etcd. What is watched is one range: the objects, and the outline of the newest batch.

export interface EtcdKeys {
  /** Before every key of ours, and behind the last one. */
  readonly root: string;
  readonly rootEnd: string;
  /** What the keyspace was made with. */
  readonly identity: string;
  /** Written by every batch: its revision is that of the newest one, its value says what its removals cannot. */
  readonly outline: string;
  /** Before the key of an object. */
  readonly objects: string;
  readonly objectsEnd: string;
  /** Before the name of a process: counts its batches. */
  readonly writers: string;
  /** Whoever raises it compacts. */
  readonly compaction: string;
  /** Before the key of an object whose value a repair put aside. */
  readonly damaged: string;
}

/**
 * `prefix`: `--store-prefix`, with or without slashes at its end. What another server keeps under it lies beside ours. Of a prefix of nothing
 * but slashes nothing is left, and two slashes come first.
 */
export function etcdKeys(prefix: string): EtcdKeys {
  const named = prefix.replace(/\/+$/, '');
  const folder = `${named.startsWith('/') ? '' : '/'}${named}/orch`;
  const root = `${folder}/`;
  return {
    root,
    rootEnd: `${folder}0`,
    identity: `${root}identity`,
    outline: `${root}newest`,
    objects: `${root}objects/`,
    objectsEnd: `${root}objects0`,
    writers: `${root}writers/`,
    compaction: `${root}compaction`,
    damaged: `${root}damaged/`,
  };
}
