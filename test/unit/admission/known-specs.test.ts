// Pods of one template: what is remembered of their spec must not show but in what they cost.
import test from 'ava';
import { KnownSpec, KnownSpecs } from '../../../actors/admission/known-specs.ts';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { ownedType } from '../../../api/apply/owned-type.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { casesOf } from '../../server/effort.ts';
import { SCHEMA } from '../api/conversion/kinds.ts';
import { AdmissionWorld, type Answer, type Answered } from './admission-world.ts';

const STEPS = casesOf(150);
const PODS = '/api/v1/namespaces/default/pods';
const CLASSES = '/apis/scheduling.orch.io/v1/priorityclasses';
const LIMITS = '/api/v1/namespaces/default/limitranges';

const CONTAINER = {
  name: 'c',
  image: 'registry.example/i:1',
  resources: { requests: { cpu: '0.0001', memory: '64Mi' } },
};
const SPECS: readonly object[] = [
  { containers: [CONTAINER] },
  { restartPolicy: 'Never', containers: [CONTAINER], automountServiceAccountToken: false },
  {
    containers: [{ ...CONTAINER, ports: [{ containerPort: 80 }] }],
    hostNetwork: true,
    tolerations: [{ operator: 'Exists' }],
  },
  { containers: [CONTAINER], initContainers: [{ name: 'i', image: 'i' }], priorityClassName: 'high' },
  { containers: [CONTAINER], securityContext: { supplementalGroups: [], seccompProfile: { type: 'RuntimeDefault' } } },
  { containers: [{ ...CONTAINER, nobodyKnows: 1, image: null }], more: {} },
  { containers: [{ name: 'Not A Name', image: 'i' }] },
  {
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
  {
    containers: [CONTAINER],
    volumes: [{ name: 'e', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } } }],
  },
  { containers: 7 },
];
const METADATA: readonly object[] = [
  {},
  { labels: { a: 'b' } },
  { labels: { 'not a label': '' } },
  { annotations: { 'seccomp.security.alpha.orch.io/pod': 'unconfined' } },
  { annotations: { text: ',"spec":{"containers":[]}}', 'x.io/a': '\\"' } },
  { finalizers: ['x.io/f'], nobodyKnows: 1 },
  { uid: 'of another', resourceVersion: '' },
  { resourceVersion: '7' },
];
/** How bodies are written: that of the template is the same in all of them. */
const FORMS: readonly ((head: object, spec: object) => string)[] = [
  (head, spec) => JSON.stringify({ ...head, spec }),
  (head, spec) => `${JSON.stringify({ ...head, spec, status: {} })}\n`,
  (head, spec) => JSON.stringify({ spec, ...head }),
  (head, spec) => JSON.stringify({ ...head, spec, status: { phase: 'Running' } }),
  (head, spec) =>
    JSON.stringify({ ...head, spec: { containers: [] }, extra: 1 }).replace(
      '"extra":1',
      `"spec":${JSON.stringify(spec)}`,
    ),
  (head, spec) => JSON.stringify({ ...head, inner: { a: 1, spec } }),
  (head, spec) => `${JSON.stringify({ ...head, spec }).slice(0, -1)},"metadata":{"name":"last"}}`,
];

const ofUser = (answer: Answered): string =>
  JSON.stringify(answer)
    .replaceAll(/"uid":"[^"]{36}"/g, '"uid":""')
    .replaceAll(/api-access-\w{5}/g, 'api-access-');

/** Each answer as text. `isTold`: the client wants to hear of all fields, by which no spec is known. */
async function answersOf(seed: number, isTold: boolean): Promise<string[]> {
  const random = new SeededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() ** 2 * from.length)]!;
  const world = await AdmissionWorld.start({ seed });
  await world.created(CLASSES, { metadata: { name: 'high' }, value: 9 });
  const answers: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    const kind = random.next();
    if (kind < 0.03) await world.write('create', LIMITS, { body: limits(step) });
    else if (kind < 0.05) await world.write('deletecollection', LIMITS);
    else if (kind < 0.07) await world.write('create', CLASSES, { body: priorityClass(step) });
    const head = {
      apiVersion: 'v1',
      kind: pick(['Pod', 'Pod', 'Pod', 'Node']),
      metadata: { name: `p${step}`, ...pick(METADATA) },
    };
    const body = pick(FORMS)(head, pick(SPECS));
    const { warnings: _, ...answer } = await world.write('create', PODS, {
      body,
      parameters: {
        ...(isTold ? { fieldValidation: 'Warn' } : {}),
        ...(random.next() < 0.1 ? { dryRun: ['All'] } : {}),
      },
    });
    answers.push(ofUser({ ...answer, warnings: [] }));
    if (answer.code !== 201) continue;
    const stored = (await world.stored(`${PODS}/p${step}`)) as Answer | undefined;
    answers.push(ofUser({ code: 0, warnings: [], body: { ...answer.body, spec: stored?.spec ?? {} } }));
  }
  await world.stop();
  return answers;
}

