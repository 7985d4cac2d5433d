// What plugins know of the cluster: everything that was acknowledged before, also when the stream of changes is behind or lost.
import test from 'ava';
import { KindView } from '../../../actors/admission/cluster.ts';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { AdmissionWorld } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const CLASSES = '/apis/scheduling.orch.io/v1/priorityclasses';

/** Writes down the values of the priority classes it knows of when a config map is created. */
function seer(seen: unknown[]): AdmissionPluginKind {
  return {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create'], resources: ['core/configmaps'] }],
    create: ({ cluster }) => {
      const classes = cluster.follow('scheduling.@group/v1/priorityclasses', ({ value }) =>
        value === 0 ? undefined : value,
      );
      return {
        validate: () => {
          seen.push(Object.fromEntries(classes.within('')));
        },
      };
    },
  };
}

test('a plugin knows of what was acknowledged before, of changes, and of removals', async (t) => {
  const seen: unknown[] = [];
  const world = await AdmissionWorld.start({ plugins: [seer(seen)] });
  const look = (name: string) => world.created(CONFIG_MAPS, { metadata: { name } });
  await look('none');
  await world.created(CLASSES, { metadata: { name: 'high' }, value: 5 });
  await look('one');
  await world.created(CLASSES, { metadata: { name: 'low' }, value: 1 });
  await world.created(CLASSES, { metadata: { name: 'nothing' }, value: 0 });
  await look('two');
  await world.write('delete', `${CLASSES}/high`);
  await look('less');
  t.deepEqual(seen, [{}, { high: 5 }, { high: 5, low: 1 }, { low: 1 }]);
  await world.stop();
});

test('a write waits until what was committed before it is known', async (t) => {
  const seen: unknown[] = [];
  const world = await AdmissionWorld.start({ plugins: [seer(seen)] });
  world.batches.hold();
  await world.created(CLASSES, { metadata: { name: 'high' }, value: 5 });
  const made = world.soon('create', CONFIG_MAPS, { body: { metadata: { name: 'it' } } });
  await world.during(new Promise<void>((resolve) => world.simulation.environment.timers.after(100, resolve)));
  t.deepEqual(seen, []);
  world.batches.letGo();
  t.is((await world.during(made)).code, 201);
  t.deepEqual(seen, [{ high: 5 }]);
  await world.stop();
});

test('a write that would have to wait too long is to be tried again', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [seer([])] });
  world.batches.hold();
  await world.created(CLASSES, { metadata: { name: 'high' }, value: 5 });
  const { code, body } = await world.write('create', CONFIG_MAPS, { body: { metadata: { name: 'it' } } });
  t.is(code, 503);
  t.is(body.reason, 'ServiceUnavailable');
  // What no plugin wants does not wait.
  t.is(
    (await world.write('create', '/api/v1/namespaces/default/secrets', { body: { metadata: { name: 's' } } })).code,
    201,
  );
  world.batches.letGo();
  await world.stop();
});

test('what is known of the cluster is waited for anew where it was lost while the write waited for something else', async (t) => {
  const seen: unknown[] = [];
  let meanwhile = (): void => {};
  const losing: AdmissionPluginKind = {
    name: 'AlwaysPullImages',
    wants: [{ operations: ['create'], resources: ['core/configmaps'] }],
    create: () => ({ mutate: async () => meanwhile() }),
  };
  const world = await AdmissionWorld.start({ plugins: [losing, seer(seen)] });
  await world.created(CLASSES, { metadata: { name: 'high' }, value: 5 });
  meanwhile = () => {
    // Nobody is told what there is until the test says so.
    world.delivery.hold('store');
    world.batches.lose();
    world.simulation.environment.timers.after(50, () => world.delivery.letGo('store'));
  };
  await world.created(CONFIG_MAPS, { metadata: { name: 'it' } });
  t.deepEqual(seen, [{ high: 5 }]);
  await world.stop();
});

test('nobody is let through by an object that is there and cannot be read: who judges by it refuses', (t) => {
  const view = new KindView(() => true);
  view.put({}, { namespace: 'a', name: 'known', revision: 1 });
  const { changes } = view;
  view.setUnread([{ namespace: 'a', name: 'unread', why: 'no key' }]);
  t.true(view.changes > changes);
  const refused = { message: 'Internal error occurred: no key' };
  t.throws(() => view.within('a'), refused);
  t.throws(() => view.get('a', 'unread'), refused);
  t.true(view.get('a', 'known'));
  t.is(view.within('b').size, 0);
  view.setUnread([]);
  t.is(view.within('a').size, 1);
});
