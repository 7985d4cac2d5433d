// What the columns of workloads, jobs and autoscalers show.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { type CellsCase, META, testCells } from './cells-case.ts';

const TEMPLATE: JsonObject = {
  metadata: { labels: { app: 'web', tier: 'front' } },
  spec: {
    nodeSelector: { disk: 'ssd' },
    containers: [
      { name: 'web', image: 'nginx:1' },
      { name: 'log', image: 'busybox' },
    ],
  },
};
const SELECTOR: JsonObject = { matchLabels: { app: 'web' } };
const TEMPLATE_CELLS = { Containers: 'web,log', Images: 'nginx:1,busybox' };

const WORKLOADS: readonly CellsCase[] = [
  {
    type: 'v1 PodTemplate',
    title: 'its containers and the labels it gives',
    object: { metadata: META, template: TEMPLATE },
    shows: { Name: 'it', ...TEMPLATE_CELLS, 'Pod Labels': 'app=web,tier=front' },
  },
  {
    type: 'v1 ReplicationController',
    title: 'wanted, present and ready pods',
    object: {
      metadata: META,
      spec: { replicas: 3, selector: { app: 'web' }, template: TEMPLATE },
      status: { replicas: 2, readyReplicas: 1 },
    },
    shows: { Name: 'it', Desired: 3, Current: 2, Ready: 1, Age: '30s', ...TEMPLATE_CELLS, Selector: 'app=web' },
  },
  {
    type: 'apps/v1 ReplicaSet',
    title: 'counters that are not set are 0',
    object: { metadata: META, spec: { replicas: 3, selector: SELECTOR, template: TEMPLATE }, status: { replicas: 0 } },
    shows: { Desired: 3, Current: 0, Ready: 0, Age: '30s', ...TEMPLATE_CELLS, Selector: 'app=web' },
  },
  {
    type: 'apps/v1 Deployment',
    title: 'a fresh one has nothing ready',
    object: { metadata: META, spec: { replicas: 3, selector: SELECTOR, template: TEMPLATE }, status: {} },
    shows: { Name: 'it', Ready: '0/3', 'Up-to-date': 0, Available: 0, Age: '30s', ...TEMPLATE_CELLS },
  },
  {
    type: 'apps/v1 Deployment',
    title: 'one that is rolling out',
    object: {
      metadata: META,
      spec: { replicas: 3, selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] } },
      status: { replicas: 4, updatedReplicas: 2, readyReplicas: 3, availableReplicas: 1 },
    },
    shows: { Ready: '3/3', 'Up-to-date': 2, Available: 1, Selector: 'app in (a,b)', Containers: '', Images: '' },
  },
  {
    type: 'apps/v1 Deployment',
    title: 'one that is scaled to nothing',
    object: { metadata: META, spec: { replicas: 0, selector: SELECTOR }, status: {} },
    shows: { Ready: '0/0', 'Up-to-date': 0, Available: 0 },
  },
  {
    type: 'apps/v1 StatefulSet',
    title: 'ready pods of those wanted',
    object: { metadata: META, spec: { replicas: 5, template: TEMPLATE }, status: { replicas: 5, readyReplicas: 4 } },
    shows: { Name: 'it', Ready: '4/5', Age: '30s', ...TEMPLATE_CELLS },
  },
  {
    type: 'apps/v1 DaemonSet',
    title: 'its nodes by how far they are',
    object: {
      metadata: META,
      spec: { selector: SELECTOR, template: TEMPLATE },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    shows: {
      Desired: 5,
      Current: 4,
      Ready: 3,
      'Up-to-date': 2,
      Available: 1,
      'Node Selector': 'disk=ssd',
      ...TEMPLATE_CELLS,
      Selector: 'app=web',
    },
  },
  {
    type: 'apps/v1 ControllerRevision',
    title: 'the controller it belongs to, with its group',
    object: {
      metadata: {
        ...META,
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: 'n1' },
          { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', controller: true },
        ],
      },
      revision: 7,
    },
    shows: { Name: 'it', Controller: 'statefulset.apps/db', Revision: 7, Age: '30s' },
  },
  {
    type: 'apps/v1 ControllerRevision',
    title: 'a controller of the core group, and none',
    object: {
      metadata: { ...META, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', controller: true }] },
      revision: 1,
    },
    shows: { Controller: 'pod/p' },
  },
  {
    type: 'apps/v1 ControllerRevision',
    title: 'owners that do not control it do not show',
    object: { metadata: { ...META, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] } },
    shows: { Controller: '<none>', Revision: 0 },
  },
];

