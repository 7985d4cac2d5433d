// What each admission plugin does, for the tables that operators read. Whether it exists is in admission-plugins.ts.
import type { AdmissionPluginName, AdmissionPluginRow } from './admission-plugins.ts';
import type { Effect } from './options/option.ts';

const TEXTS: Readonly<Record<AdmissionPluginName, string>> = {
  AlwaysAdmit: 'nothing',
  NamespaceAutoProvision: 'namespaces are made when something is created in them',
  NamespaceLifecycle: 'nothing is created in namespaces that are absent or going; the first ones cannot be deleted',
  NamespaceExists: 'nothing is written in namespaces that are absent',
  SecurityContextDeny: 'pods cannot set their user, groups or SELinux options',
  LimitPodHardAntiAffinityTopology: 'required anti-affinity is by host name only',
  LimitRanger: 'limit ranges set defaults and bounds',
  ServiceAccount: 'pods run as a service account, and get its token and its pull secrets',
  NodeRestriction: 'node agents write their own node and its pods only',
  TaintNodesByCondition: 'new nodes are tainted until they are ready',
  AlwaysPullImages: 'images are always pulled',
  ImagePolicyWebhook: 'a webhook is asked about images',
  PodSecurityPolicy: 'pod security policies are applied',
  PodNodeSelector: "pods get their namespace's node selector",
  Priority: 'pods get the number of their priority class',
  DefaultTolerationSeconds: 'pods tolerate nodes that are not ready for a time',
  PodTolerationRestriction: "pods get and keep to their namespace's tolerations",
  EventRateLimit: 'events are limited',
  ExtendedResourceToleration: 'pods tolerate the taints of the resources they ask for',
  PersistentVolumeLabel: 'volumes of clouds get the labels of their zone',
  DefaultStorageClass: 'claims get the default storage class',
  StorageObjectInUseProtection: 'claims and volumes get a finalizer that keeps them while in use',
  OwnerReferencesPermissionEnforcement: 'owner references need the right to delete',
  PersistentVolumeClaimResize: 'claims grow only where their class allows it',
  RuntimeClass: 'pods get the overhead and the nodes of their runtime class',
  CertificateApproval: 'approving needs the right to the signer',
  CertificateSigning: 'signing needs the right to the signer',
  CertificateSubjectRestriction: "no client certificate is requested for the superusers' group",
  DefaultIngressClass: 'ingresses get the default class',
  DenyServiceExternalIPs: 'services get no new external addresses',
  MutatingAdmissionWebhook: 'webhooks may change what is written',
  ValidatingAdmissionWebhook: 'webhooks may refuse what is written',
  ResourceQuota: 'quotas are counted and held',
  AlwaysDeny: 'nothing can be written',
};

/** What a plugin does in this release. One that is not built is refused, unless it is on by default. */
export function pluginEffect({ name, isDefault, built }: AdmissionPluginRow & { name: AdmissionPluginName }): Effect {
  const text = TEXTS[name];
  if (built === 'whole') return ['in force', text];
  if (built === 'part') return ['in force', `in part: ${text}`];
  return isDefault ? ['not in force', `not there yet: ${text}`] : ['refused', `not there yet: ${text}`];
}
