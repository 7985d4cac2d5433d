// Writes whose time is over before they are committed: who was told that it took too long finds that nothing was done.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { AdmissionWorld } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;
const LEFT_MS = 5000;

/** A world with a plugin that takes so long about each such write. */
async function worldOf(operation: 'create' | 'update' | 'delete', takesMs: () => number): Promise<AdmissionWorld> {
  const slow: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: [operation], resources: ['core/configmaps'] }],
    create: ({ reader }) => ({
      validate: () => new Promise((resolve) => reader.context.timers.after(takesMs(), resolve)),
    }),
  };
  return AdmissionWorld.start({ plugins: [slow] });
}

const passed = (world: AdmissionWorld, ms: number): Promise<void> =>
  world.during(new Promise((resolve) => world.simulation.environment.timers.after(ms, resolve)));

test('a create whose time is over while a plugin is asked is not made when the plugin has answered', async (t) => {
  const world = await worldOf('create', () => LEFT_MS * 2);
  const create = { body: { metadata: { name: 'a' } }, deadlineMs: LEFT_MS };
  await t.throwsAsync(world.write('create', CONFIG_MAPS, create), { code: 'DeadlineExceeded' });
  await passed(world, LEFT_MS * 4);
  t.is(await world.stored(A), undefined);
  t.is((await world.write('create', CONFIG_MAPS, { ...create, deadlineMs: LEFT_MS * 3 })).code, 201);
  await world.stop();
});

test('what a component writes is made also where plugins take longer than it waits: it hears of the object', async (t) => {
  const world = await worldOf('create', () => LEFT_MS * 2);
  const create = { body: { metadata: { name: 'a' } }, deadlineMs: LEFT_MS, isInside: true } as const;
  await t.throwsAsync(world.write('create', CONFIG_MAPS, create), { code: 'DeadlineExceeded' });
  await passed(world, LEFT_MS * 2);
  t.truthy(await world.stored(A));
  await world.stop();
});

test('a change whose time is over is not made either', async (t) => {
  const world = await worldOf('update', () => LEFT_MS * 2);
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const patch = { body: { data: { a: 'b' } }, deadlineMs: LEFT_MS };
  await t.throwsAsync(world.write('patch', A, patch), { code: 'DeadlineExceeded' });
  await passed(world, LEFT_MS * 4);
  t.is((await world.stored(A))?.data, undefined);
  await world.stop();
});

test('a commit that the store has not begun when the time of its write is over is given up there', async (t) => {
  const world = await AdmissionWorld.start();
  const given: unknown[] = [];
  world.gate.beforeCommit = () => passed(world, LEFT_MS * 2).then(() => given.push('begun'));
  const create = { body: { metadata: { name: 'a' } }, deadlineMs: LEFT_MS };
  await t.throwsAsync(world.write('create', CONFIG_MAPS, create), { code: 'DeadlineExceeded' });
  await passed(world, LEFT_MS * 4);
  t.deepEqual(given, ['begun']);
  t.is(await world.stored(A), undefined);
  await world.stop();
});

test('of a collection whose deletion takes longer than it may, what was admitted before is gone', async (t) => {
  const world = await worldOf('delete', () => 600);
  const names = Array.from({ length: 12 }, (_, at) => `m${at}`);
  for (const name of names) await world.created(CONFIG_MAPS, { metadata: { name } });
  const late = world.write('deletecollection', CONFIG_MAPS, { deadlineMs: LEFT_MS });
  await t.throwsAsync(late, { code: 'DeadlineExceeded' });
  await passed(world, LEFT_MS * 4);
  const left = await Promise.all(names.map((name) => world.stored(`${CONFIG_MAPS}/${name}`)));
  const count = left.filter((one) => one !== undefined).length;
  t.true(count > 0 && count < names.length, `${count} are left`);
  await world.stop();
});
