// Updates of metadata alone: what they cost, and that they come to what all the steps of an update come to. What is decoded is counted
// for the whole process: those tests are serial.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { decodedCount } from '../../../storage/forms/stored-json.ts';
import { casesOf } from '../../server/effort.ts';
import { AdmissionWorld, type Answer, type Answered } from './admission-world.ts';

const STEPS = casesOf(120);
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const STRATEGIC = 'application/strategic-merge-patch+json';

const POD_SPEC = { containers: [{ name: 'c', image: 'i' }] };
const METADATA = { name: 'a', labels: { a: 'b' }, annotations: { text: 'é "managedFields":[ 😀', more: '\\' } };
const MADE: Readonly<Record<string, object>> = {
  [CONFIG_MAPS]: { metadata: METADATA, data: { a: '}},"data":{"é' } },
  [PODS]: { metadata: METADATA, spec: POD_SPEC },
  [DEPLOYMENTS]: {
    metadata: METADATA,
    spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: POD_SPEC } },
  },
};

type Members = Record<string, unknown>;

/** As a client sends back what it has read, with other metadata. */
function put(read: Answer, change: (metadata: Members) => void): string {
  const copy = structuredClone(read) as unknown as { metadata: Members };
  change(copy.metadata);
  const { managedFields, ...others } = copy.metadata;
  copy.metadata = managedFields === undefined ? others : { ...others, managedFields };
  return `${JSON.stringify(copy)}\n`;
}

/** What a pod's manifest may leave out: defaults, and what plugins add or keep. */
const DEFAULTED: readonly string[] = [
  ...['restartPolicy', 'dnsPolicy', 'securityContext', 'schedulerName', 'status'],
  ...['priority', 'preemptionPolicy', 'tolerations'],
];

/** What a user keeps in a file of a pod: it says nothing of what the server adds, in no order of the server's. */
function manifest(read: Answer, leftOut: readonly string[], change: (metadata: Members) => void): string {
  const { metadata, spec } = structuredClone(read) as unknown as { metadata: Members; spec: Members };
  const { name, labels, annotations, finalizers } = metadata;
  const said: Members = { name, labels, annotations, finalizers };
  change(said);
  for (const member of leftOut) delete spec[member];
  const { containers, ...others } = spec;
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: said, spec: { ...others, containers } };
  return JSON.stringify(leftOut.includes('status') ? body : { ...body, status: {} });
}

test.serial(
  'a manifest of a pod that is put again with other labels is not decoded once its spec is known',
  async (t) => {
    const world = await AdmissionWorld.start();
    const created = await world.created(PODS, MADE[PODS]!);
    const path = `${PODS}/a`;
    const replace = async (label: string): Promise<number> => {
      const body = manifest(created, DEFAULTED, (metadata) => Object.assign(metadata, { labels: { a: label } }));
      return (await world.write('update', path, { body })).code;
    };
    t.deepEqual([await replace('1'), await replace('2')], [200, 200]);
    const before = decodedCount();
    t.deepEqual([await replace('3'), await replace('4')], [200, 200]);
    t.is(decodedCount(), before);
    const { metadata, spec } = (await world.stored(path))!;
    t.deepEqual([metadata.labels, spec], [{ a: '4' }, created.spec]);
    const other = manifest(created, DEFAULTED, (metadata) => Object.assign(metadata, { labels: { a: '5' } }));
    const changed = other.replace('"image":"i"', '"image":"j"');
    t.is((await world.write('update', path, { body: changed })).code, 200);
    t.is((await world.write('update', path, { body: other })).code, 200, 'of a known spec that is not the stored one');
    t.deepEqual((await world.stored(path))!.spec, created.spec);
    await world.stop();
  },
);

test.serial(
  'a plugin that goes by more than what is sent and stored is asked about each manifest that is put',
  async (t) => {
    let key = 'one';
    const tolerates: AdmissionPluginKind = {
      name: 'AlwaysAdmit',
      wants: [{ operations: ['create', 'update'], resources: ['core/pods'] }],
      create: () => ({
        mutate: (attributes) => {
          const { spec } = attributes.object as {
            readonly spec: { readonly tolerations?: readonly { key: string }[] };
          };
          const { tolerations = [] } = spec;
          if (!tolerations.some((one) => one.key === key)) attributes.ownSpec().tolerations = [...tolerations, { key }];
        },
      }),
    };
    const world = await AdmissionWorld.start({ plugins: [tolerates] });
    const spec = { ...POD_SPEC, serviceAccountName: 'default' };
    await world.created(PODS, { metadata: { name: 'a' }, spec });
    const replace = async (label: string): Promise<number> =>
      (await world.write('update', `${PODS}/a`, { body: { metadata: { name: 'a', labels: { a: label } }, spec } }))
        .code;
    t.deepEqual([await replace('1'), await replace('2'), await replace('3')], [200, 200, 200]);
    key = 'two';
    t.is(await replace('4'), 422, 'it no longer adds what is stored, and what is stored may not go');
    await world.stop();
  },
);

