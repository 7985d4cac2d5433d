// Every admission plugin that exists in code. Their order, and which run by default, is config/admission-plugins.ts.
import { enabledAdmissionPlugins } from '../../../config/admission-plugins.ts';
import { alwaysAdmit } from './always-admit/always-admit.ts';
import { alwaysDeny } from './always-deny/always-deny.ts';
import { certificateApproval } from './certificate-approval/certificate-approval.ts';
import { certificateSigning } from './certificate-signing/certificate-signing.ts';
import { certificateSubjectRestriction } from './certificate-subject-restriction/certificate-subject-restriction.ts';
import { defaultIngressClass, defaultStorageClass } from './default-class/default-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds/default-toleration-seconds.ts';
import { limitRanger } from './limit-ranger/limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle/namespace-lifecycle.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize/persistent-volume-claim-resize.ts';
import type { AdmissionPluginKind } from './plugin.ts';
import { podNodeSelector } from './pod-node-selector/pod-node-selector.ts';
import { priority } from './priority/priority.ts';
import { serviceAccount } from './service-account/service-account.ts';

export const PLUGIN_KINDS: readonly AdmissionPluginKind[] = [
  alwaysAdmit,
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  podNodeSelector,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  persistentVolumeClaimResize,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  defaultIngressClass,
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
