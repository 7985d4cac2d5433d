// What changes between the versions of a kind, by hand: each case in both directions, and some in one.
import test from 'ava';
import { StoredForm } from '../../../../api/catalog/stored-form.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { DIALECT, REGISTRY, SCHEMA, schemaOfType } from './kinds.ts';

const forms = new StoredForm(REGISTRY, SCHEMA);

function typeOf(apiVersion: string, kind: string) {
  const spelled = DIALECT.spell(apiVersion);
  const type = REGISTRY.known().find((known) => known.apiVersion === spelled && known.kind === kind);
  if (type === undefined) throw new Error(`no ${kind} in ${spelled}`);
  return type;
}

/** Just what a case says: members that every object has are left out. */
function converted(object: JsonObject, from: string, to: string, kind: string): JsonObject {
  const {
    metadata,
    apiVersion: _apiVersion,
    kind: _kind,
    ...rest
  } = forms.between(typeOf(from, kind), typeOf(to, kind))(object);
  const { annotations } = metadata as JsonObject;
  return annotations === undefined ? rest : { annotations, ...rest };
}

interface Case {
  readonly of: string;
  readonly kind: string;
  readonly older: readonly [apiVersion: string, object: JsonObject];
  readonly newer: readonly [apiVersion: string, object: JsonObject];
  /** Left out: both ways. */
  readonly only?: 'up' | 'down';
}

const NO_INGRESS_STATUS = { status: { loadBalancer: {} } };
const NO_BUDGET_STATUS = {
  status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
};
const NO_DEFINITION_STATUS = {
  status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
};
const NO_SCALE_STATUS = { currentReplicas: 0, desiredReplicas: 0 };
const MARK = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const TARGET = { kind: 'Deployment', name: 'web' };
const NAMES = { plural: 'things', kind: 'Thing' };
const SCHEMA_OF_THINGS = { openAPIV3Schema: { type: 'object' } };
const SUBJECT_GROUP = 'rbac.authorization.k8s.io';
const ROLE = { roleRef: { apiGroup: SUBJECT_GROUP, kind: 'Role', name: 'r' } };
const definitionSpec = (more: JsonObject): JsonObject => ({
  group: 'x.example',
  names: NAMES,
  scope: 'Cluster',
  ...more,
});

