// The stored objects of some types as a stream of changes, for actors that follow the store without being a hub
// (scheduler, controllers). Owns the reader's epoch; reads records straight from shared memory, and parses an object
// only when asked to.
import type { Snapshot, StoreBatch } from '../actors/store/protocol.ts';

/** One object as of the snapshot, or one change after it. */
export interface FeedEvent {
  /** `present`: in the snapshot. `put`: created or changed. `delete`: removed; `object()` is its last state. */
  readonly type: 'present' | 'put' | 'delete';
  /** ResourceType.storageKey, such as `core/pods`. */
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** Parses the object. Call it within the callback: the record may be gone afterwards. */
  object(): Record<string, unknown>;
}

/**
 * Turns `storeBatch` messages into FeedEvents. The actor subscribes (`store.ask({type: 'subscribe', …})`), gives the
 * reply to `begin`, then every `storeBatch` to `apply`; on `storeLost` it begins again with a new snapshot.
 */
export interface StoreFeed {
  /** Calls back `present` for every live object of the wanted types. */
  begin(snapshot: Snapshot): void;
  /** Calls back `put` and `delete`, in order of revision. */
  apply(batch: StoreBatch): void;
}
