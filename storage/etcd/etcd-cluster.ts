// What the engine asks of an etcd cluster, as plain data: by whatever means it is asked (storage/etcd/etcd-client.ts over the network).
// One call is one try at one member.

import type { MemberBytes } from '../engines/shared-engine.ts';

export interface EtcdPair {
  readonly key: string;
  readonly createRevision: number;
  readonly modRevision: number;
  /** Puts since the key was last made. */
  readonly version: number;
  readonly value: Uint8Array;
}

export interface RangeRequest {
  readonly key: string;
  /** Keys from `key` to before this one; absent: the one key. */
  readonly end?: string;
  /** The state at a revision; absent: now. */
  readonly revision?: number;
  readonly limit?: number;
}

export interface RangeAnswer {
  /** What was read is of this revision. */
  readonly revision: number;
  readonly pairs: readonly EtcdPair[];
  readonly more: boolean;
}

export interface EtcdCompare {
  readonly key: string;
  /** What must equal `value`; a key that is not there has 0 of both. */
  readonly target: 'modRevision' | 'version';
  readonly value: number;
}

export type EtcdOperation =
  /** `lease`: the key goes with it. */
  | { readonly put: { readonly key: string; readonly value: Uint8Array; readonly lease?: number } }
  /** The one key, or with `end` the keys from it to before that. */
  | { readonly delete: { readonly key: string; readonly end?: string } }
  | { readonly range: RangeRequest }
  | { readonly txn: EtcdTransaction };

export interface EtcdTransaction {
  readonly compare: readonly EtcdCompare[];
  readonly success: readonly EtcdOperation[];
  readonly failure: readonly EtcdOperation[];
}

export type EtcdResult =
  | { readonly kind: 'range'; readonly pairs: readonly EtcdPair[] }
  | { readonly kind: 'txn'; readonly succeeded: boolean }
  | { readonly kind: 'other' };

export interface TransactionAnswer {
  readonly revision: number;
  readonly succeeded: boolean;
  readonly results: readonly EtcdResult[];
}

export interface EtcdEvent {
  readonly key: string;
  /** Of a removal 0. */
  readonly createRevision: number;
  readonly modRevision: number;
  /** undefined: a removal. */
  readonly value: Uint8Array | undefined;
}

/** Hears one watch. Events come in order, those of a revision together. */
export interface WatchListener {
  onEvents(events: readonly EtcdEvent[]): void;
  /** Nothing more comes. */
  onEnd(error: EtcdError): void;
}

export interface EtcdStatus {
  readonly version: string;
  readonly databaseBytes: number;
}

export interface EtcdCluster {
  range(request: RangeRequest): Promise<RangeAnswer>;
  transact(transaction: EtcdTransaction): Promise<TransactionAnswer>;
  /** Follows the keys from `key` to before `end`, from a revision on. Returns what ends it. */
  watch(key: string, end: string, fromRevision: number, listener: WatchListener): () => void;
  compact(revision: number): Promise<void>;
  status(): Promise<EtcdStatus>;
  /** What the database of each member takes; those that do not answer are left out. Rejects where none does. */
  memberBytes(): Promise<MemberBytes>;
  /** Makes a lease of a name that no other has, which ends after so long. */
  grantLease(lease: number, seconds: number): Promise<void>;
  close(): void;
}

/**
 * `unknown`: nobody knows whether it was done. `refused`: it was not, and will not be. `full`: likewise, for want of room. `tooLarge`,
 * `tooMany`: likewise, for its bytes or its operations, however often it is sent.
 * `compacted`: what was asked for is forgotten. `leaseOver`: it names a lease that has ended, so that it was not done, and will not
 * be, however often it was sent.
 */
export type EtcdErrorKind = 'unknown' | 'refused' | 'full' | 'tooLarge' | 'tooMany' | 'compacted' | 'leaseOver';

export class EtcdError extends Error {
  readonly kind: EtcdErrorKind;
  /** Of a watch: what it asked for was forgotten up to here. */
  readonly compactRevision: number;

  constructor(kind: EtcdErrorKind, message: string, compactRevision = 0) {
    super(message);
    this.compactRevision = compactRevision;
    this.name = 'EtcdError';
    this.kind = kind;
  }
}
