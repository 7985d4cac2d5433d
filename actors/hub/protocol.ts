// What the hub understands: reads and watches of stored objects. Asked by the ingress and admission of its own thread;
// the records that replies point at are read from the thread's slabs (storage/records/thread-slabs.ts).
import type { Rendering } from '../../rendering/rendering.ts';
import type { Protocol } from '../../runtime/actor.ts';
import type { PublishedPlace, StoreFeedTells } from '../store/protocol.ts';

/** How fresh an answer must be (SPEC.md "Resource-version semantics"). */
export type Freshness =
  /** At least everything committed when the question arrived. */
  | { readonly kind: 'mostRecent' }
  /** Nothing is asked. As clients must not go back in time from one hub to another, it is the most recent all the same. */
  | { readonly kind: 'any' }
  /** Whatever this hub has applied, for whoever checks it afterwards. Not for clients. */
  | { readonly kind: 'local' }
  | { readonly kind: 'notOlderThan'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

/** Which objects: a storage key prefix and selectors in text form (already checked by the ingress). */
export interface Selection {
  /** ResourceType.storageKey. */
  readonly storageKey: string;
  /** Empty means all namespaces, or a cluster-scoped type. */
  readonly namespace: string;
  readonly labelSelector: string;
  /** Terms over the type's storedFields. */
  readonly fieldSelector: string;
}

export interface ListQuery extends Selection {
  readonly freshness: Freshness;
  /** 0: no limit. */
  readonly limit: number;
  /** Continues an earlier list, at that list's revision whatever `freshness` says; empty: from the beginning. */
  readonly continueToken: string;
}

/** Why a read could not be answered. */
export type ReadRefusal =
  /** The revision asked for is before the history window: 410. */
  | {
      readonly refused: 'expired';
      readonly oldestRevision: number;
      /** For an expired continue token: one that goes on at the present revision, inconsistently. */
      readonly freshToken?: string;
    }
  /** Not a token of ours, or one for another list: 400. */
  | { readonly refused: 'badToken' }
  /** The revision asked for has not been reached in time: 504. */
  | { readonly refused: 'tooLarge'; readonly currentRevision: number }
  /** No present state from the store yet: 503. */
  | { readonly refused: 'notReady' }
  /** What is asked about is in the store and cannot be read: 500. `why`: in the words that clients are told. */
  | { readonly refused: 'unreadable'; readonly why: string };

export interface ListAnswer {
  readonly refused?: undefined;
  readonly revision: number;
  /** Of the store in whose slabs the records lie. */
  readonly incarnation: number;
  /** Slab and offset of each record, two numbers each, in key order. */
  readonly places: Uint32Array;
  /** For the next chunk when more objects follow, else empty. */
  readonly continueToken: string;
  /** How many follow; undefined where selectors make counting a scan. */
  readonly remaining: number | undefined;
  /** Keeps the records in place until `release` names it; 0 when there is nothing to release. */
  readonly pin: number;
}

export interface WatchQuery extends Selection {
  /** Chosen by the ingress, unique on its thread. */
  readonly watcher: number;
  /** Events after this revision; undefined: begin with ADDED for the present state, as fresh as `freshness` says. */
  readonly afterRevision: number | undefined;
  readonly freshness: Freshness;
  readonly bookmarks: boolean;
  /** The watch ends by itself after this, with a last bookmark when asked for. */
  readonly timeoutMs: number;
  /** After the initial ADDED events, send a bookmark annotated as their end. */
  readonly sendInitialEventsEnd: boolean;
  /** As what each event goes out: JSON or Protobuf, never indented. */
  readonly rendering: Rendering;
}

export interface HubProtocol extends Protocol {
  readonly asks: {
    readonly get: {
      readonly message: {
        readonly storageKey: string;
        readonly namespace: string;
        readonly name: string;
        readonly freshness: Freshness;
      };
      /** null: no such object. */
      readonly reply:
        | { readonly refused?: undefined; readonly place: PublishedPlace | null; readonly revision: number }
        | ReadRefusal;
    };
    readonly list: { readonly message: ListQuery; readonly reply: ListAnswer | ReadRefusal };
    /** Opens a watch; its frames go to the ingress by `watchFrames`. */
    readonly watch: {
      readonly message: WatchQuery;
      readonly reply: { readonly refused?: undefined; readonly revision: number } | ReadRefusal;
    };
    /** Answers when this hub has applied a revision, and so its thread knows the slabs of everything up to it. */
    readonly reach: {
      readonly message: { readonly revision: number };
      readonly reply: { readonly refused?: undefined; readonly revision: number } | ReadRefusal;
    };
    /** Answers when the ingress has been sent the events of all that was committed by then. */
    readonly flush: { readonly message: Record<never, never>; readonly reply: Record<never, never> };
    readonly status: {
      readonly message: Record<never, never>;
      readonly reply: {
        readonly ready: boolean;
        readonly revision: number;
        readonly watchers: number;
        readonly objects: number;
      };
    };
  };
  readonly tells: StoreFeedTells & {
    readonly release: { readonly pin: number };
    /**
     * The socket was full after bytes up to `deliveredRevision`. Whatever comes after them is dropped, and replayed after
     * `watchReady`, until a catch-up chunk that takes this message into account.
     */
    readonly watchParked: { readonly watcher: number; readonly deliveredRevision: number };
    /** The socket takes bytes again, or the last catch-up chunk was written. */
    readonly watchReady: { readonly watcher: number };
    readonly watchClosed: { readonly watcher: number };
  };
}

/** What a hub sends to the ingress of its thread. */
export type WatchDeliveryTells = {
  /**
   * One chunk for many watchers. `catchUp`: the single watcher's next chunk waits for `watchReady`; an empty one only says
   * that the watcher is live again.
   */
  readonly watchFrames: {
    readonly watchers: readonly number[];
    /** Of no shared memory, and never changed from here on: listeners send it without a copy. */
    readonly chunk: Uint8Array;
    readonly throughRevision: number;
    readonly catchUp: boolean;
    /** Of a catch-up chunk: how many `watchParked` of its watcher the hub had heard when it sent it. */
    readonly parks: number;
  };
  /** The watch ends after this last chunk (an ERROR event), which may be empty. */
  readonly watchEnded: { readonly watchers: readonly number[]; readonly chunk: Uint8Array };
};

/** The part of the ingress that the hub sees. */
export interface WatchDeliveryProtocol extends Protocol {
  readonly asks: Record<never, never>;
  readonly tells: WatchDeliveryTells;
}

declare module '../../runtime/actor.ts' {
  interface ActorProtocols {
    readonly hub: HubProtocol;
  }
}
