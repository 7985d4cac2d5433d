// The Protobuf encoding of whole objects against bytes computed by an independent route: protobufjs over messages written
// by hand. Both ways, in both dialects where they differ.
import test from 'ava';
import type { JsonObject } from '../../../../api/codec/decode.ts';
import { decode } from '../../../../api/codec/decode.ts';
import { decodeEnveloped, encodeEnveloped, encodeProtobuf } from '../../../../api/codec/protobuf.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { openWire, sealWire, toWire } from '../../../server/kubernetes-messages.ts';

const schema = schemaOf(DIALECTS.kubernetes);
const SECOND = '2021-04-08T12:34:56Z';
const METADATA = {
  name: 'sample',
  namespace: 'default',
  uid: '6f6a0c36-9f3e-4f0e-8f1e-000000000001',
  resourceVersion: '4815162342',
  generation: 3,
  creationTimestamp: SECOND,
  deletionTimestamp: '2038-01-19T03:14:08Z',
  deletionGracePeriodSeconds: 30,
  labels: { app: 'web', 'app.kubernetes.io/name': 'sämple' },
  annotations: { a: '', note: 'x'.repeat(300) },
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: false },
  ],
  finalizers: ['example.com/one', 'example.com/two'],
  managedFields: [
    {
      manager: 'kubectl',
      operation: 'Apply',
      apiVersion: 'v1',
      time: SECOND,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:a': {} } },
    },
  ],
};

