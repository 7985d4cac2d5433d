// Stored objects as the tests of the controllers write and read them.

/** An object in a test: as loose as JSON. */
export interface Loose {
  [key: string]: Loose | Loose[] | string | number | boolean | undefined | null | string[];
}

interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** A stored object: metadata for certain, the rest as loose as JSON. */
export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec?: Loose;
  status?: Loose;
  data?: Record<string, string>;
  [key: string]: unknown;
}
