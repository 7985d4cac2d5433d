// Applies that are sent again and again: what is remembered of them must not show but in what they cost.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { decodedCount } from '../../../storage/forms/stored-json.ts';
import { casesOf } from '../../server/effort.ts';
import { AdmissionWorld, type Answered } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings, THINGS, thing, versionOfThings } from './custom-things.ts';

const STEPS = casesOf(70);
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const APPLY = 'application/apply-patch+yaml';

const configMap = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it' }, data });
const deployment = (replicas: number | undefined, image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'it' },
  spec: {
    ...(replicas === undefined ? {} : { replicas }),
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image }] } },
  },
});

const APPLIED: readonly (readonly [path: string, body: object])[] = [
  [CONFIG_MAPS, configMap({ a: '1' })],
  [CONFIG_MAPS, configMap({ a: '1', b: '2' })],
  [CONFIG_MAPS, configMap({ b: '3' })],
  [DEPLOYMENTS, deployment(undefined, 'one')],
  [DEPLOYMENTS, deployment(2, 'one')],
  [DEPLOYMENTS, deployment(2, 'two')],
];
const PATCHES: readonly (readonly [path: string, body: object])[] = [
  [CONFIG_MAPS, { data: { a: '9' } }],
  [CONFIG_MAPS, { metadata: { labels: { x: 'y' } } }],
  [DEPLOYMENTS, { spec: { replicas: 5 } }],
];

const apply = (world: AdmissionWorld, path: string, body: string | object, parameters: object) =>
  world.write('patch', `${path}/it`, { body, contentType: APPLY, parameters: { ...parameters } });

const ofUser = (answer: Answered): string => JSON.stringify(answer).replaceAll(/"uid":"[^"]*"/g, '"uid":""');

/** Each write's answer as text, with its resourceVersion. `isTold` makes the bytes of every apply its own: no two are the same. */
async function answersOf(seed: number, isTold: boolean): Promise<string[]> {
  const random = new SeededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
  const world = await AdmissionWorld.start({ seed });
  const answers: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    const kind = random.next();
    if (kind < 0.8) {
      const [path, body] = pick(APPLIED);
      const parameters = { fieldManager: pick(['left', 'right']), ...(random.next() < 0.4 ? { force: 'true' } : {}) };
      const text = JSON.stringify(body) + (isTold ? ' '.repeat(step) : '');
      const times = random.next() < 0.5 ? 3 : 1;
      for (let time = 0; time < times; time++) answers.push(ofUser(await apply(world, path, text, parameters)));
    } else if (kind < 0.95) {
      const [path, body] = pick(PATCHES);
      answers.push(ofUser(await world.write('patch', `${path}/it`, { body, parameters: { fieldManager: 'hand' } })));
    } else answers.push(ofUser(await world.write('delete', `${pick([CONFIG_MAPS, DEPLOYMENTS])}/it`)));
  }
  await world.stop();
  return answers;
}

for (const seed of [1, 2, 3]) {
  test(`repeated applies are answered as applies that nobody remembers (seed ${seed})`, async (t) => {
    const remembered = await answersOf(seed, false);
    t.deepEqual(remembered, await answersOf(seed, true));
    const codes = new Set(remembered.map((answer) => (JSON.parse(answer) as Answered).code));
    t.deepEqual([...codes].sort(), [200, 201, 404, 409]);
  });
}

const ANY_WRITE = { operations: ['create', 'update'], resources: ['**'] } as const;

