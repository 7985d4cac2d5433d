// The resource table's rows of what workloads run on: networking, discovery, storage, nodes, leases, and the events
// group. Data only.
import type { GroupTypes } from './resource-row.ts';
import { STATUS } from './resource-row.ts';

const EVENTS: GroupTypes = {
  group: 'events.@group',
  types: [
    {
      plural: 'events',
      kind: 'Event',
      shortNames: ['ev'],
      // One object under two spellings: core's `source` and timestamps are `deprecated…` here.
      sharedWith: {
        group: '',
        fieldNames: {
          reportingController: 'reportingComponent',
          'regarding.kind': 'involvedObject.kind',
          'regarding.namespace': 'involvedObject.namespace',
          'regarding.name': 'involvedObject.name',
          'regarding.uid': 'involvedObject.uid',
          'regarding.apiVersion': 'involvedObject.apiVersion',
          'regarding.resourceVersion': 'involvedObject.resourceVersion',
          'regarding.fieldPath': 'involvedObject.fieldPath',
        },
      },
      selectableFields: [
        'metadata.name',
        'metadata.namespace',
        'reason',
        'reportingController',
        'type',
        'regarding.kind',
        'regarding.namespace',
        'regarding.name',
        'regarding.uid',
        'regarding.apiVersion',
        'regarding.resourceVersion',
        'regarding.fieldPath',
      ],
      putCreates: true,
      defaultPropagation: 'Unsupported',
      versions: { v1: {}, v1beta1: { introducedIn: '1.8', deprecatedIn: '1.22', removedIn: '1.25' } },
    },
  ],
};

const NETWORKING: GroupTypes = {
  group: 'networking.@group',
  types: [
    {
      plural: 'ingressclasses',
      kind: 'IngressClass',
      clusterScoped: true,
      generationParts: ['spec'],
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.18', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
    {
      plural: 'ingresses',
      kind: 'Ingress',
      shortNames: ['ing'],
      subresources: [STATUS],
      generationParts: ['spec'],
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.14', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
    {
      plural: 'networkpolicies',
      kind: 'NetworkPolicy',
      shortNames: ['netpol'],
      generationParts: ['spec'],
      versions: { v1: {} },
    },
  ],
};

const EXTENSIONS: GroupTypes = {
  group: 'extensions',
  types: [
    {
      plural: 'ingresses',
      kind: 'Ingress',
      shortNames: ['ing'],
      // The networking group's object in an older form.
      sharedWith: { group: 'networking.@group' },
      subresources: [STATUS],
      generationParts: ['spec'],
      versions: {
        v1beta1: {
          introducedIn: '1.1',
          deprecatedIn: '1.14',
          removedIn: '1.22',
          replacement: 'networking.@group/v1',
        },
      },
    },
  ],
};

const DISCOVERY: GroupTypes = {
  group: 'discovery.@group',
  types: [
    {
      plural: 'endpointslices',
      kind: 'EndpointSlice',
      generationParts: ['content', 'metadata.labels'],
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.16', deprecatedIn: '1.21', removedIn: '1.25', replacement: 'v1' },
      },
    },
  ],
};

const STORAGE: GroupTypes = {
  group: 'storage.@group',
  types: [
    {
      plural: 'csidrivers',
      kind: 'CSIDriver',
      clusterScoped: true,
      putNeedsResourceVersion: true,
      // What of the spec may change at all is what counts.
      generationParts: ['spec'],
      initialGeneration: 0,
      deleteReturnsObject: true,
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.14', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
    {
      plural: 'csinodes',
      kind: 'CSINode',
      clusterScoped: true,
      putNeedsResourceVersion: true,
      deleteReturnsObject: true,
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.14', deprecatedIn: '1.17', removedIn: '1.22', replacement: 'v1' },
      },
    },
    {
      plural: 'csistoragecapacities',
      kind: 'CSIStorageCapacity',
      featureGate: 'CSIStorageCapacity',
      putNeedsResourceVersion: true,
      versions: {
        v1beta1: { introducedIn: '1.21', deprecatedIn: '1.24', removedIn: '1.27' },
        v1alpha1: { introducedIn: '1.19', deprecatedIn: '1.21', removedIn: '1.24', replacement: 'v1beta1' },
      },
    },
    {
      plural: 'storageclasses',
      kind: 'StorageClass',
      shortNames: ['sc'],
      clusterScoped: true,
      deleteReturnsObject: true,
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.4', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
    {
      plural: 'volumeattachments',
      kind: 'VolumeAttachment',
      clusterScoped: true,
      putNeedsResourceVersion: true,
      deleteReturnsObject: true,
      versions: {
        v1: { subresources: [STATUS] },
        v1beta1: { introducedIn: '1.10', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
        v1alpha1: {
          introducedIn: '1.9',
          deprecatedIn: '1.21',
          removedIn: '1.24',
          replacement: 'v1',
          hasStatus: true,
        },
      },
    },
  ],
};

const NODE: GroupTypes = {
  group: 'node.@group',
  types: [
    {
      plural: 'runtimeclasses',
      kind: 'RuntimeClass',
      clusterScoped: true,
      putCreates: true,
      putNeedsResourceVersion: true,
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.13', deprecatedIn: '1.22', removedIn: '1.25' },
        v1alpha1: {},
      },
    },
  ],
};

const COORDINATION: GroupTypes = {
  group: 'coordination.@group',
  types: [
    {
      plural: 'leases',
      kind: 'Lease',
      putCreates: true,
      putNeedsResourceVersion: true,
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.12', deprecatedIn: '1.19', removedIn: '1.22', replacement: 'v1' },
      },
    },
  ],
};

export const INFRASTRUCTURE_TYPES: readonly GroupTypes[] = [
  EVENTS,
  NETWORKING,
  EXTENSIONS,
  DISCOVERY,
  STORAGE,
  NODE,
  COORDINATION,
];