const CASES: readonly Case[] = [
  {
    of: 'a backend with a numbered port',
    kind: 'Ingress',
    older: [
      'networking.@group/v1beta1',
      { spec: { backend: { serviceName: 'a', servicePort: 8 } }, ...NO_INGRESS_STATUS },
    ],
    newer: [
      'networking.@group/v1',
      { spec: { defaultBackend: { service: { name: 'a', port: { number: 8 } } } }, ...NO_INGRESS_STATUS },
    ],
  },
  {
    of: 'a backend with a named port, in a rule',
    kind: 'Ingress',
    older: [
      'extensions/v1beta1',
      {
        spec: { rules: [{ http: { paths: [{ path: '/', backend: { serviceName: 'a', servicePort: 'web' } }] } }] },
        ...NO_INGRESS_STATUS,
      },
    ],
    newer: [
      'networking.@group/v1',
      {
        spec: {
          rules: [{ http: { paths: [{ path: '/', backend: { service: { name: 'a', port: { name: 'web' } } } }] } }],
        },
        ...NO_INGRESS_STATUS,
      },
    ],
  },
  {
    of: 'a backend that is no service',
    kind: 'Ingress',
    older: [
      'networking.@group/v1beta1',
      {
        spec: { backend: { resource: { apiGroup: null, kind: 'K', name: 'n' }, servicePort: 0 } },
        ...NO_INGRESS_STATUS,
      },
    ],
    newer: [
      'networking.@group/v1',
      { spec: { defaultBackend: { resource: { apiGroup: null, kind: 'K', name: 'n' } } }, ...NO_INGRESS_STATUS },
    ],
  },
  {
    of: 'an empty selector of v1beta1, which selects nothing',
    kind: 'PodDisruptionBudget',
    older: ['policy/v1beta1', { spec: { selector: {} }, ...NO_BUDGET_STATUS }],
    newer: [
      'policy/v1',
      { spec: { selector: { matchExpressions: [{ key: MARK, operator: 'Exists' }] } }, ...NO_BUDGET_STATUS },
    ],
  },
  {
    of: 'an empty selector of v1, which selects everything',
    kind: 'PodDisruptionBudget',
    older: [
      'policy/v1beta1',
      { spec: { selector: { matchExpressions: [{ key: MARK, operator: 'DoesNotExist' }] } }, ...NO_BUDGET_STATUS },
    ],
    newer: ['policy/v1', { spec: { selector: {} }, ...NO_BUDGET_STATUS }],
  },
  {
    of: 'no selector, which selects nothing in either',
    kind: 'PodDisruptionBudget',
    older: ['policy/v1beta1', { spec: { minAvailable: 1 }, ...NO_BUDGET_STATUS }],
    newer: ['policy/v1', { spec: { minAvailable: 1 }, ...NO_BUDGET_STATUS }],
  },
  ...(['Exists', 'DoesNotExist'] as const).flatMap((operator): readonly Case[] => {
    const mark = { key: MARK, operator };
    const own = { key: 'k', operator: 'Exists' };
    const budget = (selector: JsonObject): JsonObject => ({ spec: { selector }, ...NO_BUDGET_STATUS });
    const both = budget({ matchLabels: { a: 'b' }, matchExpressions: [mark, own] });
    const labels = budget({ matchLabels: { a: 'b' }, matchExpressions: [mark] });
    const kept = budget({ matchLabels: { a: 'b' }, matchExpressions: [own] });
    const case_ = (only: 'up' | 'down', of: string, from: JsonObject, to: JsonObject): Case => {
      const [older, newer] = only === 'up' ? [from, to] : [to, from];
      const kind = 'PodDisruptionBudget';
      return { of: `${operator}, ${of}`, kind, only, older: ['policy/v1beta1', older], newer: ['policy/v1', newer] };
    };
    return (['up', 'down'] as const).flatMap((only) => [
      case_(only, 'which stands for an empty selector, beside an expression of its own', both, kept),
      case_(only, 'which stands for an empty selector, beside labels', labels, budget({ matchLabels: { a: 'b' } })),
    ]);
  }),
  {
    of: 'the zone and node of an endpoint',
    kind: 'EndpointSlice',
    older: [
      'discovery.@group/v1beta1',
      {
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['10.0.0.1'],
            conditions: {},
            topology: {
              'kubernetes.io/hostname': 'n1',
              'topology.kubernetes.io/region': 'r',
              'topology.kubernetes.io/zone': 'z',
            },
            nodeName: 'n1',
          },
        ],
        ports: null,
      },
    ],
    newer: [
      'discovery.@group/v1',
      {
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['10.0.0.1'],
            conditions: {},
            deprecatedTopology: { 'topology.kubernetes.io/region': 'r' },
            nodeName: 'n1',
            zone: 'z',
          },
        ],
        ports: null,
      },
    ],
  },
  {
    of: 'a topology that says another node',
    kind: 'EndpointSlice',
    older: [
      'discovery.@group/v1beta1',
      {
        addressType: 'IPv4',
        endpoints: [
          { addresses: ['10.0.0.1'], conditions: {}, topology: { 'kubernetes.io/hostname': 'n2' }, nodeName: 'n1' },
        ],
        ports: null,
      },
    ],
    newer: [
      'discovery.@group/v1',
      {
        addressType: 'IPv4',
        endpoints: [
          {
            addresses: ['10.0.0.1'],
            conditions: {},
            deprecatedTopology: { 'kubernetes.io/hostname': 'n2' },
            nodeName: 'n1',
          },
        ],
        ports: null,
      },
    ],
  },
  {
    of: 'what all versions of a definition have in common',
    kind: 'CustomResourceDefinition',
    older: [
      'apiextensions.@group/v1beta1',
      {
        spec: definitionSpec({
          version: 'v1',
          validation: SCHEMA_OF_THINGS,
          versions: [
            { name: 'v1', served: true, storage: true },
            { name: 'v2', served: true, storage: false },
          ],
          additionalPrinterColumns: [{ name: 'A', type: 'string', JSONPath: '.a' }],
          preserveUnknownFields: false,
        }),
        ...NO_DEFINITION_STATUS,
      },
    ],
    newer: [
      'apiextensions.@group/v1',
      {
        spec: definitionSpec({
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: SCHEMA_OF_THINGS,
              additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
            },
            {
              name: 'v2',
              served: true,
              storage: false,
              schema: SCHEMA_OF_THINGS,
              additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
            },
          ],
        }),
        ...NO_DEFINITION_STATUS,
      },
    ],
  },
  {
    of: 'what the versions of a definition say each for itself',
    kind: 'CustomResourceDefinition',
    older: [
      'apiextensions.@group/v1beta1',
      {
        spec: definitionSpec({
          version: 'v1',
          versions: [
            { name: 'v1', served: true, storage: true, schema: SCHEMA_OF_THINGS },
            { name: 'v2', served: true, storage: false },
          ],
          conversion: {
            strategy: 'Webhook',
            webhookClientConfig: { url: 'https://x.example' },
            conversionReviewVersions: ['v1'],
          },
          preserveUnknownFields: true,
        }),
        ...NO_DEFINITION_STATUS,
      },
    ],
    newer: [
      'apiextensions.@group/v1',
      {
        spec: definitionSpec({
          versions: [
            { name: 'v1', served: true, storage: true, schema: SCHEMA_OF_THINGS },
            { name: 'v2', served: true, storage: false },
          ],
          conversion: {
            strategy: 'Webhook',
            webhook: { clientConfig: { url: 'https://x.example' }, conversionReviewVersions: ['v1'] },
          },
          preserveUnknownFields: true,
        }),
        ...NO_DEFINITION_STATUS,
      },
    ],
  },
  {
    of: 'a definition that names one version only',
    kind: 'CustomResourceDefinition',
    only: 'up',
    older: [
      'apiextensions.@group/v1beta1',
      { spec: definitionSpec({ version: 'v7', preserveUnknownFields: false }), ...NO_DEFINITION_STATUS },
    ],
    newer: [
      'apiextensions.@group/v1',
      { spec: definitionSpec({ versions: [{ name: 'v7', served: true, storage: true }] }), ...NO_DEFINITION_STATUS },
    ],
  },
  {
    of: 'a webhook that does not say which reviews it takes',
    kind: 'CustomResourceDefinition',
    older: [
      'apiextensions.@group/v1beta1',
      {
        spec: definitionSpec({
          version: 'v1',
          versions: [{ name: 'v1', served: true, storage: true }],
          conversion: { strategy: 'Webhook', webhookClientConfig: { url: 'https://x.example' } },
          preserveUnknownFields: false,
        }),
        ...NO_DEFINITION_STATUS,
      },
    ],
    newer: [
      'apiextensions.@group/v1',
      {
        spec: definitionSpec({
          versions: [{ name: 'v1', served: true, storage: true }],
          conversion: {
            strategy: 'Webhook',
            webhook: { clientConfig: { url: 'https://x.example' }, conversionReviewVersions: null },
          },
        }),
        ...NO_DEFINITION_STATUS,
      },
    ],
  },
  {
    of: 'the groups of whom is asked about',
    kind: 'SubjectAccessReview',
    older: ['authorization.@group/v1beta1', { spec: { user: 'u', group: ['g'] }, status: { allowed: false } }],
    newer: ['authorization.@group/v1', { spec: { user: 'u', groups: ['g'] }, status: { allowed: false } }],
  },
  {
    of: 'the subjects of a binding',
    kind: 'RoleBinding',
    older: [
      'rbac.authorization.@group/v1alpha1',
      {
        subjects: [
          { kind: 'User', apiVersion: `${SUBJECT_GROUP}/v1alpha1`, name: 'u' },
          { kind: 'ServiceAccount', apiVersion: 'v1', name: 's', namespace: 'n' },
        ],
        ...ROLE,
      },
    ],
    newer: [
      'rbac.authorization.@group/v1',
      {
        subjects: [
          { kind: 'User', apiGroup: SUBJECT_GROUP, name: 'u' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
        ...ROLE,
      },
    ],
  },
  {
    of: 'subjects of other kinds, by the group that each says',
    kind: 'RoleBinding',
    only: 'up',
    older: [
      'rbac.authorization.@group/v1alpha1',
      {
        subjects: [
          { kind: 'Group', apiVersion: 'v1', name: '*' },
          { kind: 'Robot', apiVersion: 'x.example/v1', name: 'r' },
          { kind: 'Robot', apiVersion: 'v1', name: '*' },
          { kind: 'Robot', name: 'r' },
          { kind: 'ServiceAccount', apiVersion: 'x.example/v1', name: 's', namespace: 'n' },
        ],
        ...ROLE,
      },
    ],
    newer: [
      'rbac.authorization.@group/v1',
      {
        subjects: [
          { kind: 'Group', apiGroup: SUBJECT_GROUP, name: '*' },
          { kind: 'Robot', apiGroup: 'x.example', name: 'r' },
          { kind: 'Robot', name: '*' },
          { kind: 'Robot', name: 'r' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
        ...ROLE,
      },
    ],
  },
  {
    of: 'subjects of another kind, whose group has no version',
    kind: 'ClusterRoleBinding',
    only: 'down',
    older: [
      'rbac.authorization.@group/v1alpha1',
      {
        subjects: [
          { kind: 'Group', apiVersion: `${SUBJECT_GROUP}/v1alpha1`, name: 'g' },
          { kind: 'Robot', apiVersion: 'x.example/', name: 'r' },
          { kind: 'Robot', name: 'r' },
        ],
        ...ROLE,
      },
    ],
    newer: [
      'rbac.authorization.@group/v1',
      {
        subjects: [
          { kind: 'Group', apiGroup: SUBJECT_GROUP, name: 'g' },
          { kind: 'Robot', apiGroup: 'x.example', name: 'r' },
          { kind: 'Robot', name: 'r' },
        ],
        ...ROLE,
      },
    ],
  },
  {
    of: 'the user who stands for everyone',
    kind: 'ClusterRoleBinding',
    only: 'up',
    older: [
      'rbac.authorization.@group/v1alpha1',
      { subjects: [{ kind: 'User', apiVersion: `${SUBJECT_GROUP}/v1alpha1`, name: '*' }], ...ROLE },
    ],
    newer: [
      'rbac.authorization.@group/v1',
      { subjects: [{ kind: 'Group', apiGroup: SUBJECT_GROUP, name: 'system:authenticated' }], ...ROLE },
    ],
  },
  {
    of: 'the handler of a runtime class',
    kind: 'RuntimeClass',
    older: ['node.@group/v1alpha1', { spec: { runtimeHandler: 'h', overhead: { podFixed: { cpu: '1' } } } }],
    newer: ['node.@group/v1', { handler: 'h', overhead: { podFixed: { cpu: '1' } } }],
  },
  {
    of: 'the share of CPU',
    kind: 'HorizontalPodAutoscaler',
    older: [
      'autoscaling/v1',
      {
        spec: { scaleTargetRef: TARGET, maxReplicas: 3, targetCPUUtilizationPercentage: 60 },
        status: NO_SCALE_STATUS,
      },
    ],
    newer: [
      'autoscaling/v2beta2',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          ],
        },
        status: { ...NO_SCALE_STATUS, currentMetrics: null, conditions: null },
      },
    ],
  },
  {
    of: 'no metric at all, which means CPU',
    kind: 'HorizontalPodAutoscaler',
    only: 'up',
    older: ['autoscaling/v1', { spec: { scaleTargetRef: TARGET, maxReplicas: 3 }, status: NO_SCALE_STATUS }],
    newer: [
      'autoscaling/v2beta1',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } }],
        },
        status: { ...NO_SCALE_STATUS, currentMetrics: null, conditions: null },
      },
    ],
  },
  {
    of: 'a metric of pods beside CPU, and conditions',
    kind: 'HorizontalPodAutoscaler',
    older: [
      'autoscaling/v1',
      {
        annotations: {
          'autoscaling.alpha.kubernetes.io/conditions':
            '[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]',
          'autoscaling.alpha.kubernetes.io/metrics':
            '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"5"}}]',
        },
        spec: { scaleTargetRef: TARGET, maxReplicas: 3, targetCPUUtilizationPercentage: 60 },
        status: NO_SCALE_STATUS,
      },
    ],
    newer: [
      'autoscaling/v2beta2',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '5' } } },
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          ],
        },
        status: {
          ...NO_SCALE_STATUS,
          currentMetrics: null,
          conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: null }],
        },
      },
    ],
  },
  {
    of: 'an amount of CPU, which is no share of it',
    kind: 'HorizontalPodAutoscaler',
    older: [
      'autoscaling/v1',
      {
        annotations: {
          'autoscaling.alpha.kubernetes.io/metrics':
            '[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"1"}}]',
        },
        spec: { scaleTargetRef: TARGET, maxReplicas: 3, targetCPUUtilizationPercentage: 60 },
        status: NO_SCALE_STATUS,
      },
    ],
    newer: [
      'autoscaling/v2beta2',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '1' } } },
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          ],
        },
        status: { ...NO_SCALE_STATUS, currentMetrics: null, conditions: null },
      },
    ],
  },
  {
    of: 'what two metrics are called differently',
    kind: 'HorizontalPodAutoscaler',
    older: [
      'autoscaling/v2beta1',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            { type: 'Object', object: { target: TARGET, metricName: 'm', targetValue: '3' } },
            { type: 'External', external: { metricName: 'e', metricSelector: {}, targetAverageValue: '4' } },
          ],
        },
        status: { ...NO_SCALE_STATUS, currentMetrics: null, conditions: null },
      },
    ],
    newer: [
      'autoscaling/v2beta2',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            {
              type: 'Object',
              object: { describedObject: TARGET, target: { type: 'Value', value: '3' }, metric: { name: 'm' } },
            },
            {
              type: 'External',
              external: { metric: { name: 'e', selector: {} }, target: { type: 'AverageValue', averageValue: '4' } },
            },
          ],
        },
        status: { ...NO_SCALE_STATUS, currentMetrics: null, conditions: null },
      },
    ],
  },
  {
    of: 'metrics that go by the average alone, and what is measured of them',
    kind: 'HorizontalPodAutoscaler',
    older: [
      'autoscaling/v2beta1',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            { type: 'Object', object: { target: TARGET, metricName: 'm', targetValue: '0', averageValue: '2' } },
            { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
          ],
        },
        status: {
          ...NO_SCALE_STATUS,
          currentMetrics: [
            { type: 'Object', object: { target: TARGET, metricName: 'm', currentValue: '7', averageValue: '2' } },
            { type: 'External', external: { metricName: 'e', currentValue: '8', currentAverageValue: '4' } },
            { type: 'Pods', pods: { metricName: 'p', currentAverageValue: '5' } },
            { type: 'Resource', resource: { name: 'memory', currentAverageValue: '2Gi' } },
          ],
          conditions: null,
        },
      },
    ],
    newer: [
      'autoscaling/v2beta2',
      {
        spec: {
          scaleTargetRef: TARGET,
          maxReplicas: 3,
          metrics: [
            {
              type: 'Object',
              object: {
                describedObject: TARGET,
                target: { type: 'AverageValue', averageValue: '2' },
                metric: { name: 'm' },
              },
            },
            { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
          ],
        },
        status: {
          ...NO_SCALE_STATUS,
          currentMetrics: [
            {
              type: 'Object',
              object: { metric: { name: 'm' }, current: { value: '7', averageValue: '2' }, describedObject: TARGET },
            },
            { type: 'External', external: { metric: { name: 'e' }, current: { value: '8', averageValue: '4' } } },
            { type: 'Pods', pods: { metric: { name: 'p' }, current: { averageValue: '5' } } },
            { type: 'Resource', resource: { name: 'memory', current: { averageValue: '2Gi' } } },
          ],
          conditions: null,
        },
      },
    ],
  },
];

