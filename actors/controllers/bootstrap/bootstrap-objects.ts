// The objects the API server makes for itself at start, and how each is set right when it differs: namespaces, system
// priority classes, its own service with endpoints, and what extension servers must know to trust it. Pure.

import { asList, asObject, partAt } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { firstUsableAddress, parseIp } from '../../../values/ip.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import type { ApiObject } from '../controller.ts';
import { addressesOf, addressesWith, addressesWithout, isAdvertisable } from '../endpoint-addresses.ts';
import { apiServiceVersion, aroundChecks, keepsStorageVersions } from '../extension/group-hooks.ts';
import { checkName, HOOK_AUTHENTICATION_INFO, HOOK_BOOTSTRAP, HOOK_PRIORITY_CLASSES, hooksOf } from '../hooks.ts';
import type { SettledOptions } from '../settled-options.ts';
import { authenticationData } from './authentication-info.ts';
import { desiredFlowControl } from './bootstrap-flow-control.ts';
import { desiredRbac } from './bootstrap-rbac.ts';
import type { Desired } from './desired.ts';

export type BootstrapOptions = Omit<SettledOptions, 'dialect' | 'eventTtlMs'> & {
  /** The addresses of all servers of the store; absent: this server has it for itself. */
  readonly liveAddresses?: () => readonly string[];
};

/**
 * All objects to make, namespaces first: those of types that are not served (`--runtime-config`) are left out, and with the
 * namespaces all that lie in them. Throws a RangeError when the service range has no address to use.
 */
export function desiredObjects(dialect: Dialect, options: BootstrapOptions): readonly Desired[] {
  const hasNamespaces = options.isServed(targetIn('v1', 'namespaces', '', ''));
  return everyObject(dialect, options).filter(
    ({ target }) => options.isServed(target) && (target.namespace === '' || hasNamespaces),
  );
}

/** The checks of the hooks that there are. */
export function hookChecks(dialect: Dialect, options: BootstrapOptions): readonly string[] {
  const ofObjects = hooksOf(desiredObjects(dialect, options)).map(checkName);
  return aroundChecks(dialect, ofObjects, {
    hasApiServices: apiServiceVersion(dialect, options) !== undefined,
    hasStorageVersions: keepsStorageVersions(dialect, options),
  });
}

function everyObject(dialect: Dialect, options: BootstrapOptions): readonly Desired[] {
  const service = desiredService(dialect, options);
  const whoAmI = targetIn(dialect.spell('authentication.@group/v1alpha1'), 'selfsubjectreviews', '', '');
  const hasEndpoints = options.endpointReconcilerType !== 'none' && isAdvertisable(options.advertiseAddress);
  return [
    ...desiredNamespaces(dialect),
    ...desiredPriorityClasses(dialect),
    ...desiredRbac(dialect, options.isServed(whoAmI)),
    ...desiredFlowControl(dialect),
    service,
    ...(hasEndpoints ? [desiredEndpoints(dialect, options), desiredEndpointSlice(dialect, options)] : []),
    desiredAuthenticationInfo(dialect, options),
  ];
}

function targetIn(groupVersion: string, resource: string, namespace: string, name: string): WriteTarget {
  const [version = '', group = ''] = groupVersion.split('/').reverse();
  return { group, version, resource, subresource: '', namespace, name };
}

function desiredNamespaces(dialect: Dialect): Desired[] {
  const names = ['default', dialect.systemNamespace, dialect.publicNamespace, dialect.nodeLeaseNamespace];
  return names.map((name) => ({
    storageKey: 'core/namespaces',
    target: targetIn('v1', 'namespaces', '', name),
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      // The label that says its name is a default, which a feature gate opens.
      metadata: { name },
      spec: { finalizers: [dialect.brand] },
    },
    hook: HOOK_BOOTSTRAP,
    review: 'every60s',
  }));
}

const PRIORITY_CLASSES = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'For pods that the node they run on cannot do without: they go before all others.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description: 'For pods that the cluster cannot do without: they go before all but node-critical ones.',
  },
] as const;

function desiredPriorityClasses(dialect: Dialect): Desired[] {
  const groupVersion = dialect.spell('scheduling.@group/v1');
  return PRIORITY_CLASSES.map(({ name, value, description }) => ({
    storageKey: dialect.spell('scheduling.@group/priorityclasses'),
    target: targetIn(groupVersion, 'priorityclasses', '', name),
    object: {
      apiVersion: groupVersion,
      kind: 'PriorityClass',
      metadata: { name },
      value,
      globalDefault: false,
      preemptionPolicy: 'PreemptLowerPriority',
      description,
    },
    hook: HOOK_PRIORITY_CLASSES,
    review: 'never',
  }));
}

function desiredService(dialect: Dialect, options: BootstrapOptions): Desired {
  const { securePort, serviceNodePort } = options;
  const port = { name: 'https', protocol: 'TCP', port: 443, targetPort: securePort };
  const ports = [serviceNodePort > 0 ? { ...port, nodePort: serviceNodePort } : port];
  const type = serviceNodePort > 0 ? 'NodePort' : 'ClusterIP';
  return {
    storageKey: 'core/services',
    target: targetIn('v1', 'services', 'default', dialect.brand),
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: dialect.brand,
        namespace: 'default',
        labels: { component: 'apiserver', provider: dialect.brand },
      },
      spec: {
        type,
        clusterIP: firstUsableAddress(options.serviceRange),
        ipFamilyPolicy: 'SingleStack',
        ports,
        sessionAffinity: 'None',
      },
    },
    hook: HOOK_BOOTSTRAP,
    review: 'every10s',
    // An operator's changes hold until the next start; then the ports and the type are those of the flags again.
    correct: (stored, isStart) => {
      const spec = asObject(stored.spec);
      if (!isStart || (spec.type === type && hasPorts(spec.ports, ports))) return undefined;
      return { ...stored, spec: { ...spec, type, ports } };
    },
  };
}

