// Every admission plugin there is a name for, in the order in which plugins run: which run unless told otherwise, and which
// exist in code. Data only; the plugins are in actors/admission/plugins, and a test compares their registry with this table.

export interface AdmissionPluginRow {
  readonly name: string;
  /** Runs unless it is switched off. */
  readonly isDefault: boolean;
  /** `part`: does some of what its name promises, the rest is to come. */
  readonly built: 'whole' | 'part' | 'no';
}

export const ADMISSION_PLUGINS = [
  { name: 'AlwaysAdmit', isDefault: false, built: 'whole' },
  { name: 'NamespaceAutoProvision', isDefault: false, built: 'whole' },
  { name: 'NamespaceLifecycle', isDefault: true, built: 'whole' },
  { name: 'NamespaceExists', isDefault: false, built: 'whole' },
  { name: 'SecurityContextDeny', isDefault: false, built: 'whole' },
  { name: 'LimitPodHardAntiAffinityTopology', isDefault: false, built: 'whole' },
  { name: 'LimitRanger', isDefault: true, built: 'whole' },
  { name: 'ServiceAccount', isDefault: true, built: 'whole' },
  { name: 'NodeRestriction', isDefault: false, built: 'whole' },
  { name: 'TaintNodesByCondition', isDefault: true, built: 'whole' },
  { name: 'AlwaysPullImages', isDefault: false, built: 'whole' },
  { name: 'ImagePolicyWebhook', isDefault: false, built: 'whole' },
  { name: 'PodSecurityPolicy', isDefault: false, built: 'whole' },
  { name: 'PodNodeSelector', isDefault: false, built: 'whole' },
  { name: 'Priority', isDefault: true, built: 'whole' },
  { name: 'DefaultTolerationSeconds', isDefault: true, built: 'whole' },
  { name: 'PodTolerationRestriction', isDefault: false, built: 'whole' },
  { name: 'EventRateLimit', isDefault: false, built: 'whole' },
  { name: 'ExtendedResourceToleration', isDefault: false, built: 'whole' },
  { name: 'PersistentVolumeLabel', isDefault: false, built: 'whole' },
  { name: 'DefaultStorageClass', isDefault: true, built: 'whole' },
  { name: 'StorageObjectInUseProtection', isDefault: true, built: 'whole' },
  { name: 'OwnerReferencesPermissionEnforcement', isDefault: false, built: 'whole' },
  { name: 'PersistentVolumeClaimResize', isDefault: true, built: 'whole' },
  { name: 'RuntimeClass', isDefault: true, built: 'whole' },
  { name: 'CertificateApproval', isDefault: true, built: 'whole' },
  { name: 'CertificateSigning', isDefault: true, built: 'whole' },
  { name: 'CertificateSubjectRestriction', isDefault: true, built: 'whole' },
  { name: 'DefaultIngressClass', isDefault: true, built: 'whole' },
  { name: 'DenyServiceExternalIPs', isDefault: false, built: 'whole' },
  { name: 'MutatingAdmissionWebhook', isDefault: true, built: 'whole' },
  { name: 'ValidatingAdmissionWebhook', isDefault: true, built: 'whole' },
  { name: 'ResourceQuota', isDefault: true, built: 'whole' },
  { name: 'AlwaysDeny', isDefault: false, built: 'whole' },
] as const satisfies readonly AdmissionPluginRow[];

export type AdmissionPluginName = (typeof ADMISSION_PLUGINS)[number]['name'];

const rows: readonly (AdmissionPluginRow & { readonly name: AdmissionPluginName })[] = ADMISSION_PLUGINS;

/** The plugins that run unless switched off. */
export const DEFAULT_ADMISSION_PLUGINS: readonly AdmissionPluginName[] = rows
  .filter(({ isDefault }) => isDefault)
  .map(({ name }) => name);

/** The plugins that exist in code, whole or in part. */
export const BUILT_ADMISSION_PLUGINS: readonly AdmissionPluginName[] = rows
  .filter(({ built }) => built !== 'no')
  .map(({ name }) => name);

/** The plugins that run: the default ones and those that are asked for, but for those that are switched off. */
export function enabledAdmissionPlugins(
  enabled: readonly string[],
  disabled: readonly string[],
): readonly AdmissionPluginName[] {
  return rows
    .filter(({ name, isDefault }) => (isDefault || enabled.includes(name)) && !disabled.includes(name))
    .map(({ name }) => name);
}