/** The case's object, with its annotations in place. */
function objectOf([, { annotations, ...object }]: Case['older']): JsonObject {
  return { metadata: { name: 'x', ...(annotations === undefined ? {} : { annotations }) }, ...object };
}

for (const { of, kind, older, newer, only } of CASES) {
  if (only !== 'down') {
    test(`${kind}: ${of}, from ${older[0]} to ${newer[0]}`, (t) => {
      t.deepEqual(converted(objectOf(older), older[0], newer[0], kind), newer[1]);
    });
  }
  if (only !== 'up') {
    test(`${kind}: ${of}, from ${newer[0]} to ${older[0]}`, (t) => {
      t.deepEqual(converted(objectOf(newer), newer[0], older[0], kind), older[1]);
    });
  }
}

const METRICS_KEY = 'autoscaling.alpha.kubernetes.io/metrics';
const EXACT_KEY = 'autoscaling.alpha.kubernetes.io/exact-metrics';
const AUTOSCALER = 'HorizontalPodAutoscaler';
const CPU = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } };
const MEMORY = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
};

function metricsOf(object: JsonObject): unknown {
  return (object.spec as JsonObject).metrics;
}

test('the order of metrics, which annotations cannot say, outlives v1, until v1 changes a metric', (t) => {
  const object = { metadata: {}, spec: { scaleTargetRef: TARGET, maxReplicas: 3, metrics: [CPU, MEMORY] } };
  const inV1 = forms.between(typeOf('autoscaling/v2beta2', AUTOSCALER), typeOf('autoscaling/v1', AUTOSCALER))(object);
  const back = forms.between(typeOf('autoscaling/v1', AUTOSCALER), typeOf('autoscaling/v2beta2', AUTOSCALER));
  t.deepEqual(metricsOf(back(inV1)), [CPU, MEMORY]);
  const changed = { ...inV1, spec: { ...(inV1.spec as object), targetCPUUtilizationPercentage: 70 } };
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } };
  t.deepEqual(metricsOf(back(changed)), [MEMORY, cpu]);
});