test('labels that follow from the rest of an object are back when a change of metadata takes them away', async (t) => {
  const world = await AdmissionWorld.start();
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const template = { metadata: { labels: { a: 'b' } }, spec: { ...POD_SPEC, restartPolicy: 'Never' } };
  const made = await world.created(jobs, { metadata: { name: 'a' }, spec: { template } });
  const contentType = 'application/merge-patch+json';
  await world.write('patch', `${jobs}/a`, { body: { metadata: { labels: null } }, contentType });
  t.deepEqual((await world.stored(`${jobs}/a`))!.metadata.labels, made.metadata.labels);
  t.deepEqual(Object.keys(made.metadata.labels ?? {}).sort(), ['a', 'controller-uid', 'job-name']);
  const [name] = Object.keys((await world.stored('/api/v1/namespaces/default'))!.metadata.labels ?? {});
  const labels = { [name!]: null };
  await world.write('patch', '/api/v1/namespaces/default', { body: { metadata: { labels } }, contentType });
  t.deepEqual((await world.stored('/api/v1/namespaces/default'))!.metadata.labels, { [name!]: 'default' });
  await world.stop();
});

for (const collection of Object.keys(MADE)) {
  test.serial(
    `neither a PUT of what was read with other labels, nor a patch of them, parses the object: ${collection}`,
    async (t) => {
      const world = await AdmissionWorld.start();
      const created = await world.created(collection, MADE[collection]!);
      const path = `${collection}/a`;
      const before = decodedCount();
      const body = put(created, (metadata) => Object.assign(metadata, { labels: { a: 'c' }, finalizers: ['x.io/f'] }));
      const answer = await world.write('update', path, { body });
      t.is(answer.code, 200);
      const withoutOwners = put(answer.body, (metadata) => {
        metadata.labels = { b: 'd' };
        delete metadata.managedFields;
      });
      t.is((await world.write('update', path, { body: withoutOwners })).code, 200);
      const labels = { e: 'f' };
      t.is((await world.write('patch', path, { body: { metadata: { labels } } })).code, 200);
      t.is((await world.write('patch', path, { body: { metadata: { labels } }, contentType: STRATEGIC })).code, 200);
      t.is(decodedCount(), before);
      const { metadata, spec, data } = (await world.stored(path))!;
      t.deepEqual(metadata.labels, { b: 'd', e: 'f' });
      t.deepEqual(metadata.finalizers, ['x.io/f']);
      t.deepEqual([spec, data], [created.spec, created.data]);
      await world.stop();
    },
  );
}

test.serial('what a change of labels selects is what it is listed by', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(PODS, MADE[PODS]!);
  await world.write('patch', `${PODS}/a`, { body: { metadata: { labels: { a: 'other' } } } });
  const read = async (labelSelector: string): Promise<number> => {
    const { body } = await world.write('deletecollection', PODS, { parameters: { labelSelector, dryRun: ['All'] } });
    return body.items.length;
  };
  t.deepEqual([await read('a=b'), await read('a=other')], [0, 1]);
  await world.stop();
});

test.serial('a patch of metadata that loses a race is made again, by metadata or whole', async (t) => {
  const world = await AdmissionWorld.start();
  const path = `${DEPLOYMENTS}/a`;
  await world.created(DEPLOYMENTS, MADE[DEPLOYMENTS]!);
  const before = decodedCount();
  world.gate.beforeCommit = () => world.soon('patch', path, { body: { metadata: { labels: { other: '1' } } } });
  const body = { metadata: { labels: { mine: '1' } } };
  t.is((await world.write('patch', path, { body })).code, 200);
  t.is(decodedCount(), before);
  world.gate.beforeCommit = () => world.soon('patch', path, { body: { metadata: { annotations: { other: '2' } } } });
  const insisting = put((await world.stored(path)) as unknown as Answer, (metadata) => {
    delete metadata.resourceVersion;
    metadata.labels = { mine: '2' };
  });
  t.is((await world.write('update', path, { body: insisting })).code, 200);
  const { metadata } = (await world.stored(path))!;
  t.deepEqual(metadata.labels, { mine: '2' });
  await world.stop();
});

/** Changes that clients make of metadata, good and bad. */
const CHANGES: readonly ((metadata: Members, random: SeededRandom) => void)[] = [
  (metadata, random) => Object.assign(metadata, { labels: { a: 'b', n: String(Math.floor(random.next() * 4)) } }),
  (metadata, random) => Object.assign(metadata, { labels: { z: '1', a: String(Math.floor(random.next() * 3)) } }),
  (metadata) => Object.assign(metadata, { labels: null }),
  (metadata) => Object.assign(metadata, { labels: { 'not a label': '' } }),
  (metadata) => Object.assign(metadata, { labels: { a: 7 } }),
  (metadata) => Object.assign(metadata, { finalizers: ['x.io/f'] }),
  (metadata) => Object.assign(metadata, { finalizers: null }),
  (metadata) => Object.assign(metadata, { annotations: { 'x.io/a': 'b' } }),
  (metadata) => Object.assign(metadata, { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] }),
  (metadata) => Object.assign(metadata, { resourceVersion: '1' }),
  (metadata) => Object.assign(metadata, { uid: 'another' }),
  (metadata) => Object.assign(metadata, { name: 'another' }),
  (metadata) => Object.assign(metadata, { namespace: 'another' }),
  (metadata) => Object.assign(metadata, { managedFields: [{}] }),
  (metadata) => Object.assign(metadata, { nobodyKnows: 1 }),
  (metadata) => Object.assign(metadata, { generation: 9, clusterName: 'c', selfLink: '/x' }),
  () => undefined,
];
const OTHER_PATCHES: readonly object[] = [
  { spec: { activeDeadlineSeconds: 5 }, data: { x: 'y' } },
  { metadata: null },
  { metadata: { labels: { b: 'c' } }, kind: 'Wrong' },
];