const POD_SPEC = {
  volumes: [
    { name: 'config', configMap: { name: 'web', items: [{ key: 'a', path: 'b', mode: 256 }], defaultMode: 420 } },
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
  ],
  initContainers: [{ name: 'init', image: 'busybox', command: ['sh', '-c', 'true'], resources: {} }],
  containers: [
    {
      name: 'main',
      image: 'registry.example/web:1.0',
      args: ['--listen=:8080'],
      ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
      env: [
        { name: 'MODE', value: 'test' },
        { name: 'NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      ],
      resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '100m' } },
      volumeMounts: [{ name: 'config', readOnly: true, mountPath: '/etc/web' }],
      livenessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, timeoutSeconds: 1, periodSeconds: 10 },
      readinessProbe: { exec: { command: ['true'] }, failureThreshold: 3 },
      startupProbe: { httpGet: { path: '/up', port: 8080 }, terminationGracePeriodSeconds: 5 },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  nodeSelector: { 'kubernetes.io/os': 'linux', disk: 'ssd' },
  serviceAccountName: 'default',
  serviceAccount: 'default',
  automountServiceAccountToken: false,
  nodeName: 'node-1',
  securityContext: { runAsUser: 1000, runAsNonRoot: true },
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
  priority: -5,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
  overhead: { memory: '10Mi' },
};

const NAMES = {
  plural: 'widgets',
  singular: 'widget',
  shortNames: ['wd'],
  kind: 'Widget',
  listKind: 'WidgetList',
  categories: ['all'],
};

interface Known {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: object;
}

const KNOWN: readonly Known[] = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    object: {
      metadata: METADATA,
      spec: POD_SPEC,
      status: {
        phase: 'Running',
        conditions: [
          { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: SECOND },
          { type: 'PodScheduled', status: 'False', lastProbeTime: SECOND, lastTransitionTime: SECOND, reason: 'No' },
        ],
        hostIP: '10.0.0.1',
        podIP: '10.1.0.1',
        podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }],
        startTime: '1970-01-01T00:00:00Z',
        qosClass: 'Burstable',
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Node',
    object: {
      metadata: { name: 'node-1', creationTimestamp: SECOND },
      spec: {
        podCIDR: '10.1.0.0/24',
        podCIDRs: ['10.1.0.0/24'],
        providerID: 'example://1',
        unschedulable: true,
        taints: [{ key: 'k', value: 'v', effect: 'NoExecute', timeAdded: SECOND }],
      },
      status: {
        capacity: { cpu: '4', memory: '16Gi', pods: '110' },
        allocatable: { cpu: '3900m', memory: '15Gi', pods: '110' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastHeartbeatTime: SECOND,
            lastTransitionTime: SECOND,
            reason: 'Up',
            message: 'm',
          },
        ],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
        nodeInfo: {
          machineID: 'm',
          systemUUID: 's',
          bootID: 'b',
          kernelVersion: '5.10',
          osImage: 'Debian',
          containerRuntimeVersion: 'containerd://1.5',
          kubeletVersion: 'v1.21.0',
          kubeProxyVersion: 'v1.21.0',
          operatingSystem: 'linux',
          architecture: 'amd64',
        },
        images: [{ names: ['a:1', 'a@sha256:0'], sizeBytes: 5_000_000_000 }],
      },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    object: {
      metadata: METADATA,
      spec: {
        replicas: 0,
        selector: {
          matchLabels: { app: 'web' },
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'back'] }],
        },
        template: { metadata: { labels: { app: 'web' } }, spec: POD_SPEC },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 1 } },
        minReadySeconds: 5,
        revisionHistoryLimit: 10,
        paused: true,
        progressDeadlineSeconds: 600,
      },
      status: {
        observedGeneration: 3,
        replicas: 2,
        updatedReplicas: 2,
        readyReplicas: 1,
        availableReplicas: 1,
        unavailableReplicas: 1,
        conditions: [{ type: 'Available', status: 'True', lastUpdateTime: SECOND, lastTransitionTime: SECOND }],
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    object: {
      metadata: { name: 'e', namespace: 'default' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u', apiVersion: 'v1', fieldPath: 'spec' },
      reason: 'Scheduled',
      message: 'Successfully assigned',
      source: { component: 'scheduler', host: 'h' },
      firstTimestamp: SECOND,
      lastTimestamp: SECOND,
      count: 7,
      type: 'Normal',
      eventTime: '2021-04-08T12:34:56.000001Z',
      series: { count: 2, lastObservedTime: '2021-04-08T12:34:56.789012Z' },
      action: 'Binding',
      related: { kind: 'Node', name: 'node-1' },
      reportingComponent: 'scheduler',
      reportingInstance: 'scheduler-0',
    },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    object: {
      metadata: { name: 'widgets.example.com', creationTimestamp: SECOND },
      spec: {
        group: 'example.com',
        names: NAMES,
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                description: 'A widget',
                type: 'object',
                required: ['spec'],
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      size: { type: 'number', minimum: 0.5, maximum: 10, exclusiveMaximum: true, multipleOf: 0.25 },
                      color: {
                        type: 'string',
                        enum: ['red', 'blue'],
                        default: 'red',
                        maxLength: 8,
                        pattern: '^[a-z]+$',
                      },
                      parts: { type: 'array', items: { type: 'string', format: 'date' }, nullable: true },
                      extra: { type: 'object', additionalProperties: { type: 'integer' } },
                      any: { type: 'object', additionalProperties: true, default: { a: [1, null] } },
                    },
                    oneOf: [{ required: ['size'] }, { required: ['color'] }],
                  },
                },
              },
            },
            subresources: {
              status: {},
              scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
            },
            additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 }],
            deprecated: true,
            deprecationWarning: 'use v2',
          },
        ],
        conversion: { strategy: 'None' },
      },
      status: { acceptedNames: NAMES, storedVersions: ['v1'] },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    object: {
      metadata: { name: 'c' },
      data: { b: 'ü', a: '' },
      binaryData: { z: Buffer.from([0, 255, 128]).toString('base64') },
      immutable: false,
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Status',
    object: {
      metadata: { resourceVersion: '7', remainingItemCount: 0 },
      status: 'Failure',
      message: 'pods "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'pods', causes: [{ reason: 'X', message: 'y', field: 'z' }], retryAfterSeconds: 1 },
      code: 404,
    },
  },
];

for (const { apiVersion, kind, object } of KNOWN) {
  const slash = apiVersion.indexOf('/');
  const type = schema.kind(apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1), kind)!;
  const copy = (): JsonObject => ({ kind, apiVersion, ...(structuredClone(object) as JsonObject) });

  test(`${kind}: an object is encoded as by an independent route`, (t) => {
    const canonical = decode(copy(), type);
    t.deepEqual(canonical.unknownFields, []);
    const expected = toWire(kind, object);
    t.is(encodeProtobuf(canonical.object, type).toString('hex'), expected.toString('hex'));
    const opened = openWire(encodeEnveloped(canonical.object, type));
    t.deepEqual([opened.apiVersion, opened.kind], [apiVersion, kind]);
    t.true(opened.raw.equals(expected));
  });

  test(`${kind}: what an independent route encoded is read`, (t) => {
    const read = decodeEnveloped(sealWire(apiVersion, kind, object), () => type);
    t.deepEqual(read.object, decode(copy(), type).object);
  });
}
