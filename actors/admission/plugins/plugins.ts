// Every admission plugin that exists in code. Their order, and which run by default, is config/admission-plugins.ts.
import { enabledAdmissionPlugins } from '../../../config/admission-plugins.ts';
import { alwaysAdmit } from './always-admit/always-admit.ts';
import { alwaysDeny } from './always-deny/always-deny.ts';
import { alwaysPullImages } from './always-pull-images/always-pull-images.ts';
import { certificateApproval } from './certificate-approval/certificate-approval.ts';
import { certificateSigning } from './certificate-signing/certificate-signing.ts';
import { certificateSubjectRestriction } from './certificate-subject-restriction/certificate-subject-restriction.ts';
import { defaultIngressClass, defaultStorageClass } from './default-class/default-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds/default-toleration-seconds.ts';
import { denyServiceExternalIPs } from './deny-service-external-ips/deny-service-external-ips.ts';
import { eventRateLimit } from './event-rate-limit/event-rate-limit.ts';
import { extendedResourceToleration } from './extended-resource-toleration/extended-resource-toleration.ts';
import { imagePolicyWebhook } from './image-policy-webhook/image-policy-webhook.ts';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology/limit-pod-hard-anti-affinity-topology.ts';
import { limitRanger } from './limit-ranger/limit-ranger.ts';
import { mutatingAdmissionWebhook } from './mutating-admission-webhook/mutating-admission-webhook.ts';
import { namespaceAutoProvision } from './namespace-auto-provision/namespace-auto-provision.ts';
import { namespaceExists } from './namespace-exists/namespace-exists.ts';
import { namespaceLifecycle } from './namespace-lifecycle/namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction/node-restriction.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement/owner-references-permission-enforcement.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize/persistent-volume-claim-resize.ts';
import { persistentVolumeLabel } from './persistent-volume-label/persistent-volume-label.ts';
import type { AdmissionPluginKind } from './plugin.ts';
import { podNodeSelector } from './pod-node-selector/pod-node-selector.ts';
import { podSecurityPolicy } from './pod-security-policy/pod-security-policy.ts';
import { podTolerationRestriction } from './pod-toleration-restriction/pod-toleration-restriction.ts';
import { priority } from './priority/priority.ts';
import { resourceQuota } from './resource-quota/resource-quota.ts';
import { runtimeClass } from './runtime-class/runtime-class.ts';
import { securityContextDeny } from './security-context-deny/security-context-deny.ts';
import { serviceAccount } from './service-account/service-account.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition/taint-nodes-by-condition.ts';
import { validatingAdmissionWebhook } from './validating-admission-webhook/validating-admission-webhook.ts';

export const PLUGIN_KINDS: readonly AdmissionPluginKind[] = [
  alwaysAdmit,
  namespaceAutoProvision,
  namespaceLifecycle,
  namespaceExists,
  securityContextDeny,
  limitPodHardAntiAffinityTopology,
  limitRanger,
  serviceAccount,
  nodeRestriction,
  taintNodesByCondition,
  alwaysPullImages,
  imagePolicyWebhook,
  podSecurityPolicy,
  podNodeSelector,
  priority,
  defaultTolerationSeconds,
  podTolerationRestriction,
  eventRateLimit,
  extendedResourceToleration,
  persistentVolumeLabel,
  defaultStorageClass,
  storageObjectInUseProtection,
  ownerReferencesPermissionEnforcement,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  defaultIngressClass,
  denyServiceExternalIPs,
  mutatingAdmissionWebhook,
  validatingAdmissionWebhook,
  resourceQuota,
  alwaysDeny,
];

/** The plugins that run under `--enable-admission-plugins` and `--disable-admission-plugins`, in the order they run. */
export function runningPlugins(
  enabled: readonly string[],
  disabled: readonly string[],
): readonly AdmissionPluginKind[] {
  return enabledAdmissionPlugins(enabled, disabled).flatMap((name) =>
    PLUGIN_KINDS.filter((kind) => kind.name === name),
  );
}
