// Objects that the store finds too large with those who own their fields, and takes without them.
import test from 'ava';
import { OrchError } from '../../../runtime/errors.ts';
import { AdmissionWorld } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { large: 'x' } };
const APPLY = 'application/apply-patch+yaml';

/** The next commits are too large. */
function refuse(world: AdmissionWorld, count = 1): void {
  world.gate.beforeCommit = () => {
    if (count > 1) refuse(world, count - 1);
    return Promise.reject(new OrchError('StorageTooLarge', 'etcdserver: request is too large'));
  };
}

test('an object that is too large with the owners of its fields is created without them', async (t) => {
  const world = await AdmissionWorld.start();
  refuse(world);
  const { code, body } = await world.write('create', CONFIG_MAPS, { body: CONFIG_MAP });
  t.is(code, 201);
  t.is(body.metadata.managedFields, undefined);
  t.deepEqual(body.data, { large: 'x' });
  t.is((await world.stored(A))?.metadata.resourceVersion, body.metadata.resourceVersion);
  await world.stop();
});

for (const [what, verb, body] of [
  ['an update', 'update', { ...CONFIG_MAP, data: { large: 'y' } }],
  ['a patch', 'patch', { data: { large: 'y' } }],
  ['a patch of its labels', 'patch', { metadata: { labels: { large: 'y' } } }],
] as const)
  test(`an object that ${what} makes too large with the owners of its fields is kept without them`, async (t) => {
    const world = await AdmissionWorld.start();
    const { metadata } = await world.created(CONFIG_MAPS, CONFIG_MAP);
    t.is(metadata.managedFields?.length, 1);
    refuse(world);
    const answer = await world.write(verb, A, { body });
    t.is(answer.code, 200);
    t.is(answer.body.metadata.managedFields, undefined);
    const stored = await world.stored(A);
    t.is(stored?.metadata.resourceVersion, answer.body.metadata.resourceVersion);
    t.like(stored, body);
    await world.stop();
  });

test('an apply that makes an object too large is refused, since owners are what it is about', async (t) => {
  const world = await AdmissionWorld.start();
  const parameters = { fieldManager: 'me' };
  refuse(world);
  await t.throwsAsync(world.write('patch', A, { body: CONFIG_MAP, contentType: APPLY, parameters }), {
    code: 'StorageTooLarge',
  });
  t.is(await world.stored(A), undefined);
  await world.stop();
});

test('a write that is too large without owners as well is refused', async (t) => {
  const world = await AdmissionWorld.start();
  refuse(world, 2);
  await t.throwsAsync(world.write('create', CONFIG_MAPS, { body: CONFIG_MAP }), { code: 'StorageTooLarge' });
  t.is(await world.stored(A), undefined);
  await world.stop();
});
