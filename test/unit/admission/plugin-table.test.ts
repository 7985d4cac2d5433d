// Which admission plugins there are, which of them run, and in which order.
import test from 'ava';
import { PLUGIN_KINDS, runningPlugins } from '../../../actors/admission/plugins/plugins.ts';
import { ADMISSION_PLUGINS, BUILT_ADMISSION_PLUGINS } from '../../../config/admission-plugins.ts';

/** As SPEC.md lists them: those there are, and those that run by default. */
const AVAILABLE = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'NamespaceLifecycle',
  'NodeRestriction',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'PersistentVolumeLabel',
  'PodNodeSelector',
  'PodSecurityPolicy',
  'PodTolerationRestriction',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'SecurityContextDeny',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionWebhook',
];
const DEFAULTS = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
];

test('the table of names and the plugins in code agree', (t) => {
  t.deepEqual(
    PLUGIN_KINDS.map(({ name }) => name),
    BUILT_ADMISSION_PLUGINS,
  );
  t.deepEqual(ADMISSION_PLUGINS.map(({ name }) => name as string).sort(), AVAILABLE);
  const byDefault = ADMISSION_PLUGINS.filter(({ isDefault }) => isDefault);
  t.deepEqual(
    byDefault.map(({ name }) => name),
    DEFAULTS,
  );
});

test('the default plugins run unless they are switched off, others when they are asked for, in the order of the table', (t) => {
  const names = (enabled: string[], disabled: string[]) => runningPlugins(enabled, disabled).map(({ name }) => name);
  const defaults = ADMISSION_PLUGINS.filter(({ isDefault }) => isDefault);
  const byDefault = defaults.map(({ name }) => name as string);
  t.deepEqual(names([], []), byDefault);
  t.deepEqual(names(['AlwaysDeny', 'AlwaysAdmit'], ['ServiceAccount']), [
    'AlwaysAdmit',
    ...byDefault.filter((name) => name !== 'ServiceAccount'),
    'AlwaysDeny',
  ]);
});