test('what v2beta1 cannot say of a metric outlives it, until v2beta1 changes the metric', (t) => {
  const [hub, older] = [typeOf('autoscaling/v2beta2', AUTOSCALER), typeOf('autoscaling/v2beta1', AUTOSCALER)];
  const raw = { type: 'Resource', resource: { name: 'memory', target: { type: 'Value', value: '3' } } };
  const object = { metadata: {}, spec: { scaleTargetRef: TARGET, maxReplicas: 3, metrics: [raw] } };
  const inOlder = forms.between(hub, older)(object);
  const back = forms.between(older, hub);
  t.deepEqual(metricsOf(back(inOlder)), [raw]);
  const metrics = [{ type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } }];
  t.deepEqual(metricsOf(back({ ...inOlder, spec: { ...(inOlder.spec as object), metrics } })), [MEMORY]);
});

test('that there is no metric at all outlives v1, whose defaults leave it so', (t) => {
  const [hub, v1] = [typeOf('autoscaling/v2beta2', AUTOSCALER), typeOf('autoscaling/v1', AUTOSCALER)];
  const object = { metadata: {}, spec: { scaleTargetRef: TARGET, maxReplicas: 3, metrics: [] } };
  const inV1 = forms.between(hub, v1)(object) as Record<string, unknown>;
  applyDefaults(inV1, schemaOfType(v1), () => true);
  t.is((inV1.spec as JsonObject).targetCPUUtilizationPercentage, undefined);
  t.is(metricsOf(forms.between(v1, hub)(inV1)), undefined);
});

