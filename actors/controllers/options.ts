// What the controllers are told when they are made.

import type { ServedGroup } from '../../api/resources/registry.ts';
import type { ControllerName } from '../../config/controllers.ts';
import type { DialectName } from '../../config/dialect.ts';
import type { KeyPair } from '../../transport/http.ts';
import type { PairFiles } from '../../transport/tls/material-files.ts';
import type { IpRange } from '../../values/ip.ts';
import type { AuthorityFiles } from '../followed-authorities.ts';
import type { CustomTypes } from './custom-types.ts';
import type { IdentityLeaseSettings } from './leases/identity-leases.ts';

/** One persisted namespaced type in one served version: how to delete its objects through the API. */
export interface NamespacedType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** ResourceType.storageKey. Several rows may share one; the first is used. */
  readonly storageKey: string;
}

/** A resource in one version, as paths name it. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** One type whose objects are stored, in one version. */
export interface PersistedType extends NamespacedType {
  /** `v1` or `<group>/<version>`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The same of this server's own types. */
export interface StoredType extends PersistedType {
  /** The apiVersion that objects are stored in. */
  readonly storageApiVersion: string;
}

/** How `default/<brand>` keeps its addresses (`--endpoint-reconciler-type`). */
export type EndpointReconcilerType = 'lease' | 'master-count' | 'none';

/** What extension servers need to know to trust this server's word on who is asking. Empty texts and lists: not set. */
export interface AuthenticationInfo {
  readonly clientCaPem: string;
  readonly requestHeaderCaPem: string;
  readonly requestHeaderAllowedNames: readonly string[];
  readonly requestHeaderUsernameHeaders: readonly string[];
  readonly requestHeaderGroupHeaders: readonly string[];
  readonly requestHeaderExtraHeaderPrefixes: readonly string[];
}

/** Who signs the certificates that are requested, as PEM. */
export interface SigningAuthority extends KeyPair {
  /** Where it is from, by absolute paths; absent: it never changes. */
  readonly files?: PairFiles;
}

export interface ControllersOptions {
  readonly dialect: DialectName;
  /** Whether a resource is served in a version. */
  readonly isServed: (resource: ServedResource) => boolean;
  readonly namespacedTypes: readonly NamespacedType[];
  /** The built-in groups that are served. */
  readonly apiGroups: readonly ServedGroup[];
  /**
   * Every persisted type that is served, in all its versions: owners may be named in any. Where rows share a storage key,
   * a served version comes first.
   */
  readonly persistedTypes: readonly StoredType[];
  /** The types that definitions make. */
  readonly customTypes: CustomTypes;
  /** API priority and fairness is on. */
  readonly isFair: boolean;
  /** `--controllers`. */
  readonly running: readonly ControllerName[];
  /** `--enable-garbage-collector`. */
  readonly collectsGarbage: boolean;
  /** The authority that signed the serving certificate, published in every namespace. Empty: nothing is published. */
  readonly caPem: string;
  /** `--event-ttl`. 0: events are kept, or end by themselves. */
  readonly eventTtlMs: number;
  /** The first of `--service-cluster-ip-range`. */
  readonly serviceRange: IpRange;
  /** `--<brand>-service-node-port`. 0: the control plane's service is of type ClusterIP. */
  readonly serviceNodePort: number;
  readonly advertiseAddress: string;
  readonly securePort: number;
  readonly endpointReconcilerType: EndpointReconcilerType;
  /** Other servers may write to the store as well. */
  readonly sharesStore: boolean;
  /** There is a scheduler beside this one's controllers. */
  readonly hasScheduler: boolean;
  /** Under the gate APIServerIdentity; absent: this server has no lease of its own. */
  readonly identityLeases?: Omit<IdentityLeaseSettings, 'uid'>;
  /** Under the gate StorageVersionAPI, where there are such leases: what this server stores is said, if the resource for it is served. */
  readonly keepsStorageVersions: boolean;
  /** `--apiserver-count`: the most addresses that the `master-count` reconciler keeps. */
  readonly apiserverCount: number;
  readonly authentication: AuthenticationInfo;
  /** Where the authorities in `authentication` are from; absent: they never change. */
  readonly authorityFiles?: AuthorityFiles;
  /** Service accounts are given secrets with tokens: there is a key to sign them. */
  readonly issuesTokens: boolean;
  /** Absent: nobody signs certificate requests here. */
  readonly signingAuthority?: SigningAuthority;
}
