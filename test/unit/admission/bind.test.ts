import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { AdmissionWorld, type Answer } from './admission-world.ts';

const PODS = '/api/v1/namespaces/default/pods';

async function worldWithPods(...names: string[]): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start();
  for (const name of names) {
    await world.created(PODS, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  }
  return world;
}

/** Of the pod `name` to a node. */
const target = (node: string, name = 'p'): object => ({ metadata: { name }, target: { kind: 'Node', name: node } });

test('a binding puts a pod on a node, says so in its conditions, and is made once', async (t) => {
  const world = await worldWithPods('p');
  const bound = await world.write('create', `${PODS}/p/binding`, { body: target('n1') });
  t.is(bound.code, 201);
  t.deepEqual(bound.body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    code: 201,
  } as unknown as Answer);
  const pod = await world.stored(`${PODS}/p`);
  t.is(pod?.spec.nodeName, 'n1');
  const status = pod?.status as { conditions: { type: string; status: string }[] };
  t.deepEqual(
    status.conditions.map(({ type, status }) => [type, status]),
    [['PodScheduled', 'True']],
  );
  const again = await world.write('create', `${PODS}/p/binding`, { body: target('n2') });
  t.is(again.code, 409);
  t.is(again.body.reason, 'Conflict');
  t.deepEqual(again.body.details, { name: 'p', kind: 'pods/binding' });
  t.is((await world.stored(`${PODS}/p`))?.spec.nodeName, 'n1');
  await world.stop();
});

test('a binding can be posted by itself, naming the pod', async (t) => {
  const world = await worldWithPods('p');
  const path = '/api/v1/namespaces/default/bindings';
  const answer = await world.write('create', path, { body: target('n1') });
  t.is(answer.code, 201);
  t.is((await world.stored(`${PODS}/p`))?.spec.nodeName, 'n1');
  t.is((await world.write('create', path, { body: target('n1', 'none') })).code, 404);
  const unnamed = await world.write('create', path, { body: { ...target('n1'), metadata: {} } });
  t.deepEqual([unnamed.code, unnamed.body.message], [400, 'Name parameter required.']);
  await world.stop();
});

test('bindings that cannot be made are refused', async (t) => {
  const world = await worldWithPods('p', 'going');
  await world.write('patch', `${PODS}/going`, { body: { metadata: { finalizers: ['x.io/a'] } } });
  await world.write('delete', `${PODS}/going`);
  const cases: readonly (readonly [what: string, pod: string, body: object, code: number])[] = [
    ['no such pod', 'none', target('n1', 'none'), 404],
    ['another name', 'p', target('n1', 'q'), 400],
    ['no name', 'p', { ...target('n1'), metadata: {} }, 400],
    ['another uid', 'p', { ...target('n1'), metadata: { name: 'p', uid: 'x' } }, 404],
    ['no target', 'p', { metadata: { name: 'p' } }, 400],
    ['no node', 'p', { metadata: { name: 'p' }, target: { kind: 'Pod', name: 'n1' } }, 400],
    ['another kind', 'p', { kind: 'Pod', ...target('n1') }, 400],
    ['a pod being deleted', 'going', target('n1', 'going'), 409],
  ];
  for (const [what, name, body, code] of cases) {
    const answer = await world.write('create', `${PODS}/${name}/binding`, { body });
    t.is(answer.code, code, `${what}: ${answer.body.message}`);
    t.is(answer.body.kind, 'Status');
  }
  t.is((await world.stored(`${PODS}/p`))?.spec.nodeName, undefined);
  await world.stop();
});

test('a dry run of a binding says what binding would say, and binds nothing', async (t) => {
  const world = await worldWithPods('p', 'q');
  await world.write('create', `${PODS}/q/binding`, { body: target('n1', 'q') });
  const parameters = { dryRun: ['All'] };
  const dry = async (name: string) =>
    (await world.write('create', `${PODS}/${name}/binding`, { body: target('n2', name), parameters })).code;
  t.deepEqual([await dry('p'), await dry('q'), await dry('none')], [201, 409, 404]);
  t.is((await world.stored(`${PODS}/p`))?.spec.nodeName, undefined);
  await world.stop();
});

test('a pod that changes while it is being bound is bound all the same', async (t) => {
  const world = await worldWithPods('p');
  world.gate.beforeCommit = () => world.soon('patch', `${PODS}/p`, { body: { metadata: { labels: { a: 'b' } } } });
  t.is((await world.write('create', `${PODS}/p/binding`, { body: target('n1') })).code, 201);
  const pod = await world.stored(`${PODS}/p`);
  t.deepEqual([pod?.spec.nodeName, pod?.metadata.labels], ['n1', { a: 'b' }]);
  await world.stop();
});

