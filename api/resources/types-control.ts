// The resource table's rows of what governs the API itself: registration, extension, admission, authentication,
// authorization, certificates, flow control. Data only.
import type { GroupTypes, TypeRow, VersionRow } from './resource-row.ts';
import { STATUS } from './resource-row.ts';

const APIREGISTRATION: GroupTypes = {
  group: 'apiregistration.@group',
  types: [
    {
      plural: 'apiservices',
      kind: 'APIService',
      categories: ['api-extensions'],
      clusterScoped: true,
      subresources: [STATUS],
      putNeedsResourceVersion: true,
      nameFormat: 'pathSegment',
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.7', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
  ],
};

const APIEXTENSIONS: GroupTypes = {
  group: 'apiextensions.@group',
  types: [
    {
      plural: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      clusterScoped: true,
      subresources: [STATUS],
      putNeedsResourceVersion: true,
      generationParts: ['spec'],
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.7', deprecatedIn: '1.16', removedIn: '1.22', replacement: 'v1' },
      },
    },
  ],
};

function webhookConfiguration(plural: string, kind: string): TypeRow {
  return {
    plural,
    kind,
    categories: ['api-extensions'],
    clusterScoped: true,
    putNeedsResourceVersion: true,
    generationParts: ['webhooks'],
    versions: {
      v1: {},
      v1beta1: { introducedIn: '1.9', deprecatedIn: '1.16', removedIn: '1.22', replacement: 'v1' },
    },
  };
}

const ADMISSIONREGISTRATION: GroupTypes = {
  group: 'admissionregistration.@group',
  types: [
    webhookConfiguration('mutatingwebhookconfigurations', 'MutatingWebhookConfiguration'),
    webhookConfiguration('validatingwebhookconfigurations', 'ValidatingWebhookConfiguration'),
  ],
};

const REVIEW = { virtual: true, verbs: ['create'], nameFormat: 'pathSegment' } as const;

function reviewVersions(introducedIn: string): Readonly<Record<string, VersionRow>> {
  return { v1: {}, v1beta1: { introducedIn, deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' } };
}

const AUTHENTICATION: GroupTypes = {
  group: 'authentication.@group',
  types: [
    // Of later releases: served where its version is switched on.
    {
      ...REVIEW,
      plural: 'selfsubjectreviews',
      kind: 'SelfSubjectReview',
      clusterScoped: true,
      versions: { v1alpha1: {} },
    },
    { ...REVIEW, plural: 'tokenreviews', kind: 'TokenReview', clusterScoped: true, versions: reviewVersions('1.4') },
  ],
};

const AUTHORIZATION: GroupTypes = {
  group: 'authorization.@group',
  types: [
    {
      ...REVIEW,
      plural: 'localsubjectaccessreviews',
      kind: 'LocalSubjectAccessReview',
      versions: reviewVersions('1.2'),
    },
    {
      ...REVIEW,
      plural: 'selfsubjectaccessreviews',
      kind: 'SelfSubjectAccessReview',
      clusterScoped: true,
      versions: reviewVersions('1.2'),
    },
    {
      ...REVIEW,
      plural: 'selfsubjectrulesreviews',
      kind: 'SelfSubjectRulesReview',
      clusterScoped: true,
      versions: reviewVersions('1.8'),
    },
    {
      ...REVIEW,
      plural: 'subjectaccessreviews',
      kind: 'SubjectAccessReview',
      clusterScoped: true,
      versions: reviewVersions('1.2'),
    },
  ],
};

const RBAC_TYPE = {
  putCreates: true,
  nameFormat: 'pathSegment',
  versions: {
    v1: {},
    v1beta1: { introducedIn: '1.6', deprecatedIn: '1.17', removedIn: '1.22', replacement: 'v1' },
    v1alpha1: {},
  },
} as const;

const RBAC: GroupTypes = {
  group: 'rbac.authorization.@group',
  types: [
    { ...RBAC_TYPE, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', clusterScoped: true },
    { ...RBAC_TYPE, plural: 'clusterroles', kind: 'ClusterRole', clusterScoped: true },
    { ...RBAC_TYPE, plural: 'rolebindings', kind: 'RoleBinding' },
    { ...RBAC_TYPE, plural: 'roles', kind: 'Role' },
  ],
};

const CERTIFICATES: GroupTypes = {
  group: 'certificates.@group',
  types: [
    {
      plural: 'certificatesigningrequests',
      kind: 'CertificateSigningRequest',
      shortNames: ['csr'],
      clusterScoped: true,
      subresources: [{ name: 'approval' }, STATUS],
      selectableFields: ['metadata.name', 'spec.signerName'],
      nameFormat: 'pathSegment',
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.12', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
  ],
};

const FLOWCONTROL_TYPE = {
  clusterScoped: true,
  subresources: [STATUS],
  generationParts: ['spec'],
  versions: { v1beta1: { introducedIn: '1.20', deprecatedIn: '1.23', removedIn: '1.26' } },
} as const;

const FLOWCONTROL: GroupTypes = {
  group: 'flowcontrol.apiserver.@group',
  types: [
    { ...FLOWCONTROL_TYPE, plural: 'flowschemas', kind: 'FlowSchema' },
    { ...FLOWCONTROL_TYPE, plural: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration' },
  ],
};

const INTERNAL: GroupTypes = {
  group: 'internal.apiserver.@group',
  types: [
    {
      plural: 'storageversions',
      kind: 'StorageVersion',
      clusterScoped: true,
      subresources: [STATUS],
      putNeedsResourceVersion: true,
      // Its names have a rule of their own.
      nameFormat: 'pathSegment',
      versions: { v1alpha1: {} },
    },
  ],
};

export const CONTROL_TYPES: readonly GroupTypes[] = [
  APIREGISTRATION,
  APIEXTENSIONS,
  ADMISSIONREGISTRATION,
  AUTHENTICATION,
  AUTHORIZATION,
  RBAC,
  CERTIFICATES,
  FLOWCONTROL,
  INTERNAL,
];
