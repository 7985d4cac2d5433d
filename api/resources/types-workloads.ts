// The resource table's rows of what runs: apps, batch, autoscaling, policy, scheduling. Data only.
import type { GroupTypes } from './resource-row.ts';
import { SCALE, STATUS } from './resource-row.ts';

const APPS: GroupTypes = {
  group: 'apps',
  types: [
    { plural: 'controllerrevisions', kind: 'ControllerRevision', versions: { v1: {} } },
    {
      plural: 'daemonsets',
      kind: 'DaemonSet',
      shortNames: ['ds'],
      categories: ['all'],
      subresources: [STATUS],
      generationParts: ['spec'],
      versions: { v1: {} },
    },
    {
      plural: 'deployments',
      kind: 'Deployment',
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [SCALE, STATUS],
      generationParts: ['spec', 'metadata.annotations'],
      versions: { v1: {} },
    },
    {
      plural: 'replicasets',
      kind: 'ReplicaSet',
      shortNames: ['rs'],
      categories: ['all'],
      subresources: [SCALE, STATUS],
      generationParts: ['spec'],
      versions: { v1: {} },
    },
    {
      plural: 'statefulsets',
      kind: 'StatefulSet',
      shortNames: ['sts'],
      categories: ['all'],
      subresources: [SCALE, STATUS],
      generationParts: ['spec'],
      versions: { v1: {} },
    },
  ],
};

const BATCH: GroupTypes = {
  group: 'batch',
  types: [
    {
      plural: 'cronjobs',
      kind: 'CronJob',
      shortNames: ['cj'],
      categories: ['all'],
      subresources: [STATUS],
      versions: {
        v1: {},
        v1beta1: {
          introducedIn: '1.8',
          deprecatedIn: '1.21',
          removedIn: '1.25',
          replacement: 'v1',
          // Accepted in selectors, though no cron job has the field.
          selectableFields: ['metadata.name', 'metadata.namespace', 'status.successful'],
          defaultPropagation: 'Orphan',
        },
      },
    },
    {
      plural: 'jobs',
      kind: 'Job',
      categories: ['all'],
      subresources: [STATUS],
      selectableFields: ['metadata.name', 'metadata.namespace', 'status.successful'],
      defaultPropagation: 'Orphan',
      versions: { v1: {} },
    },
  ],
};

const AUTOSCALING: GroupTypes = {
  group: 'autoscaling',
  types: [
    {
      plural: 'horizontalpodautoscalers',
      kind: 'HorizontalPodAutoscaler',
      shortNames: ['hpa'],
      categories: ['all'],
      subresources: [STATUS],
      versions: {
        v1: {},
        v2beta1: { introducedIn: '1.8', deprecatedIn: '1.22', removedIn: '1.25', replacement: 'v2beta2' },
        v2beta2: { introducedIn: '1.12', deprecatedIn: '1.22', removedIn: '1.25' },
      },
    },
  ],
};

const POLICY: GroupTypes = {
  group: 'policy',
  types: [
    {
      plural: 'poddisruptionbudgets',
      kind: 'PodDisruptionBudget',
      shortNames: ['pdb'],
      subresources: [STATUS],
      putNeedsResourceVersion: true,
      generationParts: ['spec'],
      nameFormat: 'pathSegment',
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.5', deprecatedIn: '1.21', removedIn: '1.25', replacement: 'v1' },
      },
    },
    {
      plural: 'podsecuritypolicies',
      kind: 'PodSecurityPolicy',
      shortNames: ['psp'],
      clusterScoped: true,
      deleteReturnsObject: true,
      versions: { v1beta1: { introducedIn: '1.10', deprecatedIn: '1.21', removedIn: '1.25' } },
    },
  ],
};

const SCHEDULING: GroupTypes = {
  group: 'scheduling.@group',
  types: [
    {
      plural: 'priorityclasses',
      kind: 'PriorityClass',
      shortNames: ['pc'],
      clusterScoped: true,
      initialGeneration: 1,
      versions: {
        v1: {},
        v1beta1: { introducedIn: '1.11', deprecatedIn: '1.14', removedIn: '1.22', replacement: 'v1' },
        v1alpha1: {},
      },
    },
  ],
};

export const WORKLOAD_TYPES: readonly GroupTypes[] = [APPS, BATCH, AUTOSCALING, POLICY, SCHEDULING];
