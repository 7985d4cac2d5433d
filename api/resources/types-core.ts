// The resource table's rows of the core group (`/api/v1`). Data only.

import { EVERY_VERB, type Verb } from '../verbs.ts';
import type { GroupTypes, SubresourceRow } from './resource-row.ts';
import { SCALE, STATUS } from './resource-row.ts';

const WITHOUT_DELETECOLLECTION = EVERY_VERB.filter((verb) => verb !== 'deletecollection');

const STREAM_VERBS: readonly Verb[] = ['create', 'get'];

function proxy(kind: string): SubresourceRow {
  return { name: 'proxy', kind, verbs: ['create', 'delete', 'get', 'patch', 'update'] };
}

const POD_SUBRESOURCES: readonly SubresourceRow[] = [
  { name: 'attach', kind: 'PodAttachOptions', verbs: STREAM_VERBS },
  { name: 'binding', kind: 'Binding', verbs: ['create'] },
  { name: 'ephemeralcontainers', kind: 'EphemeralContainers', featureGate: 'EphemeralContainers' },
  { name: 'eviction', kind: 'Eviction', apiVersion: 'policy/v1beta1', verbs: ['create'] },
  { name: 'exec', kind: 'PodExecOptions', verbs: STREAM_VERBS },
  { name: 'log', verbs: ['get'] },
  { name: 'portforward', kind: 'PodPortForwardOptions', verbs: STREAM_VERBS },
  proxy('PodProxyOptions'),
  STATUS,
];

export const CORE_TYPES: GroupTypes = {
  group: '',
  types: [
    { plural: 'bindings', kind: 'Binding', virtual: true, verbs: ['create'], versions: { v1: {} } },
    {
      plural: 'componentstatuses',
      kind: 'ComponentStatus',
      shortNames: ['cs'],
      clusterScoped: true,
      virtual: true,
      verbs: ['get', 'list'],
      versions: { v1: { introducedIn: '1.0', deprecatedIn: '1.19' } },
    },
    { plural: 'configmaps', kind: 'ConfigMap', shortNames: ['cm'], versions: { v1: {} } },
    { plural: 'endpoints', kind: 'Endpoints', shortNames: ['ep'], putCreates: true, versions: { v1: {} } },
    {
      plural: 'events',
      kind: 'Event',
      shortNames: ['ev'],
      selectableFields: [
        'metadata.name',
        'metadata.namespace',
        'involvedObject.kind',
        'involvedObject.namespace',
        'involvedObject.name',
        'involvedObject.uid',
        'involvedObject.apiVersion',
        'involvedObject.resourceVersion',
        'involvedObject.fieldPath',
        'reason',
        'reportingComponent',
        'source',
        'type',
      ],
      putCreates: true,
      defaultPropagation: 'Unsupported',
      versions: { v1: {} },
    },
    { plural: 'limitranges', kind: 'LimitRange', shortNames: ['limits'], putCreates: true, versions: { v1: {} } },
    {
      plural: 'namespaces',
      kind: 'Namespace',
      shortNames: ['ns'],
      clusterScoped: true,
      verbs: WITHOUT_DELETECOLLECTION,
      subresources: [{ name: 'finalize', verbs: ['update'] }, STATUS],
      selectableFields: ['metadata.name', 'status.phase'],
      initialStatus: { phase: 'Active' },
      deleteReturnsObject: true,
      nameFormat: 'dns1123Label',
      versions: { v1: {} },
    },
    {
      plural: 'nodes',
      kind: 'Node',
      shortNames: ['no'],
      clusterScoped: true,
      subresources: [proxy('NodeProxyOptions'), STATUS],
      selectableFields: ['metadata.name', 'spec.unschedulable'],
      keepsStatusOnCreate: true,
      versions: { v1: {} },
    },
    {
      plural: 'persistentvolumeclaims',
      kind: 'PersistentVolumeClaim',
      shortNames: ['pvc'],
      subresources: [STATUS],
      deleteReturnsObject: true,
      versions: { v1: {} },
    },
    {
      plural: 'persistentvolumes',
      kind: 'PersistentVolume',
      shortNames: ['pv'],
      clusterScoped: true,
      subresources: [STATUS],
      deleteReturnsObject: true,
      versions: { v1: {} },
    },
    {
      plural: 'pods',
      kind: 'Pod',
      shortNames: ['po'],
      categories: ['all'],
      subresources: POD_SUBRESOURCES,
      selectableFields: [
        'metadata.name',
        'metadata.namespace',
        'spec.nodeName',
        'spec.host',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'status.phase',
        'status.podIP',
        'status.podIPs',
        'status.nominatedNodeName',
      ],
      initialStatus: { phase: 'Pending' },
      deleteReturnsObject: true,
      versions: { v1: {} },
    },
    { plural: 'podtemplates', kind: 'PodTemplate', deleteReturnsObject: true, versions: { v1: {} } },
    {
      plural: 'replicationcontrollers',
      kind: 'ReplicationController',
      shortNames: ['rc'],
      categories: ['all'],
      subresources: [SCALE, STATUS],
      selectableFields: ['metadata.name', 'metadata.namespace', 'status.replicas'],
      generationParts: ['spec'],
      defaultPropagation: 'Orphan',
      versions: { v1: {} },
    },
    {
      plural: 'resourcequotas',
      kind: 'ResourceQuota',
      shortNames: ['quota'],
      subresources: [STATUS],
      deleteReturnsObject: true,
      versions: { v1: {} },
    },
    {
      plural: 'secrets',
      kind: 'Secret',
      selectableFields: ['metadata.name', 'metadata.namespace', 'type'],
      versions: { v1: {} },
    },
    {
      plural: 'serviceaccounts',
      kind: 'ServiceAccount',
      shortNames: ['sa'],
      subresources: [
        { name: 'token', kind: 'TokenRequest', apiVersion: 'authentication.@group/v1', verbs: ['create'] },
      ],
      deleteReturnsObject: true,
      versions: { v1: {} },
    },
    {
      plural: 'services',
      kind: 'Service',
      shortNames: ['svc'],
      categories: ['all'],
      verbs: WITHOUT_DELETECOLLECTION,
      subresources: [proxy('ServiceProxyOptions'), STATUS],
      putCreates: true,
      nameFormat: 'dns1035Label',
      versions: { v1: {} },
    },
  ],
};
