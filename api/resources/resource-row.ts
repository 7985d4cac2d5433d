// The shape of the resource table's rows: what is written down once per type, with everything most types share left
// out. resource-table.ts turns rows into ResourceTypes; the rows stand in the types-*.ts files.

import type { GenerationPart, Traits } from '../resource-type.ts';
import type { Verb } from '../verbs.ts';

/** The types of one API group. `group` and all other names are spelled with the dialect's markers. */
export interface GroupTypes {
  readonly group: string;
  readonly types: readonly TypeRow[];
}

export interface TypeRow extends VersionedTraits {
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Absent: namespaced. */
  readonly clusterScoped?: true;
  /** Never stored: a question put to the server, or a view of something else. */
  readonly virtual?: true;
  /** Not served while this gate is off. */
  readonly featureGate?: string;
  /** Absent: all eight. */
  readonly verbs?: readonly Verb[];
  /** The preferred version comes first. */
  readonly versions: Readonly<Record<string, VersionRow>>;
  /** Objects are those of the same plural in another group, where they are stored. */
  readonly sharedWith?: {
    readonly group: string;
    /** Selectable fields that the other group names otherwise: own name to the other's. */
    readonly fieldNames?: Readonly<Record<string, string>>;
  };

  readonly putCreates?: true;
  /** PUT without resourceVersion is refused. */
  readonly putNeedsResourceVersion?: true;
  readonly generationParts?: readonly GenerationPart[];
  /** Absent: 1 where generationParts are given, else 0. */
  readonly initialGeneration?: 0 | 1;
  readonly keepsStatusOnCreate?: true;
  readonly initialStatus?: Traits['initialStatus'];
  /** A completed DELETE answers with the object instead of a Status. */
  readonly deleteReturnsObject?: true;
  /** Absent: dns1123Subdomain. */
  readonly nameFormat?: Traits['nameFormat'];
}

/** What may differ between the versions of one type. */
export interface VersionedTraits {
  readonly subresources?: readonly SubresourceRow[];
  /** Absent: `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: readonly string[];
  /** Absent: Background. */
  readonly defaultPropagation?: Traits['defaultPropagation'];
  /** Absent: whether there is a `status` subresource. */
  readonly hasStatus?: boolean;
}

/** One version of a type: its life (releases as `1.21`) and where it differs from the row. */
export interface VersionRow extends VersionedTraits {
  readonly introducedIn?: string;
  readonly deprecatedIn?: string;
  readonly removedIn?: string;
  /** The version to use instead: `v1` of the same group, or `<group>/<version>`. */
  readonly replacement?: string;
}

export interface SubresourceRow {
  readonly name: string;
  /** Absent: the parent's. */
  readonly kind?: string;
  /** `<group>/<version>` of the kind. Absent: the parent's. */
  readonly apiVersion?: string;
  /** Absent: get, patch, update. */
  readonly verbs?: readonly Verb[];
  readonly featureGate?: string;
}

export const DEFAULT_SELECTABLE_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

export const STATUS: SubresourceRow = { name: 'status' };

export const SCALE: SubresourceRow = { name: 'scale', kind: 'Scale', apiVersion: 'autoscaling/v1' };
