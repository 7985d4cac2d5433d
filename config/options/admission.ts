// Admission: the names of the plugins, which of them run unless told otherwise, and the settings that reach outside.
import { optionGroup, SERVER } from './option.ts';

/** The plugins that run unless switched off. */
export const DEFAULT_ADMISSION_PLUGINS = [
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
] as const;

/** The plugins that run only when asked for. */
export const OPTIONAL_ADMISSION_PLUGINS = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'NodeRestriction',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeLabel',
  'PodNodeSelector',
  'PodSecurityPolicy',
  'PodTolerationRestriction',
  'SecurityContextDeny',
] as const;

const PLUGINS = [...DEFAULT_ADMISSION_PLUGINS, ...OPTIONAL_ADMISSION_PLUGINS] as const;

export const admissionOptions = optionGroup('Admission', SERVER, [
  {
    name: 'enable-admission-plugins',
    type: 'list',
    values: PLUGINS,
    // Those that run anyway, and the one that does nothing.
    valuesInForce: [...DEFAULT_ADMISSION_PLUGINS, 'AlwaysAdmit'],
    description: 'Admission plugins to run beside the default ones; their order does not matter.',
  },
  {
    name: 'disable-admission-plugins',
    type: 'list',
    values: PLUGINS,
    description: 'Admission plugins not to run although they do by default.',
  },
  {
    name: 'admission-control-config-file',
    type: 'path',
    description: 'Settings of the admission plugins.',
    refuseUntilInForce: true,
  },
]);
