// How an etcd cluster is reached: plain data, since it crosses threads.

export interface EtcdAccess {
  /** `https://10.0.0.1:2379`; all of one cluster. */
  readonly servers: readonly string[];
  /** PEM: whom to believe, and who we are. */
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** Where these are from, absolute, to be read again when they change. */
  readonly caFile?: string;
  readonly pairFiles?: readonly [certificate: string, key: string];
  /** Where the cluster asks for them. */
  readonly name?: string;
  readonly password?: string;
}
