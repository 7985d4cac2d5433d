// What the server knows of one resource type in one group and version: a row of the registry. Pure data, already
// spelled in one dialect. The table is in resource-table.ts, the look-ups in registry.ts.
import type { Verb } from './verbs.ts';

/** A subresource such as `status`, `scale`, `binding`. */
export interface Subresource {
  readonly name: string;
  readonly kind: string;
  /** Group and version of the body's kind where they differ from the parent's, else those of the parent. */
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly Verb[];
  /** The feature gate that must be on for it to be served, if any. */
  readonly featureGate: string | undefined;
}

export type GenerationPart =
  | 'spec'
  | 'metadata.annotations'
  | 'metadata.labels'
  | 'webhooks'
  | 'content'
  | 'contentWithStatus';

/** How objects of the type behave on create, update and delete, as far as a row can say it (facts: strategies). */
export interface Traits {
  /** PUT to a missing name creates it (201). */
  readonly putCreates: boolean;
  /** PUT without resourceVersion overwrites; else 422. */
  readonly putWithoutResourceVersion: boolean;
  /** `metadata.generation` on create; 0: not set. */
  readonly initialGeneration: 0 | 1;
  /** The generation grows by one when one of these parts changes; `content` is all but metadata and status. */
  readonly generationParts: readonly GenerationPart[];
  /** `status` from clients is kept from the stored object on update, and dropped on create unless `keepsStatusOnCreate`. */
  readonly hasStatus: boolean;
  /** A create may bring its status along, as a node agent does when it registers its node. */
  readonly keepsStatusOnCreate: boolean;
  /** A status update leaves all metadata as stored, but for who owns the fields. */
  readonly statusKeepsMetadata: boolean;
  /** The status given on create, for example `{phase: 'Pending'}`. */
  readonly initialStatus: Readonly<Record<string, unknown>> | undefined;
  /** What happens to dependents when a delete does not say. Unsupported: whatever it says, no finalizer is added. */
  readonly defaultPropagation: 'Background' | 'Orphan' | 'Unsupported';
  /** What a completed DELETE answers with. */
  readonly deleteReturns: 'Status' | 'object';
  /** The format metadata.name must have (facts: validation formats). */
  readonly nameFormat: 'dns1123Subdomain' | 'dns1123Label' | 'dns1035Label' | 'pathSegment';
}

export interface ResourceType {
  readonly group: string;
  readonly version: string;
  /** `v1` or `<group>/<version>`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  /** The name in paths: `pods`. */
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: ReadonlySet<Verb>;
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** Instances are stored; false for virtual types such as token reviews. */
  readonly persisted: boolean;
  /** `<group>/<version>` that objects are stored in; empty when not persisted. */
  readonly storageApiVersion: string;
  /**
   * The first two parts of the store key, `<group>/<plural>` with `core` for the core group: the same for every version
   * and for types that share storage (`events` of two groups).
   */
  readonly storageKey: string;
  /** Paths a fieldSelector may name. The store keeps the values of `KnownType.storedFields`. */
  readonly selectableFields: readonly string[];
  readonly traits: Traits;
}

/** `<plural>` or `<plural>.<group>`, as errors and kubectl name a type. */
export function qualifiedName(type: { readonly group: string; readonly plural: string }): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}