const JOBS: readonly CellsCase[] = [
  {
    type: 'batch/v1 Job',
    title: 'one that has not begun',
    object: { metadata: META, spec: { completions: 1, parallelism: 1, selector: SELECTOR, template: TEMPLATE } },
    shows: { Completions: '0/1', Duration: '', Age: '30s', ...TEMPLATE_CELLS, Selector: 'app=web' },
  },
  {
    type: 'batch/v1 Job',
    title: 'one that runs is timed to the present',
    object: { metadata: META, spec: { completions: 5 }, status: { startTime: '2021-06-01T11:59:40Z', succeeded: 2 } },
    shows: { Completions: '2/5', Duration: '20s' },
  },
  {
    type: 'batch/v1 Job',
    title: 'one that is done is timed to its end',
    object: {
      metadata: META,
      spec: { completions: 1 },
      status: { startTime: '2021-06-01T10:00:00Z', completionTime: '2021-06-01T10:05:03Z', succeeded: 1 },
    },
    shows: { Completions: '1/1', Duration: '5m3s' },
  },
  {
    type: 'batch/v1 Job',
    title: 'a work queue needs one success of several pods',
    object: { metadata: META, spec: { parallelism: 4 }, status: { succeeded: 1 } },
    shows: { Completions: '1/1 of 4' },
  },
  {
    type: 'batch/v1 Job',
    title: 'a work queue with one pod reads like one completion',
    object: { metadata: META, spec: { parallelism: 1 }, status: {} },
    shows: { Completions: '0/1' },
  },
  {
    type: 'batch/v1 CronJob',
    title: 'one that has never run',
    object: {
      metadata: META,
      spec: { schedule: '*/5 * * * *', suspend: false, jobTemplate: { spec: { template: TEMPLATE } } },
    },
    shows: {
      Name: 'it',
      Schedule: '*/5 * * * *',
      Suspend: 'False',
      Active: 0,
      'Last Schedule': '<none>',
      Age: '30s',
      ...TEMPLATE_CELLS,
      Selector: '<none>',
    },
  },
  {
    type: 'batch/v1 CronJob',
    title: 'one that is suspended with jobs still running',
    object: {
      metadata: META,
      spec: { schedule: '@hourly', suspend: true, jobTemplate: { spec: { selector: SELECTOR } } },
      status: { active: [{ name: 'a' }, { name: 'b' }], lastScheduleTime: '2021-06-01T11:00:00Z' },
    },
    shows: { Suspend: 'True', Active: 2, 'Last Schedule': '60m', Selector: 'app=web' },
  },
  {
    type: 'batch/v1 CronJob',
    title: 'a switch that is not set is neither on nor off',
    object: { metadata: META, spec: { schedule: '@daily' } },
    shows: { Suspend: '<unset>' },
  },
  {
    type: 'policy/v1 PodDisruptionBudget',
    title: 'a number that must stay up',
    object: { metadata: META, spec: { minAvailable: 2 }, status: { disruptionsAllowed: 1 } },
    shows: { 'Min Available': '2', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 1, Age: '30s' },
  },
  {
    type: 'policy/v1 PodDisruptionBudget',
    title: 'a share that may be down',
    object: { metadata: META, spec: { maxUnavailable: '30%' }, status: {} },
    shows: { 'Min Available': 'N/A', 'Max Unavailable': '30%', 'Allowed Disruptions': 0 },
  },
  {
    type: 'policy/v1 PodDisruptionBudget',
    title: 'zero is a number too',
    object: { metadata: META, spec: { maxUnavailable: 0 } },
    shows: { 'Max Unavailable': '0' },
  },
];

const HPA = 'autoscaling/v1 HorizontalPodAutoscaler';
const HPA_2 = 'autoscaling/v2beta2 HorizontalPodAutoscaler';
const HPA_1 = 'autoscaling/v2beta1 HorizontalPodAutoscaler';
const target = (members: JsonObject): JsonObject => ({ target: { type: 'x', ...members } });

