// What the store understands. It is the only writer; everyone else reads the slabs it publishes (storage/records/slab-record.ts).
import type { Protocol } from '../../runtime/actor.ts';
import type { PresentState, Publication } from '../../storage/following/publication.ts';
import type { ResourceDigest } from '../../storage/live-digest.ts';

/** `expect` of an operation: the key must not exist. */
export const EXPECT_ABSENT = 0;
/** `expect` of an operation: whatever is there, or nothing. */
export const EXPECT_ANY = -1;

/** Writes one object. Its bytes lie in the message's payload. */
export interface PutOperation {
  /** `<group>/<plural>/<namespace>/<name>`, the namespace empty for cluster-scoped types. */
  readonly key: string;
  /** The revision of the last change, EXPECT_ABSENT or EXPECT_ANY. */
  readonly expect: number;
  readonly valueOffset: number;
  readonly valueLength: number;
  /** Where in the value the 16-byte resourceVersion slot begins (api/codec/stored-object.ts). */
  readonly revisionOffset: number;
  /** Where in the value the first member after kind and apiVersion begins. */
  readonly itemOffset: number;
  /** Labels and selectable field values, packed by storage/forms/attributes.ts. */
  readonly attributes: string;
  readonly schemaGeneration: number;
}

/** Removes one object. The event carries its last value with the revision of the removal. */
export interface DeleteOperation {
  readonly key: string;
  readonly expect: number;
  readonly delete: true;
}

export type Operation = PutOperation | DeleteOperation;

/** A key that must still be as it was read: guards commit nothing. `expect` as for operations. */
export interface Guard {
  readonly key: string;
  readonly expect: number;
}

/**
 * Operations that commit together under one revision, if every guard and expectation holds; else none does. A key may be
 * named once: a second operation on it is refused as `changed`.
 */
export interface Transaction {
  readonly operations: readonly Operation[];
  readonly guards?: readonly Guard[] | undefined;
  /**
   * Keys among those that it puts, to be removed again under the revision after it, or not at all: those who watch see the
   * object's last state before it goes.
   */
  readonly thenRemoves?: readonly string[] | undefined;
  /** Holds only if the first transaction of its message does, and is refused with the key of that one's refusal. */
  readonly isBehindFirst?: boolean;
}

/** Where an object's record lies, and the revision that wrote it. */
export interface Place {
  readonly revision: number;
  readonly slab: number;
  readonly offset: number;
}

/** A place as others hear of it: they may follow another store by then, or not have heard of this one yet. */
export interface PublishedPlace extends Place {
  /** Of the store. */
  readonly incarnation: number;
}

export type TransactionResult =
  | { readonly ok: true; readonly revision: number; readonly places: readonly PublishedPlace[] }
  | {
      readonly ok: false;
      /**
       * `exists`, `missing`, `changed`: an operation's expectation failed; `guard`: a guard's did. `unreadable`: nobody can tell what is
       * at the key.
       */
      readonly reason: 'exists' | 'missing' | 'changed' | 'guard' | 'unreadable';
      readonly key: string;
      /** The key's revision now, 0 when absent. */
      readonly currentRevision: number;
      /** Why what is at the key cannot be read, in the words that clients are told. */
      readonly why?: string;
    };

/** What was committed, as published to a subscriber. */
export type StoreBatch = Publication;

/** Extend this in the protocol of every actor that subscribes. */
export type StoreFeedTells = {
  readonly storeBatch: StoreBatch;
  /** The store restarted or gave this subscriber up (it lagged too far): drop everything and subscribe again. */
  readonly storeLost: Record<never, never>;
};

/** Everything a subscriber needs to begin. */
export type { PresentState };

/** Objects to be told of before all others: those of some types, and some by their keys, as far as they are there. */
export interface FirstObjects {
  readonly types?: readonly string[];
  readonly keys?: readonly string[];
}

/** What an actor asks for that is to be told what is committed. */
export interface Subscription {
  /** Its name. */
  readonly subscriber: string;
  /** Whose objects alone the present state names; absent: all. Batches are told whole. */
  readonly types?: readonly string[];
  /** The objects it names before all others. */
  readonly first?: FirstObjects;
  /** False: the present state names no history. */
  readonly history?: boolean;
  /** True: while much is written it may hear of it some milliseconds later. */
  readonly isPatient?: boolean;
}

export interface StoreHealth {
  readonly healthy: boolean;
  readonly revision: number;
  readonly reason: string;
}

export interface OpenedSnapshot {
  readonly id: number;
  readonly revision: number;
  readonly objects: number;
  /** Of the objects' keys and revisions. */
  readonly digest: number;
}

/** No snapshot can be taken now: why not. */
export interface RefusedSnapshot {
  readonly refused: string;
}

export interface StoreProtocol extends Protocol {
  readonly asks: {
    /** Group commit: answered when durable and published. Values of all transactions lie in `payload`. */
    readonly commit: {
      readonly message: { readonly transactions: readonly Transaction[]; readonly payload: Uint8Array };
      readonly reply: { readonly results: readonly TransactionResult[] };
    };
    /** Starts `storeBatch` messages to the named actor, each after the present state's sequence. */
    readonly subscribe: { readonly message: Subscription; readonly reply: PresentState };
    /** Sums over everything live at the newest revision, for readers that doubt themselves. */
    readonly digests: {
      readonly message: Record<never, never>;
      readonly reply: { readonly revision: number; readonly resources: readonly ResourceDigest[] };
    };
    /** A revision at least as new as everything that any server had acknowledged when this was asked. */
    readonly barrier: { readonly message: Record<never, never>; readonly reply: { readonly revision: number } };
    readonly health: { readonly message: Record<never, never>; readonly reply: StoreHealth };
    /** Whether a key management service answers, by its number in the encryption configuration. */
    readonly keyServiceHealth: {
      readonly message: { readonly number: number };
      /** Empty when it does. */
      readonly reply: { readonly problem: string };
    };
    /** Compacts up to a revision now, as the timer would. */
    readonly compact: {
      readonly message: { readonly upToRevision: number };
      readonly reply: { readonly compactedRevision: number };
    };
    /** Fixes a view of everything stored, for a snapshot file; to be closed when it was read. */
    readonly openSnapshot: {
      readonly message: Record<never, never>;
      readonly reply: OpenedSnapshot | RefusedSnapshot;
    };
    /** The next records of it (storage/upkeep/snapshot-file.ts), empty at the end. */
    readonly readSnapshot: {
      readonly message: { readonly id: number };
      readonly reply: { readonly payload: Uint8Array };
    };
  };
  readonly tells: {
    readonly unsubscribe: { readonly subscriber: string };
    readonly closeSnapshot: { readonly id: number };
  };
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly store: StoreProtocol;
  }
}
