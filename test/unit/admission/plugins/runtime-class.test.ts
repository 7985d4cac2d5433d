// RuntimeClass, case by case.
import { runtimeClass } from '../../../../actors/admission/plugins/runtime-class/runtime-class.ts';
import { type PluginCase, PODS, type Present, podOf, testPlugin } from './plugin-cases.ts';

const CLASSES = '/apis/node.orch.io/v1/runtimeclasses';
const classOf = (name: string, more: object = {}): Present => [CLASSES, { metadata: { name }, handler: 'h', ...more }];
const OVERHEAD = { overhead: { podFixed: { cpu: '10m', memory: '16Mi' } } };
const toleration = (key: string, more: object = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...more });
const SCHEDULING = {
  scheduling: { nodeSelector: { runtime: 'sandbox' }, tolerations: [toleration('sandbox')] },
};
const refusal = (detail: string): string => `pods "it" is forbidden: ${detail}`;

const cases: readonly PluginCase[] = [
  { what: 'a pod without a class', path: PODS, body: podOf(), becomes: { spec: { overhead: undefined } } },
  {
    what: 'a pod of a plain class',
    path: PODS,
    body: podOf({ runtimeClassName: 'plain' }),
    becomes: { spec: { overhead: undefined, nodeSelector: undefined } },
  },
  {
    what: 'a pod of a class that is not there',
    path: PODS,
    body: podOf({ runtimeClassName: 'none' }),
    refused: refusal('pod rejected: RuntimeClass "none" not found'),
  },
  {
    what: 'a pod of a class with overhead',
    path: PODS,
    body: podOf({ runtimeClassName: 'heavy' }),
    becomes: { spec: { overhead: { cpu: '10m', memory: '16Mi' } } },
  },
  {
    what: 'a dry run',
    path: PODS,
    request: { parameters: { dryRun: ['All'] } },
    body: podOf({ runtimeClassName: 'heavy' }),
    becomes: { spec: { overhead: { cpu: '10m', memory: '16Mi' } } },
  },
  {
    what: 'a pod that says its overhead itself, in other words',
    path: PODS,
    body: podOf({ runtimeClassName: 'heavy', overhead: { memory: '16384Ki', cpu: '0.01' } }),
    becomes: { spec: { overhead: { cpu: '10m', memory: '16Mi' } } },
  },
  {
    what: 'a pod with another overhead than its class',
    path: PODS,
    body: podOf({ runtimeClassName: 'heavy', overhead: { cpu: '20m' } }),
    refused: refusal("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"),
  },
  {
    what: 'a pod with overhead and a class without',
    path: PODS,
    body: podOf({ runtimeClassName: 'plain', overhead: { cpu: '20m' } }),
    refused: refusal('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'),
  },
  {
    what: 'a pod with overhead and no class',
    path: PODS,
    body: podOf({ overhead: { cpu: '20m' } }),
    refused: refusal('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'),
  },
  {
    what: 'a pod of a class with nodes',
    path: PODS,
    body: podOf({ runtimeClassName: 'placed', nodeSelector: { disk: 'ssd' }, tolerations: [toleration('other')] }),
    becomes: {
      spec: {
        nodeSelector: { disk: 'ssd', runtime: 'sandbox' },
        tolerations: [toleration('other'), toleration('sandbox')],
      },
    },
  },
  {
    what: 'a pod that tolerates what its class does',
    path: PODS,
    body: podOf({ runtimeClassName: 'placed', tolerations: [{ key: 'sandbox', operator: 'Exists' }] }),
    becomes: { spec: { tolerations: [{ key: 'sandbox', operator: 'Exists' }] } },
  },
  {
    what: 'a pod that wants other nodes than its class',
    path: PODS,
    body: podOf({ runtimeClassName: 'placed', nodeSelector: { runtime: 'native' } }),
    refused: refusal(
      'conflict: runtimeClass.scheduling.nodeSelector[runtime] = sandbox; pod.spec.nodeSelector[runtime] = native',
    ),
  },
  {
    what: 'an update of a pod whose class is gone',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
  },
];

testPlugin(
  'RuntimeClass',
  { plugins: [runtimeClass], present: [classOf('plain'), classOf('heavy', OVERHEAD), classOf('placed', SCHEDULING)] },
  cases,
);
