// LimitRanger, case by case.
import { limitRanger } from '../../../../actors/admission/plugins/limit-ranger/limit-ranger.ts';
import { type PluginCase, PODS, type Present, podOf, testPlugin } from './plugin-cases.ts';

const RANGES = '/api/v1/namespaces/default/limitranges';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const NOTE = 'orch.io/limit-ranger';

const range = (limit: object, name = 'r'): Present => [RANGES, { metadata: { name }, spec: { limits: [limit] } }];
const forContainers = (limit: object): Present => range({ type: 'Container', ...limit });
const forPods = (limit: object): Present => range({ type: 'Pod', ...limit });
const forClaims = (limit: object): Present => range({ type: 'PersistentVolumeClaim', ...limit });

const container = (requests: object, limits: object = {}, name = 'c') => ({
  name,
  image: 'i',
  resources: { requests, limits },
});
const asking = (requests: object, limits: object = {}): object => podOf({}, { resources: { requests, limits } });
const claim = (storage: string): object => ({
  metadata: { name: 'it' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const refusal = (detail: string): string => `pods "it" is forbidden: ${detail}`;

const defaults: readonly PluginCase[] = [
  {
    what: 'a pod where there is no range',
    path: PODS,
    body: podOf(),
    becomes: { metadata: { annotations: undefined } },
  },
  {
    what: 'a pod that says nothing',
    present: [forContainers({ default: { cpu: '200m', memory: '512Mi' }, defaultRequest: { cpu: '100m' } })],
    path: PODS,
    body: podOf(),
    becomes: {
      metadata: {
        annotations: {
          [NOTE]: 'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c',
        },
      },
      spec: {
        containers: [
          { resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { cpu: '200m', memory: '512Mi' } } },
        ],
      },
    },
  },
  {
    what: 'a pod that says some of it',
    present: [forContainers({ default: { cpu: '200m' }, defaultRequest: { cpu: '100m', memory: '1Mi' } })],
    path: PODS,
    body: asking({ cpu: '150m' }, {}),
    becomes: {
      metadata: {
        annotations: {
          [NOTE]: 'LimitRanger plugin set: memory request for container c; cpu limit for container c',
        },
      },
      spec: { containers: [{ resources: { requests: { cpu: '150m', memory: '1Mi' }, limits: { cpu: '200m' } } }] },
    },
  },
  {
    what: 'a pod that says all of it',
    present: [forContainers({ default: { cpu: '200m' }, defaultRequest: { cpu: '100m' } })],
    path: PODS,
    body: asking({ cpu: '1' }, { cpu: '2' }),
    becomes: {
      metadata: { annotations: undefined },
      spec: { containers: [{ resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }] },
    },
  },
  {
    what: 'an initial container',
    present: [forContainers({ default: { cpu: '200m' } })],
    path: PODS,
    body: podOf({ initContainers: [{ name: 'first', image: 'i' }] }, { resources: { limits: { cpu: '1' } } }),
    becomes: {
      metadata: {
        annotations: {
          [NOTE]: 'LimitRanger plugin set: cpu request for init container first; cpu limit for init container first',
        },
      },
      spec: {
        initContainers: [{ resources: { requests: { cpu: '200m' }, limits: { cpu: '200m' } } }],
        containers: [{ resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } }],
      },
    },
  },
  {
    what: 'a pod under two ranges, the first of which comes first',
    present: [
      range({ type: 'Container', default: { cpu: '2' } }, 'b'),
      range({ type: 'Container', default: { cpu: '1' } }, 'a'),
    ],
    path: PODS,
    body: podOf(),
    becomes: { spec: { containers: [{ resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } }] } },
  },
  {
    what: 'a dry run',
    present: [forContainers({ default: { cpu: '200m' } })],
    path: PODS,
    body: podOf(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: { spec: { containers: [{ resources: { limits: { cpu: '200m' } } }] } },
  },
  {
    what: 'an update of a pod that was there before the range',
    present: [[PODS, podOf()], forContainers({ min: { cpu: '1' }, default: { cpu: '2' } })],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    becomes: { spec: { containers: [{ resources: {} }] } },
  },
];

const bounds: readonly (readonly [what: string, limit: Present, pod: object, detail: string])[] = [
  [
    'a request below the minimum',
    forContainers({ min: { cpu: '100m' } }),
    asking({ cpu: '50m' }, { cpu: '1' }),
    'minimum cpu usage per Container is 100m, but request is 50m',
  ],
  [
    'a limit below the minimum',
    range({ type: 'Container', min: { memory: '1Gi' } }),
    asking({ memory: '512Mi' }, { memory: '600Mi' }),
    'minimum memory usage per Container is 1Gi, but request is 512Mi',
  ],
  [
    'a limit above the maximum',
    forContainers({ max: { cpu: '1' } }),
    asking({ cpu: '500m' }, { cpu: '1500m' }),
    'maximum cpu usage per Container is 1, but limit is 1500m',
  ],
  [
    'several at once',
    forContainers({ max: { cpu: '1', memory: '1Gi' } }),
    asking({}, { cpu: '2', memory: '2Gi' }),
    '[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]',
  ],
  [
    'a ratio above the most',
    forContainers({ maxLimitRequestRatio: { cpu: '2' } }),
    asking({ cpu: '100m' }, { cpu: '300m' }),
    'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
  ],
  [
    'a ratio without a request',
    forContainers({ maxLimitRequestRatio: { cpu: '2' } }),
    podOf(),
    'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  ],
  [
    'a ratio without a limit',
    forContainers({ maxLimitRequestRatio: { cpu: '2' } }),
    asking({ cpu: '1' }),
    'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
  ],
  [
    'a pod without requests below its minimum',
    forPods({ min: { cpu: '1' } }),
    podOf(),
    'minimum cpu usage per Pod is 1.  No request is specified',
  ],
  [
    'a pod without limits',
    forPods({ max: { cpu: '1' } }),
    podOf(),
    'maximum cpu usage per Pod is 1.  No limit is specified',
  ],
  [
    'containers that are too much together',
    forPods({ max: { cpu: '1' } }),
    podOf({ containers: [container({}, { cpu: '600m' }, 'a'), container({}, { cpu: '600m' }, 'b')] }),
    'maximum cpu usage per Pod is 1, but limit is 1200m',
  ],
  [
    'an initial container that is too much alone',
    forPods({ max: { cpu: '1' } }),
    podOf({
      initContainers: [container({}, { cpu: '1100m' }, 'first')],
      containers: [container({}, { cpu: '600m' }, 'a')],
    }),
    'maximum cpu usage per Pod is 1, but limit is 1100m',
  ],
  [
    'containers one of which says nothing',
    forPods({ max: { memory: '1Gi' } }),
    podOf({ containers: [container({}, { memory: '1Mi' }, 'a'), container({}, {}, 'b')] }),
    'maximum memory usage per Pod is 1Gi.  No limit is specified',
  ],
  [
    'a ratio of a pod',
    forPods({ maxLimitRequestRatio: { memory: '1500m' } }),
    asking({ memory: '1Gi' }, { memory: '2Gi' }),
    'memory max limit to request ratio per Pod is 1500m, but provided ratio is 2.000000',
  ],
];

const kept: readonly PluginCase[] = [
  {
    what: 'a pod just within',
    present: [forContainers({ min: { cpu: '100m' }, max: { cpu: '1' } })],
    path: PODS,
    body: asking({ cpu: '100m' }, { cpu: '1000m' }),
  },
  {
    what: 'a ratio just within',
    present: [forContainers({ maxLimitRequestRatio: { cpu: '2' } })],
    path: PODS,
    body: asking({ cpu: '100m' }, { cpu: '200m' }),
  },
  {
    what: 'a pod whose initial container is within and does not add up',
    present: [forPods({ max: { cpu: '1' } })],
    path: PODS,
    body: podOf({
      initContainers: [container({}, { cpu: '900m' }, 'first')],
      containers: [container({}, { cpu: '900m' }, 'a')],
    }),
  },
  {
    what: 'a pod where the range is about claims',
    present: [forClaims({ max: { storage: '1Gi' } })],
    path: PODS,
    body: podOf(),
  },
  {
    what: 'a claim within',
    present: [forClaims({ min: { storage: '1Gi' }, max: { storage: '2Gi' } })],
    path: CLAIMS,
    body: claim('2Gi'),
  },
];

const claims: readonly PluginCase[] = [
  {
    what: 'a claim above the maximum',
    present: [forClaims({ max: { storage: '1Gi' } })],
    path: CLAIMS,
    body: claim('2Gi'),
    refused:
      'persistentvolumeclaims "it" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  },
  {
    what: 'a claim below the minimum',
    present: [forClaims({ min: { storage: '10Gi' } })],
    path: CLAIMS,
    body: claim('2Gi'),
    refused:
      'persistentvolumeclaims "it" is forbidden: minimum storage usage per PersistentVolumeClaim is 10Gi, but request is 2Gi',
  },
  {
    what: 'an update of a claim that was there before the range',
    present: [[CLAIMS, claim('2Gi')], forClaims({ max: { storage: '1Gi' } })],
    verb: 'patch',
    path: `${CLAIMS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    refused:
      'persistentvolumeclaims "it" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  },
  {
    what: 'an update of the status of a claim',
    present: [[CLAIMS, claim('2Gi')], forClaims({ max: { storage: '1Gi' } })],
    verb: 'patch',
    path: `${CLAIMS}/it/status`,
    body: { status: { phase: 'Bound' } },
  },
];

testPlugin('LimitRanger', { plugins: [limitRanger] }, [
  ...defaults,
  ...bounds.map(([what, limit, body, detail]) => ({
    what,
    present: [limit],
    path: PODS,
    body,
    refused: refusal(detail),
  })),
  ...kept,
  ...claims,
]);