const AUTOSCALERS: readonly CellsCase[] = [
  {
    type: HPA,
    title: 'CPU as the first version has it',
    object: {
      metadata: META,
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 9,
        targetCPUUtilizationPercentage: 80,
      },
      status: { currentReplicas: 3, currentCPUUtilizationPercentage: 45 },
    },
    shows: {
      Reference: 'Deployment/web',
      Targets: '45%/80%',
      MinPods: '1',
      MaxPods: 9,
      Replicas: 3,
      Age: '30s',
    },
  },
  {
    type: HPA,
    title: 'nothing measured yet, nothing aimed at',
    object: { metadata: META, spec: { maxReplicas: 2, targetCPUUtilizationPercentage: 80 } },
    shows: { Targets: '<unknown>/80%', MinPods: '<unset>', Replicas: 0 },
  },
  {
    type: HPA,
    title: 'metrics that the first version carries in annotations',
    object: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: {
        ...META,
        annotations: {
          'autoscaling.alpha.orch.io/metrics': JSON.stringify([
            { type: 'Pods', pods: { metricName: 'requests', targetAverageValue: '100' } },
          ]),
        },
      },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web' },
        maxReplicas: 2,
        targetCPUUtilizationPercentage: 80,
      },
    },
    shows: { Targets: '<unknown>/100, <unknown>/80%' },
  },
  {
    type: HPA,
    title: 'no metrics',
    object: { metadata: META, spec: { maxReplicas: 2 } },
    shows: { Targets: '<none>' },
  },
  {
    type: HPA_2,
    title: 'the first two metrics and how many more',
    object: {
      metadata: META,
      spec: {
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', ...target({ averageUtilization: 80 }) } },
          { type: 'Pods', pods: target({ averageValue: '1k' }) },
          { type: 'Made up' },
        ],
      },
      status: {
        currentMetrics: [
          { type: 'Resource', resource: { current: { averageUtilization: 20, averageValue: '100m' } } },
          { type: 'Pods', pods: { current: { averageValue: '500' } } },
        ],
      },
    },
    shows: { Targets: '20%/80%, 500/1k + 1 more...' },
  },
  {
    type: HPA_2,
    title: 'averages of what is outside the pods say so',
    object: {
      metadata: META,
      spec: {
        metrics: [
          { type: 'External', external: target({ averageValue: '10' }) },
          { type: 'Object', object: target({ averageValue: '20' }) },
        ],
      },
      status: { currentMetrics: [{ external: { current: { averageValue: '5' } } }] },
    },
    shows: { Targets: '5/10 (avg), <unknown>/20 (avg)' },
  },
  {
    type: HPA_2,
    title: 'totals, and a resource by value',
    object: {
      metadata: META,
      spec: {
        metrics: [
          { type: 'External', external: target({ value: '10' }) },
          { type: 'ContainerResource', containerResource: target({ averageValue: '100Mi' }) },
        ],
      },
      status: {
        currentMetrics: [
          { external: { current: { value: '5' } } },
          { containerResource: { current: { averageValue: '50Mi' } } },
        ],
      },
    },
    shows: { Targets: '5/10, 50Mi/100Mi' },
  },
  {
    type: HPA_2,
    title: 'a resource without a target, and a type nobody knows',
    object: {
      metadata: META,
      spec: { metrics: [{ type: 'Resource', resource: { target: { type: 'Utilization' } } }, { type: 'Moon' }] },
    },
    shows: { Targets: '<unknown>/<auto>, <unknown type>' },
  },
  {
    type: HPA_1,
    title: 'the members of the version before',
    object: {
      metadata: META,
      spec: {
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 70 } },
          { type: 'Object', object: { target: { kind: 'Service', name: 's' }, targetValue: '9' } },
        ],
      },
      status: {
        currentMetrics: [{ resource: { currentAverageUtilization: 7 } }, { object: { currentValue: '8' } }],
      },
    },
    shows: { Targets: '7%/70%, 8/9' },
  },
];

testCells(test, WORKLOADS);
testCells(test, JOBS);
testCells(test, AUTOSCALERS);
