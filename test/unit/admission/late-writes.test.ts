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

test('a create whose client goes away while a plugin is asked is not made, and one of another request is', async (t) => {
  const world = await worldOf('create', () => LEFT_MS);
  const create = (name: string, requestNumber: number) =>
    world.soon('create', CONFIG_MAPS, { body: { metadata: { name } }, requestNumber });
  const left = t.throwsAsync(create('a', 7), { code: 'DeadlineExceeded' });
  const other = create('b', 8);
  await passed(world, LEFT_MS / 2);
  for (const requestNumber of [7, 9]) world.admission.tell<'abandoned'>({ type: 'abandoned', requestNumber });
  t.is((await world.during(other)).code, 201);
  await world.during(left);
  t.is(await world.stored(A), undefined);
  // It was answered before its client went.
  world.admission.tell<'abandoned'>({ type: 'abandoned', requestNumber: 8 });
  await passed(world, LEFT_MS);
  t.truthy(await world.stored(`${CONFIG_MAPS}/b`));
  await world.stop();
});

test('a large write that nobody waits for any more when there is room for it gives back its place in the mailbox', async (t) => {
  const world = await worldOf('create', () => LEFT_MS);
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, 'v']));
  const create = (name: string, requestNumber: number) =>
    world.soon('create', CONFIG_MAPS, { body: { metadata: { name }, data }, requestNumber });
  const first = create('b', 7);
  await passed(world, LEFT_MS / 2);
  const left = t.throwsAsync(create('a', 8), { message: 'the time of the request is over' });
  await passed(world, LEFT_MS / 4);
  world.admission.tell<'abandoned'>({ type: 'abandoned', requestNumber: 8 });
  t.is((await world.during(first)).code, 201);
  await world.during(left);
  t.is(await world.stored(A), undefined);
  await world.stop();
});

test('a commit whose client goes away before the store has begun it is given up there', async (t) => {
  const world = await AdmissionWorld.start();
  const begun: unknown[] = [];
  world.gate.beforeCommit = () => passed(world, LEFT_MS).then(() => begun.push('begun'));
  const create = world.soon('create', CONFIG_MAPS, { body: { metadata: { name: 'a' } }, requestNumber: 7 });
  const left = t.throwsAsync(create, { code: 'Cancelled' });
  await passed(world, LEFT_MS / 2);
  world.admission.tell<'abandoned'>({ type: 'abandoned', requestNumber: 7 });
  await world.during(left);
  await passed(world, LEFT_MS * 2);
  t.deepEqual(begun, ['begun']);
  t.is(await world.stored(A), undefined);
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
