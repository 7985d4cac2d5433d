// The fields that exist only while a feature gate is open, by schema type: as in Kubernetes 1.21, a write that sets one while
// its gate is closed loses it, unless the stored object uses the feature already. Data only; dropping is drop-gated.ts.
import type { FeatureGateName } from '../../config/feature-gates.ts';
import { isJsonObject, memberOf } from '../json/json-value.ts';

export interface GatedField {
  readonly field: string;
  readonly gate: FeatureGateName;
  /** Values that were there before the feature. */
  readonly isOlder?: (value: unknown) => boolean;
  /** What it becomes; absent: it goes. */
  readonly instead?: string;
  /** A list of up to so many elements was there before the feature: what comes after them goes. */
  readonly most?: number;
  /** The kinds it is gated in; absent: all that have it. */
  readonly kinds?: readonly string[];
}

const gated = (gate: FeatureGateName, ...fields: readonly string[]): readonly GatedField[] =>
  fields.map((field) => ({ field, gate }));

/** Claims could always be made from a snapshot or another claim. */
function isOldSource(source: unknown): boolean {
  if (!isJsonObject(source)) return true;
  const group = memberOf(source, 'apiGroup') ?? '';
  const { kind } = source;
  if (kind === 'PersistentVolumeClaim') return group === '';
  return kind === 'VolumeSnapshot' && typeof group === 'string' && group.startsWith('snapshot.storage.');
}

/** By type; a key without version (`storage.CSIDriverSpec`) is for every version without a key of its own. */
export const GATED_FIELDS: Readonly<Record<string, readonly GatedField[]>> = {
  'core/v1.PodSpec': [
    ...gated('EphemeralContainers', 'ephemeralContainers'),
    ...gated('NonPreemptingPriority', 'preemptionPolicy'),
    ...gated('PodOverhead', 'overhead'),
    ...gated('SetHostnameAsFQDN', 'setHostnameAsFQDN'),
  ],
  'core/v1.PodSecurityContext': gated('ConfigurableFSGroupPolicy', 'fsGroupChangePolicy'),
  // Stored objects have it, from a release that gave it to all: without it they would differ from what they are made from.
  'core/v1.SecurityContext': [
    { field: 'procMount', gate: 'ProcMountType', isOlder: (value) => value === 'Default', instead: 'Default' },
  ],
  'core/v1.Probe': gated('ProbeTerminationGracePeriod', 'terminationGracePeriodSeconds'),
  'core/v1.VolumeMount': gated('VolumeSubpath', 'subPath', 'subPathExpr'),
  'core/v1.PodAffinityTerm': gated('PodAffinityNamespaceSelector', 'namespaceSelector'),
  'core/v1.Volume': [...gated('CSIInlineVolume', 'csi'), ...gated('GenericEphemeralVolume', 'ephemeral')],
  'core/v1.EmptyDirVolumeSource': gated('LocalStorageCapacityIsolation', 'sizeLimit'),
  'core/v1.CSIPersistentVolumeSource': gated('ExpandCSIVolumes', 'controllerExpandSecretRef'),
  'core/v1.PersistentVolumeClaimSpec': [
    { field: 'dataSource', gate: 'AnyVolumeDataSource', isOlder: isOldSource, kinds: ['PersistentVolumeClaim'] },
  ],
  'core/v1.PersistentVolumeClaimStatus': [
    { field: 'conditions', gate: 'ExpandPersistentVolumes', kinds: ['PersistentVolumeClaim'] },
  ],
  'core/v1.ServiceSpec': [
    ...gated('IPv6DualStack', 'ipFamilies', 'ipFamilyPolicy'),
    { field: 'clusterIPs', gate: 'IPv6DualStack', most: 1 },
    ...gated('ServiceTopology', 'topologyKeys'),
    ...gated('ServiceLBNodePortControl', 'allocateLoadBalancerNodePorts'),
    ...gated('ServiceLoadBalancerClass', 'loadBalancerClass'),
    ...gated('ServiceInternalTrafficPolicy', 'internalTrafficPolicy'),
  ],
  'core/v1.ServiceStatus': gated('MixedProtocolLBService', 'conditions'),
  'core/v1.LoadBalancerIngress': [{ field: 'ports', gate: 'MixedProtocolLBService', kinds: ['Service'] }],
  'core/v1.PodStatus': [{ field: 'podIPs', gate: 'IPv6DualStack', most: 1, kinds: ['Pod'] }],
  'core/v1.NodeSpec': [
    ...gated('Dynamic@AgentConfig', 'configSource'),
    { field: 'podCIDRs', gate: 'IPv6DualStack', most: 1 },
  ],
  'core/v1.NodeStatus': gated('Dynamic@AgentConfig', 'config'),
  'autoscaling.MetricSpec': gated('HPAContainerMetrics', 'containerResource'),
  'batch/v1.JobSpec': [
    ...gated('TTLAfterFinished', 'ttlSecondsAfterFinished'),
    ...gated('IndexedJob', 'completionMode'),
    ...gated('SuspendJob', 'suspend'),
  ],
  'discovery.Endpoint': gated('TopologyAwareHints', 'hints'),
  'discovery.EndpointConditions': gated('EndpointSliceTerminatingCondition', 'serving', 'terminating'),
  'networking.IngressClassParametersReference': gated('IngressClassNamespacedParams', 'scope', 'namespace'),
  'networking.NetworkPolicyPort': gated('NetworkPolicyEndPort', 'endPort'),
  'node/v1.RuntimeClass': gated('PodOverhead', 'overhead'),
  'node/v1beta1.RuntimeClass': gated('PodOverhead', 'overhead'),
  'node/v1alpha1.RuntimeClassSpec': gated('PodOverhead', 'overhead'),
  'policy.PodSecurityPolicySpec': [
    ...gated('ProcMountType', 'allowedProcMountTypes'),
    ...gated('CSIInlineVolume', 'allowedCSIDrivers'),
  ],
  'scheduling.PriorityClass': gated('NonPreemptingPriority', 'preemptionPolicy'),
  'storage.CSIDriverSpec': [
    ...gated('CSIStorageCapacity', 'storageCapacity'),
    ...gated('CSIVolumeFSGroupPolicy', 'fsGroupPolicy'),
    ...gated('CSIServiceAccountToken', 'tokenRequests', 'requiresRepublish'),
    ...gated('CSIInlineVolume', 'volumeLifecycleModes'),
  ],
  'storage.StorageClass': gated('ExpandPersistentVolumes', 'allowVolumeExpansion'),
  'storage.VolumeAttachmentSource': gated('CSIMigration', 'inlineVolumeSpec'),
};