const BROKEN = [
  '',
  '[',
  '{}',
  'null',
  '[1]',
  '[{"type":1}]',
  '[[]]',
  '{"__proto__":{"metrics":[]}}',
  '{"ScaleUp":1}',
  '{"metrics":[1],"current":[]}',
  '{"metrics":[]}',
  '['.repeat(10_000),
];

for (const text of BROKEN) {
  test(`annotations that say ${JSON.stringify(text.slice(0, 30))} are as good as none`, (t) => {
    const keys = ['behavior', 'conditions', 'current-metrics', 'exact-metrics', 'metrics'];
    const annotations = Object.fromEntries(keys.map((key) => [`autoscaling.alpha.kubernetes.io/${key}`, text]));
    const spec = { scaleTargetRef: TARGET, maxReplicas: 3, targetCPUUtilizationPercentage: 60 };
    const object = { metadata: { annotations: { ...annotations, kept: 'yes' } }, spec };
    const inHub = forms.between(
      typeOf('autoscaling/v1', AUTOSCALER),
      typeOf('autoscaling/v2beta2', AUTOSCALER),
    )(object);
    t.deepEqual(metricsOf(inHub), [CPU]);
    t.deepEqual((inHub.metadata as JsonObject).annotations, { kept: 'yes' });
  });
}