const limits = (step: number): object => ({
  metadata: { name: `l${step}` },
  spec: { limits: [{ type: 'Container', default: { cpu: `${step}m`, memory: '1Gi' } }] },
});
const priorityClass = (step: number): object => ({ metadata: { name: `c${step}` }, value: step, globalDefault: true });

for (const seed of [1, 2, 3, 4, 5]) {
  test(`pods of known specs are answered and stored as others are: seed ${seed}`, async (t) => {
    const [known, told] = [await answersOf(seed, false), await answersOf(seed, true)];
    t.deepEqual(known, told);
    t.true(known.some((answer) => answer.startsWith('{"code":201')) && known.some((answer) => answer.includes('422')));
  });
}

test('from its third pod on, a template is known', async (t) => {
  const world = await AdmissionWorld.start();
  const volumes: unknown[] = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    const { spec } = await world.created(PODS, { metadata: { name }, spec: SPECS[0]! });
    volumes.push((spec.volumes as readonly { readonly name: string }[])[0]!.name);
  }
  t.not(volumes[0], volumes[1]);
  t.is(volumes[2], volumes[3]);
  await world.stop();
});

/** Adds a container that lacks its defaults, as some webhooks do. */
const side: AdmissionPluginKind = {
  name: 'AlwaysAdmit',
  wants: [{ operations: ['create'], resources: ['core/pods'] }],
  create: () => ({
    mutate: (attributes) => {
      const { object } = attributes;
      const spec = object.spec as { readonly containers: readonly object[] };
      const containers = [...spec.containers, { name: 'side', image: 'i', resources: { limits: { cpu: '1.0' } } }];
      attributes.object = { ...object, spec: { ...spec, containers } };
      attributes.isComplete = false;
    },
  }),
};

test('what a plugin adds to a known spec is made complete', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [side] });
  const specs: unknown[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    specs.push((await world.created(PODS, { metadata: { name }, spec: SPECS[0]! })).spec);
  for (const spec of specs) t.deepEqual(spec, specs[0]);
  const [, added] = (specs[4] as { readonly containers: readonly Record<string, unknown>[] }).containers;
  t.is(added!.terminationMessagePath, '/dev/termination-log');
  t.deepEqual(added!.resources, { limits: { cpu: '1' }, requests: { cpu: '1' } });
  await world.stop();
});

test('a spec that cannot be known is tried once', (t) => {
  const specs = new KnownSpecs();
  const owned = ownedType(SCHEMA.kind('', 'v1', 'Pod'));
  let tries = 0;
  const refused = () => {
    tries++;
    throw new Error('no such object');
  };
  const body = Buffer.from('{"kind":"Pod","spec":{"containers":7}}\n');
  for (let times = 0; times < 6; times++) t.is(specs.find(body, owned, refused), undefined);
  t.is(tries, 1);
});

test('what plugins make of a spec is remembered no more once it has been another each time, and else however often it changes', (t) => {
  const known = () => new KnownSpec({ containers: [] }, [], ownedType(SCHEMA.kind('', 'v1', 'Pod')));
  const restless = known();
  for (let i = 0; i < 20; i++) restless.remember({ i }, { i });
  t.is(restless.outcomeOf({ i: 19 }), undefined);
  const steady = known();
  for (let i = 0; i < 20; i++) {
    steady.remember({ i }, { i });
    t.deepEqual(steady.outcomeOf({ i }), { i });
  }
});

test('a pod without containers is refused, whatever its annotations say of their profiles', async (t) => {
  const world = await AdmissionWorld.start();
  const metadata = { name: 'a', annotations: { 'seccomp.security.alpha.orch.io/pod': 'unconfined' } };
  t.is((await world.write('create', PODS, { body: { metadata } })).code, 422);
  await world.stop();
});