/** True when the stored list has the wanted ports; fields that a wanted port leaves out count as zero. */
function hasPorts(stored: unknown, wanted: readonly ApiObject[]): boolean {
  const fields = ['name', 'protocol', 'port', 'targetPort', 'nodePort'];
  const list = asList(stored).map(asObject);
  return (
    list.length === wanted.length &&
    wanted.every((port, index) => fields.every((field) => (list[index]?.[field] ?? 0) === (port[field] ?? 0)))
  );
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function desiredEndpoints(dialect: Dialect, options: BootstrapOptions): Desired {
  const { advertiseAddress, apiserverCount, endpointReconcilerType, liveAddresses } = options;
  const labels = { [dialect.spell('endpointslice.@label/skip-mirror')]: 'true' };
  const [labelName = ''] = Object.keys(labels);
  const ports = [{ name: 'https', port: options.securePort, protocol: 'TCP' }];
  const subsetsOf = (addresses: readonly string[]) =>
    addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports }];
  return {
    storageKey: 'core/endpoints',
    target: targetIn('v1', 'endpoints', 'default', dialect.brand),
    object: {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: dialect.brand, namespace: 'default', labels },
      subsets: subsetsOf([advertiseAddress]),
    },
    hook: HOOK_BOOTSTRAP,
    review: 'every10s',
    correct: (stored) => {
      const metadata = partAt(stored, 'metadata');
      const present = addressesOf(stored);
      const wanted = addressesWith(
        endpointReconcilerType,
        present,
        advertiseAddress,
        apiserverCount,
        liveAddresses?.(),
      );
      const subsets = asList(stored.subsets).map(asObject);
      const isLabelled = asObject(metadata.labels)[labelName] === 'true';
      if (isLabelled && subsets.length === 1 && sameList(present, wanted) && hasPorts(subsets[0]?.ports, ports))
        return undefined;
      const labelled = { ...metadata, labels: { ...asObject(metadata.labels), ...labels } };
      return { ...stored, metadata: labelled, subsets: subsetsOf(wanted) };
    },
    retire: (stored) => {
      const present = addressesOf(stored);
      const rest = addressesWithout(present, advertiseAddress);
      return rest.length === present.length ? undefined : { ...stored, subsets: subsetsOf(rest) };
    },
  };
}

function desiredEndpointSlice(dialect: Dialect, options: BootstrapOptions): Desired {
  const { advertiseAddress, apiserverCount, endpointReconcilerType, liveAddresses } = options;
  const groupVersion = dialect.spell('discovery.@group/v1');
  const ports = [{ name: 'https', port: options.securePort, protocol: 'TCP' }];
  const addressType = parseIp(advertiseAddress)?.family === 6 ? 'IPv6' : 'IPv4';
  const addressesIn = (slice: ApiObject) =>
    asList(slice.endpoints).flatMap((endpoint) => asList(asObject(endpoint).addresses).map(String));
  // Built from the metadata alone: the stored form may be of another version than the one written here.
  const sliceOf = (metadata: ApiObject, addresses: readonly string[]) => ({
    apiVersion: groupVersion,
    kind: 'EndpointSlice',
    metadata,
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports,
  });
  const labels = { [dialect.spell('@label/service-name')]: dialect.brand };
  return {
    storageKey: dialect.spell('discovery.@group/endpointslices'),
    target: targetIn(groupVersion, 'endpointslices', 'default', dialect.brand),
    object: sliceOf({ name: dialect.brand, namespace: 'default', labels }, [advertiseAddress]),
    hook: HOOK_BOOTSTRAP,
    review: 'every10s',
    correct: (stored) => {
      if (stored.addressType !== addressType) return 'replace';
      const metadata = partAt(stored, 'metadata');
      const present = addressesIn(stored);
      const wanted = addressesWith(
        endpointReconcilerType,
        present,
        advertiseAddress,
        apiserverCount,
        liveAddresses?.(),
      );
      const [label = ''] = Object.keys(labels);
      const isLabelled = asObject(metadata.labels)[label] === dialect.brand;
      if (isLabelled && sameList(present, wanted) && hasPorts(stored.ports, ports)) return undefined;
      return sliceOf({ ...metadata, labels: { ...asObject(metadata.labels), ...labels } }, wanted);
    },
    retire: (stored) => {
      const present = addressesIn(stored);
      const rest = addressesWithout(present, advertiseAddress);
      return rest.length === present.length ? undefined : sliceOf(partAt(stored, 'metadata'), rest);
    },
  };
}

function desiredAuthenticationInfo(dialect: Dialect, options: BootstrapOptions): Desired {
  const name = 'extension-apiserver-authentication';
  const namespace = dialect.systemNamespace;
  return {
    storageKey: 'core/configmaps',
    target: targetIn('v1', 'configmaps', namespace, name),
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      // What of it has run out is found when it is looked at.
      data: authenticationData({}, options.authentication, 0),
    },
    hook: HOOK_AUTHENTICATION_INFO,
    review: 'onChange',
    correct: (stored, _isStart, nowMs) => {
      const present = asObject(stored.data);
      const wanted = authenticationData(present, options.authentication, nowMs);
      const isRight = Object.entries(wanted).every(([key, value]) => present[key] === value);
      return isRight ? undefined : { ...stored, data: { ...present, ...wanted } };
    },
  };
}
