// What the creation of a pod adds: its quality of service, and seccomp annotations and fields that say the same.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { type QosClass, qosClassOf } from '../../../../api/pods/quality-of-service.ts';
import { seccompDifference, withSeccompInStep } from '../../../../api/pods/seccomp.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { frozen } from '../sample-type.ts';

type Amounts = Readonly<Record<string, string>>;
const container = (requests?: Amounts, limits?: Amounts) => ({ name: 'c', resources: { requests, limits } });
const ALL: Amounts = { cpu: '1', memory: '1Gi' };

const classes: readonly (readonly [
  does: string,
  containers: readonly object[],
  initContainers: readonly object[],
  qos: QosClass,
])[] = [
  ['asks for nothing', [container()], [], 'BestEffort'],
  [
    'asks for nothing that counts',
    [container({ 'example.com/gpu': '1' }, { 'example.com/gpu': '1' })],
    [],
    'BestEffort',
  ],
  ['asks for zero', [container({ cpu: '0', memory: '0' }, { cpu: '0' })], [], 'BestEffort'],
  ['has limits and asks for all of them', [container(ALL, ALL)], [], 'Guaranteed'],
  ['writes the same amounts in two ways', [container({ cpu: '1000m', memory: '1024Mi' }, ALL)], [], 'Guaranteed'],
  [
    'has two containers that make up for each other',
    [
      container({ cpu: '1', memory: '1Gi' }, { cpu: '2', memory: '1Gi' }),
      container({ cpu: '2', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }),
    ],
    [],
    'Guaranteed',
  ],
  ['asks for less than its limit', [container({ cpu: '500m', memory: '1Gi' }, ALL)], [], 'Burstable'],
  ['has a limit for cpu only', [container({ cpu: '1' }, { cpu: '1' })], [], 'Burstable'],
  ['has a container that asks for nothing', [container(ALL, ALL), container()], [], 'Burstable'],
  ['has an init container that asks for nothing', [container(ALL, ALL)], [container()], 'Burstable'],
  ['has limits everywhere', [container(ALL, ALL)], [container(ALL, ALL)], 'Guaranteed'],
  ['has a limit and asks for nothing of it', [container({ memory: '1Gi' }, ALL)], [], 'Burstable'],
];

for (const [does, containers, initContainers, qos] of classes) {
  test(`a pod that ${does} is ${qos}`, (t) => {
    t.is(qosClassOf(frozen({ spec: { containers, initContainers } })), qos);
  });
}

test('a pod without a spec is BestEffort', (t) => {
  t.is(qosClassOf({}), 'BestEffort');
});

const POD_KEY = 'seccomp.security.alpha.orch.io/pod';
const CONTAINER_KEY = 'container.seccomp.security.alpha.orch.io/c';

interface Seccomp {
  readonly does: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pod?: object;
  readonly container?: object;
  /** Annotations, and the profiles of the pod and its container, afterwards. */
  readonly becomes: readonly [annotations: object | undefined, pod: object | undefined, container: object | undefined];
}

const LOCAL = { type: 'Localhost', localhostProfile: 'a.json' };
const seccomps: readonly Seccomp[] = [
  { does: 'no profile', becomes: [undefined, undefined, undefined] },
  {
    does: 'a field',
    pod: { type: 'RuntimeDefault' },
    becomes: [{ [POD_KEY]: 'runtime/default' }, { type: 'RuntimeDefault' }, undefined],
  },
  {
    does: 'a container with a field',
    container: LOCAL,
    becomes: [{ [CONTAINER_KEY]: 'localhost/a.json' }, undefined, LOCAL],
  },
  {
    does: 'an annotation',
    annotations: { [POD_KEY]: 'unconfined', x: 'y' },
    becomes: [{ [POD_KEY]: 'unconfined', x: 'y' }, { type: 'Unconfined' }, undefined],
  },
  {
    does: 'an annotation of old',
    annotations: { [POD_KEY]: 'docker/default' },
    becomes: [{ [POD_KEY]: 'docker/default' }, { type: 'RuntimeDefault' }, undefined],
  },
  {
    does: 'an annotation for its container',
    annotations: { [CONTAINER_KEY]: 'localhost/a.json' },
    becomes: [{ [CONTAINER_KEY]: 'localhost/a.json' }, undefined, LOCAL],
  },
  {
    does: 'an annotation that is no profile',
    annotations: { [POD_KEY]: 'localhost/' },
    becomes: [{ [POD_KEY]: 'localhost/' }, undefined, undefined],
  },
  {
    does: 'both',
    annotations: { [POD_KEY]: 'unconfined' },
    pod: { type: 'RuntimeDefault' },
    becomes: [{ [POD_KEY]: 'unconfined' }, { type: 'RuntimeDefault' }, undefined],
  },
];

for (const { does, annotations, pod, container: ofContainer, becomes } of seccomps) {
  test(`a new pod with ${does} has annotation and field in step`, (t) => {
    const secured = (seccompProfile: object | undefined) =>
      seccompProfile === undefined ? {} : { securityContext: { seccompProfile } };
    const given = frozen({
      metadata: { name: 'p', ...(annotations === undefined ? {} : { annotations }) },
      spec: { ...secured(pod), containers: [{ name: 'c', ...secured(ofContainer) }] },
    });
    const made = withSeccompInStep(given, DIALECTS.orch);
    const spec = made.spec as {
      readonly securityContext?: JsonObject;
      readonly containers: readonly { readonly securityContext?: JsonObject }[];
    };
    const profiles = [spec.securityContext?.seccompProfile, spec.containers[0]!.securityContext?.seccompProfile];
    t.deepEqual([metadataOf(made).annotations, ...profiles], [...becomes]);
    if (does === 'no profile') t.is(made, given as JsonObject);
  });
}

test('an annotation and a field differ by their type, or by the path of a local profile', (t) => {
  t.is(seccompDifference('unconfined', { type: 'Unconfined' }), undefined);
  t.is(seccompDifference('docker/default', { type: 'RuntimeDefault' }), undefined);
  t.is(seccompDifference('unconfined', { type: 'RuntimeDefault' }), 'type');
  t.is(seccompDifference('unconfined', LOCAL), 'type');
  t.is(seccompDifference('localhost/b.json', LOCAL), 'localhostProfile');
  t.is(seccompDifference('localhost/a.json', LOCAL), undefined);
});
