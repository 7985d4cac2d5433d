// Writes of one object that get in each other's way.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { AdmissionWorld } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;
const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const WRITERS = 100;

const names = Array.from({ length: WRITERS }, (_, at) => `n${at}`);
const labelled = (label: string) => ({ body: { metadata: { labels: { [label]: 'x' } } } });

test('however many patches of one object there are at a time, all succeed, and none is decided more often than twice', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const before = world.gate.commits;
  const answers = await world.during(Promise.all(names.map((name) => world.soon('patch', A, labelled(name)))));
  t.deepEqual(new Set(answers.map(({ code }) => code)), new Set([200]));
  t.deepEqual(Object.keys((await world.stored(A))?.metadata.labels ?? {}).sort(), [...names].sort());
  t.true(world.gate.commits - before <= 2 * WRITERS, `${world.gate.commits - before} commits`);
  await world.stop();
});

test('who insists on a version hears of the conflict while others wait for their turns', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const patches = names.slice(0, 5).map((name) => world.soon('patch', A, labelled(name)));
  const stale = world.soon('update', A, { body: { metadata, data: { a: 'b' } } });
  const answers = await world.during(Promise.all([...patches, stale]));
  t.deepEqual(
    answers.map(({ code }) => code),
    [200, 200, 200, 200, 200, 409],
  );
  await world.stop();
});

test('however many evictions share a budget at a time, it lets all pass that it has disruptions for', async (t) => {
  const world = await AdmissionWorld.start();
  for (const name of names) {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await world.created(PODS, { metadata: { name, labels: { app: 'web' } }, spec });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await world.write('patch', `${PODS}/${name}/status`, { body: { status } });
  }
  await world.created(BUDGETS, { metadata: { name: 'b' }, spec: { selector: { matchLabels: { app: 'web' } } } });
  const status = { disruptionsAllowed: WRITERS - 1, observedGeneration: 1, expectedPods: WRITERS };
  const whole = { ...status, currentHealthy: WRITERS, desiredHealthy: 1 };
  t.is((await world.write('patch', `${BUDGETS}/b/status`, { body: { status: whole } })).code, 200);
  const evictions = names.map((name) =>
    world.soon('create', `${PODS}/${name}/eviction`, { body: { metadata: { name } } }),
  );
  const answers = await world.during(Promise.all(evictions));
  t.is(answers.filter(({ code }) => code === 201).length, WRITERS - 1);
  t.is(answers.filter(({ code }) => code === 429).length, 1);
  await world.stop();
});

test('a plugin that writes the object it is asked about is not held up by the one that asks it', async (t) => {
  let world: AdmissionWorld | undefined;
  let isInside = false;
  const meddling: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['update'], resources: ['core/configmaps'] }],
    create: () => ({
      validate: async ({ tries }) => {
        if (tries !== 1 || isInside) return;
        isInside = true;
        t.is((await world!.soon('patch', A, labelled('inner'))).code, 200);
      },
    }),
  };
  world = await AdmissionWorld.start({ plugins: [meddling] });
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  world.gate.beforeCommit = () => world!.soon('patch', A, labelled('first'));
  t.is((await world.write('patch', A, labelled('outer'))).code, 200);
  t.deepEqual((await world.stored(A))?.metadata.labels, { first: 'x', inner: 'x', outer: 'x' });
  await world.stop();
});