test('plugins are asked about an apply that is known to change nothing, and change it or refuse it', async (t) => {
  let does: 'nothing' | 'change' | 'refuse' = 'nothing';
  let asked = 0;
  let isRead = true;
  const plugin: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [ANY_WRITE],
    create: () => ({
      mutate: (attributes) => {
        asked++;
        isRead = !attributes.isApart;
        if (does === 'refuse') throw new StatusError(badRequest('not today'));
        const metadata = { ...metadataOf(attributes.object), labels: { by: 'plugin' } };
        if (does === 'change') attributes.object = { ...attributes.object, metadata };
      },
    }),
  };
  const world = await AdmissionWorld.start({ plugins: [plugin] });
  const send = () => apply(world, CONFIG_MAPS, configMap({ a: '1' }), { fieldManager: 'm' });
  await send();
  await send();
  asked = 0;
  const before = await send();
  t.is(asked, 1);
  t.false(isRead, 'the object is not read for it');
  does = 'refuse';
  t.is((await send()).code, 400);
  does = 'change';
  const changed = await send();
  t.deepEqual(changed.body.metadata.labels, { by: 'plugin' });
  t.not(changed.body.metadata.resourceVersion, before.body.metadata.resourceVersion);
  t.deepEqual((await world.stored(`${CONFIG_MAPS}/it`))?.metadata.labels, { by: 'plugin' });
  await world.stop();
});

// By itself: what is counted is everybody's.
test.serial(
  'a custom object is not read for an apply that changes nothing, unless its schema is another by then',
  async (t) => {
    const world = await AdmissionWorld.start();
    await defineThings(world);
    /** The answer to an apply, and how many objects were read meanwhile. */
    const send = async (): Promise<readonly [answer: Answered, read: number]> => {
      const before = decodedCount();
      const answer = await apply(world, THINGS, thing('it', {}), { fieldManager: 'm' });
      return [answer, decodedCount() - before];
    };
    t.is((await send())[0].code, 201);
    t.is((await send())[1], 1);
    const [same, read] = await send();
    t.deepEqual(same.body.spec, {});
    t.is(read, 0);
    const body = { spec: { versions: [versionOfThings({ default: 3 })] } };
    t.is((await world.write('patch', DEFINITION_OF_THINGS, { body })).code, 200);
    await send();
    t.is((await send())[1], 1, 'plugins are shown what the schema of today makes of it');
    await world.stop();
  },
);

test('an apply that names a uid means an object that was there, and makes none in its place', async (t) => {
  const world = await AdmissionWorld.start();
  const uid = '11111111-2222-3333-4444-555555555555';
  const body = { ...configMap({ a: '1' }), metadata: { name: 'it', uid } };
  const answer = await apply(world, CONFIG_MAPS, body, { fieldManager: 'left' });
  t.is(answer.code, 409);
  t.true((answer.body.message as string).includes(`specified uid ${uid}, and no existing object was found`));
  t.is(await world.stored(`${CONFIG_MAPS}/it`), undefined);
  await world.stop();
});

test('of two applies that find nothing the second applies to what the first has made', async (t) => {
  const world = await AdmissionWorld.start();
  world.gate.beforeCommit = () =>
    world.soon('patch', `${CONFIG_MAPS}/it`, {
      body: configMap({ a: '1' }),
      contentType: APPLY,
      parameters: { fieldManager: 'left' },
    });
  const second = await apply(world, CONFIG_MAPS, configMap({ b: '2' }), { fieldManager: 'right' });
  t.is(second.code, 200);
  t.deepEqual((await world.stored(`${CONFIG_MAPS}/it`))?.data, { a: '1', b: '2' });
  await world.stop();
});

test('who is warned of an apply is warned of it each time', async (t) => {
  const world = await AdmissionWorld.start();
  const body = JSON.stringify(configMap({ a: '1' })).replace('{"a"', '{"a":"0","a"');
  const parameters = { fieldManager: 'left', fieldValidation: 'Warn' };
  const warnings: unknown[] = [];
  for (let time = 0; time < 4; time++) warnings.push((await apply(world, CONFIG_MAPS, body, parameters)).warnings);
  t.true((warnings[0] as readonly string[]).length > 0);
  for (const again of warnings) t.deepEqual(again, warnings[0]);
  await world.stop();
});
