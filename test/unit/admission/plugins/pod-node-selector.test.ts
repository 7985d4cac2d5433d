// PodNodeSelector, case by case.
import { podNodeSelector } from '../../../../actors/admission/plugins/pod-node-selector/pod-node-selector.ts';
import { type PluginCase, PODS, podOf, testPlugin } from './plugin-cases.ts';

const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const CONFLICT = 'pods "it" is forbidden: pod node label selector conflicts with its namespace node label selector';
const NOT_LISTED = 'pods "it" is forbidden: pod node label selector labels conflict with its namespace whitelist';

const cases: readonly PluginCase[] = [
  {
    what: 'a pod in a namespace that says nothing',
    path: PODS,
    body: podOf({ nodeSelector: { a: 'b' } }),
    becomes: { spec: { nodeSelector: { a: 'b', zone: 'one' } } },
  },
  {
    what: 'a pod in a namespace with an annotation',
    path: pods('own'),
    body: podOf({ nodeSelector: { a: 'b' } }),
    becomes: { spec: { nodeSelector: { a: 'b', disk: 'ssd', cpu: 'x' } } },
  },
  {
    what: 'a pod that says the same as its namespace',
    path: pods('own'),
    body: podOf({ nodeSelector: { disk: 'ssd' } }),
    becomes: { spec: { nodeSelector: { disk: 'ssd', cpu: 'x' } } },
  },
  {
    what: 'a pod without a selector in a namespace whose annotation is empty',
    path: pods('blank'),
    body: podOf(),
    becomes: { spec: { nodeSelector: undefined } },
  },
  {
    what: 'a dry run',
    path: PODS,
    body: podOf(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: { spec: { nodeSelector: { zone: 'one' } } },
  },
  {
    what: 'a pod that asks for another node than its namespace',
    path: pods('own'),
    body: podOf({ nodeSelector: { disk: 'hdd' } }),
    refused: CONFLICT,
  },
  {
    what: 'a pod that asks for another node than the default',
    path: PODS,
    body: podOf({ nodeSelector: { zone: 'two' } }),
    refused: CONFLICT,
  },
  {
    what: 'a pod with a label that the settings allow',
    path: pods('listed'),
    body: podOf({ nodeSelector: { team: 'red' } }),
    becomes: { spec: { nodeSelector: { team: 'red', zone: 'one' } } },
  },
  {
    what: 'a pod with a label that the settings do not allow',
    path: pods('listed'),
    body: podOf({ nodeSelector: { a: 'b' } }),
    refused: NOT_LISTED,
  },
  {
    what: 'a pod in a namespace whose annotation is no selector',
    path: pods('wrong'),
    body: podOf(),
    code: 500,
    refused: 'invalid selector: [a b c]',
  },
  {
    what: 'a pod that gets its name later and asks for another node',
    path: PODS,
    body: podOf({ nodeSelector: { zone: 'two' } }, {}, { name: '', generateName: 'made-' }),
    refused: 'pods is forbidden: pod node label selector conflicts with its namespace node label selector',
  },
  {
    what: 'an update',
    path: `${PODS}/it`,
    verb: 'patch',
    present: [[PODS, podOf()]],
    body: { metadata: { labels: { a: 'b' } } },
    becomes: { spec: { nodeSelector: { zone: 'one' } } },
  },
];

const namespace = (name: string, selector: string) =>
  [
    '/api/v1/namespaces',
    { metadata: { name, annotations: { 'scheduler.alpha.orch.io/node-selector': selector } } },
  ] as const;

testPlugin(
  'PodNodeSelector',
  {
    plugins: [podNodeSelector],
    namespaces: ['default', 'listed'],
    present: [namespace('own', 'disk=ssd, cpu=x'), namespace('blank', ''), namespace('wrong', 'a=b=c')],
    configurations: {
      PodNodeSelector: { standard: { zone: 'one' }, allowed: { listed: { zone: 'one', team: 'red' } } },
    },
  },
  cases,
);