test('many bindings are decided one by one, in one commit', async (t) => {
  const world = await worldWithPods('a', 'b', 'c', 'gone', 'raced');
  const uids: Record<string, string> = {};
  for (const name of ['a', 'b', 'c', 'gone', 'raced'])
    uids[name] = (await world.stored(`${PODS}/${name}`))!.metadata.uid!;
  await world.write('create', `${PODS}/b/binding`, { body: target('n9', 'b') });
  await world.write('delete', `${PODS}/gone`);
  world.gate.beforeCommit = () => world.soon('patch', `${PODS}/raced`, { body: { metadata: { labels: { a: 'b' } } } });
  world.gate.commits = 0;
  const bindings = ['a', 'b', 'c', 'gone', 'raced', 'none'].map((name) => ({
    namespace: 'default',
    name,
    uid: name === 'c' ? 'another' : (uids[name] ?? ''),
    node: 'n1',
  }));
  const { outcomes } = await world.during(
    world.admission.ask<'bind'>(
      { type: 'bind', bindings, user: { name: 's', uid: '', groups: [], extra: {} }, userAgent: '' },
      { deadlineMs: 10_000 },
    ),
  );
  t.deepEqual(
    outcomes.map((outcome) => (outcome.bound ? 'bound' : outcome.reason)),
    ['bound', 'taken', 'gone', 'gone', 'bound', 'gone'],
  );
  t.is(world.gate.commits, 3, 'the bindings, the patch between, and what that came in the way of');
  t.is((await world.stored(`${PODS}/a`))?.spec.nodeName, 'n1');
  const raced = await world.stored(`${PODS}/raced`);
  t.deepEqual([raced?.spec.nodeName, raced?.metadata.labels], ['n1', { a: 'b' }]);
  await world.stop();
});

test('a pod that keeps changing is told of at last, and those beside it are bound', async (t) => {
  const world = await worldWithPods('calm', 'restless');
  const bindings = ['calm', 'restless'].map((name) => ({ namespace: 'default', name, uid: '', node: 'n1' }));
  let changes = 0;
  const change = async (): Promise<unknown> => {
    const labels = { changes: String(++changes) };
    const changed = await world.soon('patch', `${PODS}/restless`, { body: { metadata: { labels } } });
    world.gate.beforeCommit = change;
    return changed;
  };
  world.gate.beforeCommit = change;
  const { outcomes } = await world.during(
    world.admission.ask<'bind'>(
      { type: 'bind', bindings, user: { name: 's', uid: '', groups: [], extra: {} }, userAgent: '' },
      { deadlineMs: 10_000 },
    ),
  );
  t.deepEqual(
    outcomes.map((outcome) => (outcome.bound ? 'bound' : outcome.message)),
    ['bound', 'the pod kept changing while it was being bound'],
  );
  t.true(changes > 8);
  await world.stop();
});

test("the annotations of a binding become the pod's", async (t) => {
  const world = await worldWithPods('p');
  await world.write('patch', `${PODS}/p`, { body: { metadata: { annotations: { kept: '1', changed: 'before' } } } });
  const body = { ...target('n1'), metadata: { name: 'p', annotations: { changed: 'after', added: '2' } } };
  t.is((await world.write('create', `${PODS}/p/binding`, { body })).code, 201);
  const pod = await world.stored(`${PODS}/p`);
  t.is(pod?.spec.nodeName, 'n1');
  t.deepEqual(pod?.metadata.annotations, { kept: '1', changed: 'after', added: '2' });
  await world.stop();
});

test('what plugins make of a binding is what is bound, but for the pod that it is about', async (t) => {
  const changing = (change: (binding: JsonObject) => JsonObject): AdmissionPluginKind => ({
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create'], resources: ['core/pods/binding', 'core/bindings'] }],
    create: () => ({
      mutate: (attributes) => {
        attributes.object = change(attributes.object);
      },
    }),
  });
  const elsewhere = changing((binding) => ({
    ...binding,
    metadata: { ...metadataOf(binding), annotations: { by: 'plugin' } },
    target: { kind: 'Node', name: 'n9' },
  }));
  for (const path of [`${PODS}/p/binding`, '/api/v1/namespaces/default/bindings']) {
    const world = await AdmissionWorld.start({ plugins: [elsewhere] });
    await world.created(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const bound = await world.write('create', path, { body: target('n1') });
    t.is(bound.code, 201, bound.body.message);
    const pod = await world.stored(`${PODS}/p`);
    t.is(pod?.spec.nodeName, 'n9');
    t.is(pod?.metadata.annotations?.by, 'plugin');
    await world.stop();
  }
  const other = changing((binding) => ({ ...binding, metadata: { ...metadataOf(binding), name: 'q' } }));
  const world = await AdmissionWorld.start({ plugins: [other] });
  await world.created(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  t.is((await world.write('create', `${PODS}/p/binding`, { body: target('n1') })).code, 400);
  await world.stop();
});