const ofUser = (answer: Answered): string =>
  JSON.stringify(answer)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    .replaceAll(/api-access-\w{5}/g, '');

/** Each write's answer as text. `isWhole`: no update goes by its metadata, since the client wants to hear of all fields. */
async function answersOf(seed: number, isWhole: boolean): Promise<string[]> {
  const random = new SeededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
  const world = await AdmissionWorld.start({ seed });
  const answers: string[] = [];
  const write = async (...[verb, path, request]: Parameters<AdmissionWorld['write']>): Promise<Answered> => {
    const asked = { fieldManager: pick(['left', 'right']), ...(isWhole ? { fieldValidation: 'Warn' } : {}) };
    const answer = await world.write(verb, path, { ...request, parameters: asked });
    // A warning of what nobody knows is what was asked for there.
    answers.push(ofUser({ ...answer, warnings: isWhole ? [] : answer.warnings }));
    return answer;
  };
  for (const [path, body] of Object.entries(MADE)) await write('create', path, { body });
  for (let step = 0; step < STEPS; step++) {
    const path = pick(Object.keys(MADE));
    const change = pick(CHANGES);
    const kind = random.next();
    if (kind < 0.45) {
      const metadata: Members = {};
      change(metadata, random);
      await write('patch', `${path}/a`, {
        body: { metadata },
        ...(random.next() < 0.4 ? { contentType: STRATEGIC } : {}),
      });
    } else if (kind < 0.9) {
      const read = (await world.stored(`${path}/a`)) as unknown as Answer | undefined;
      if (read === undefined) continue;
      const isBare = random.next() < 0.3;
      const body = put(read, (metadata) => {
        if (isBare) delete metadata.managedFields;
        if (random.next() < 0.2) delete metadata.resourceVersion;
        change(metadata, random);
      });
      const leftOut = pick([DEFAULTED, ['status'], []]);
      const isManifest = path === PODS && random.next() < 0.5;
      await write('update', `${path}/a`, {
        body: isManifest ? manifest(read, leftOut, (metadata) => change(metadata, random)) : body,
      });
    } else if (kind < 0.96) await write('patch', `${path}/a`, { body: pick(OTHER_PATCHES) });
    else {
      await world.write('delete', `${path}/a`, { body: { gracePeriodSeconds: 0 } });
      await world.write('patch', `${path}/a`, { body: { metadata: { finalizers: null } } });
      await write('create', path, { body: MADE[path]! });
    }
  }
  await world.stop();
  return answers;
}

for (const seed of [1, 2, 3, 4]) {
  test.serial(`updates by metadata answer what whole updates answer: seed ${seed}`, async (t) => {
    t.deepEqual(await answersOf(seed, false), await answersOf(seed, true));
  });
}

const ODD: readonly (readonly [what: string, code: number, body: (text: string) => string])[] = [
  [
    'has nothing in its metadata before a comma',
    400,
    (text) => text.replace(/"metadata":\{.*?,"managedFields"/, '"metadata":{,"managedFields"'),
  ],
  ['has its owners behind a comma more', 400, (text) => text.replace(',"managedFields"', ',,"managedFields"')],
  ['is of another kind', 400, (text) => text.replace('"kind":"Deployment"', '"kind":"Pod"')],
  ['says metadata twice', 200, (text) => text.replace('"metadata":{', '"metadata":{"uid":"u"},"metadata":{')],
  ['has its owners in something else', 200, (text) => text.replace('"metadata":{', '"metadata":{"name":"a"},"spec":{')],
  [
    'has its owners below a label',
    400,
    (text) => text.replace(',"managedFields"', ',"labels":{"a":"b"').replace('],"spec"', ']},"spec"'),
  ],
];
for (const [what, code, body] of ODD) {
  test.serial(`a PUT that ends as what is stored, and ${what}, is answered ${code}`, async (t) => {
    const world = await AdmissionWorld.start();
    const created = await world.created(DEPLOYMENTS, { ...MADE[DEPLOYMENTS]!, metadata: { name: 'a' } });
    const sent = body(JSON.stringify(created));
    t.not(sent, JSON.stringify(created));
    t.is((await world.write('update', `${DEPLOYMENTS}/a`, { body: sent })).code, code);
    t.deepEqual((await world.stored(`${DEPLOYMENTS}/a`))!.spec, created.spec);
    await world.stop();
  });
}
