// The namespaces, priority classes, API services and the authentication settings that a cluster has from its start.
import type { Dialect } from '../../config/dialect.ts';
import { API_GROUPS } from '../resources/api-groups.ts';
import type { Registry } from '../resources/registry.ts';
import { apiVersionOf } from '../resources/resource-table.ts';
import type { BootstrapObject } from './bootstrap-object.ts';

/** `default` and the system namespaces. */
export function namespaces(dialect: Dialect): readonly BootstrapObject[] {
  return ['default', dialect.nodeLeaseNamespace, dialect.publicNamespace, dialect.systemNamespace].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { [dialect.spell('@label/metadata.name')]: name } },
    spec: { finalizers: [dialect.brand] },
    status: { phase: 'Active' },
  }));
}

/** The two classes above all that users may make; pods that the cluster cannot do without name them. */
export function priorityClasses(dialect: Dialect): readonly BootstrapObject[] {
  const classes: readonly (readonly [name: string, value: number, description: string])[] = [
    ['system-node-critical', 2_000_001_000, 'For pods a node cannot do without.'],
    ['system-cluster-critical', 2_000_000_000, 'For pods the cluster cannot do without, which may move between nodes.'],
  ];
  return classes.map(([name, value, description]) => ({
    apiVersion: dialect.spell('scheduling.@group/v1'),
    kind: 'PriorityClass',
    metadata: { name },
    value,
    globalDefault: false,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  }));
}

/**
 * One APIService for every group version that `registry` serves, but for the group of APIServices itself. `now` is the
 * time (RFC 3339, in UTC) since which they are available.
 */
export function apiServices(dialect: Dialect, registry: Registry, now: string): readonly BootstrapObject[] {
  return API_GROUPS.flatMap(({ name, priorityMinimum, versions }) => {
    const group = dialect.spell(name);
    const served = new Set(registry.servedVersions(group));
    return Object.entries(versions)
      .filter(([version]) => priorityMinimum !== null && served.has(version))
      .map(([version, versionPriority]) => ({
        apiVersion: dialect.spell('apiregistration.@group/v1'),
        kind: 'APIService',
        metadata: {
          name: `${version}.${group}`,
          labels: { [dialect.spell('@short-aggregator.@label/automanaged')]: 'onstart' },
        },
        spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum: priorityMinimum, versionPriority },
        status: { conditions: [available(now, apiVersionOf(group, version))] },
      }));
  });
}

function available(lastTransitionTime: string, apiVersion: string): object {
  const message = `${apiVersion} is served by this server itself`;
  return { type: 'Available', status: 'True', lastTransitionTime, reason: 'Local', message };
}

/** How this server authenticates, told to extension servers so that they can do the same. PEM texts. */
export interface AuthenticationSettings {
  readonly clientCaPem?: string;
  readonly requestHeader?: {
    readonly caPem: string;
    /** Common names of proxies; empty: any that the authority signed. */
    readonly allowedNames: readonly string[];
    readonly usernameHeaders: readonly string[];
    readonly groupHeaders: readonly string[];
    readonly extraHeaderPrefixes: readonly string[];
  };
}

/** The config map extension servers read. Keys it already has and this does not name are to be kept. */
export function authenticationConfigMap(dialect: Dialect, settings: AuthenticationSettings): BootstrapObject {
  const { clientCaPem, requestHeader } = settings;
  const clientCa = clientCaPem === undefined ? {} : { 'client-ca-file': clientCaPem };
  const proxy =
    requestHeader === undefined
      ? {}
      : {
          'requestheader-client-ca-file': requestHeader.caPem,
          'requestheader-allowed-names': JSON.stringify(requestHeader.allowedNames),
          'requestheader-username-headers': JSON.stringify(requestHeader.usernameHeaders),
          'requestheader-group-headers': JSON.stringify(requestHeader.groupHeaders),
          'requestheader-extra-headers-prefix': JSON.stringify(requestHeader.extraHeaderPrefixes),
        };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: dialect.systemNamespace, name: 'extension-apiserver-authentication' },
    data: { ...clientCa, ...proxy },
  };
}
