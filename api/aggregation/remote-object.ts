// What extension servers have: the objects that are owned or on their way out, and how many there are. And what is to be written to such an
// object. Plain data: it crosses threads.
import type { JsonObject } from '../json/json-value.ts';

/** A type of an extension server, in the version that its objects are read and written in. */
export interface RemoteType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface RemoteObject {
  readonly type: RemoteType;
  /** As its server says: of what matters here, `ownerReferences`, `finalizers` and `deletionTimestamp`. */
  readonly metadata: JsonObject;
}

/** How many objects of a type there are in each namespace that has some. */
export interface RemoteCount {
  readonly group: string;
  readonly plural: string;
  readonly byNamespace: readonly (readonly [namespace: string, count: number])[];
}

/** What one look at all extension servers found. */
export interface RemoteListing {
  /** The objects that name an owner, or are being deleted. */
  readonly objects: readonly RemoteObject[];
  /** Of the types that quotas may limit and whose objects were all seen. */
  readonly counts: readonly RemoteCount[];
  /** The types whose objects were all seen. */
  readonly types: readonly RemoteType[];
  /** Every server said what it has. */
  readonly isWhole: boolean;
}

/** A write to an object of an extension server. */
export interface RemoteWrite {
  readonly verb: 'delete' | 'patch';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** DeleteOptions, or a JSON merge patch. */
  readonly body: object;
}

/** How it was answered. `message`: of what was refused. */
export interface RemoteWriteReply {
  readonly code: number;
  readonly message: string;
}