test('a budget of v1 stores no mark of an empty selector of v1beta1 but the one that selects nothing', (t) => {
  const selectorStored = (selector: JsonObject): unknown => {
    const object = { metadata: {}, spec: { selector } };
    return (forms.stored(typeOf('policy/v1', 'PodDisruptionBudget'), object).spec as JsonObject).selector;
  };
  const [none, all] = ['Exists', 'DoesNotExist'].map((operator) => ({ key: MARK, operator }));
  t.deepEqual(selectorStored({ matchExpressions: [none] }), { matchExpressions: [none] });
  t.deepEqual(selectorStored({ matchExpressions: [all] }), {});
  t.deepEqual(selectorStored({}), {});
  for (const mark of [none, all]) {
    t.deepEqual(selectorStored({ matchLabels: { a: 'b' }, matchExpressions: [mark] }), { matchLabels: { a: 'b' } });
  }
});

test('what v1 stores has the annotations of its own making only', (t) => {
  const annotations = { [METRICS_KEY]: '[]', [EXACT_KEY]: '{"metrics":[],"current":[]}' };
  const spec = { scaleTargetRef: TARGET, maxReplicas: 3, targetCPUUtilizationPercentage: 60 };
  const stored = forms.stored(typeOf('autoscaling/v1', AUTOSCALER), { metadata: { annotations }, spec });
  t.is((stored.metadata as JsonObject).annotations, undefined);
});

test('kinds that have nothing to do with each other cannot be converted', (t) => {
  const pods = typeOf('v1', 'Pod');
  t.throws(() => forms.between(pods, typeOf('v1', 'Node')), { instanceOf: RangeError });
  t.notThrows(() => forms.between(pods, pods));
  t.truthy(schemaOfType(pods));
});
