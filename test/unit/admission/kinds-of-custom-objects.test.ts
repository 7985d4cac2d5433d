// Objects that do not say of which kind they are, or of another than their path is about.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings, THINGS, thing } from './custom-things.ts';

test('an object of another kind of the group and version is refused as what it says it is', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const body = { apiVersion: 'example.com/v1', kind: 'Other', metadata: { name: 'it' } };
  const refused = await world.write('create', THINGS, { body });
  t.is(refused.code, 422);
  t.is(refused.body.message, 'Other.example.com "it" is invalid: kind: Invalid value: "Other": must be Thing');
  t.is((await world.write('create', THINGS, { body: { ...body, apiVersion: 'example.com/v9' } })).code, 400);
  await world.stop();
});

const MERGE = 'application/merge-patch+json';

test('a patch that makes a custom object one of another kind or version is refused as what it makes', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await world.created(THINGS, thing('it', { size: 1 }));
  const messageOf = async (body: object): Promise<string> =>
    (await world.write('patch', `${THINGS}/it`, { body, contentType: MERGE })).body.message;
  const kindProblem = 'kind: Invalid value: "Other": must be Thing';
  t.is(await messageOf({ kind: 'Other' }), `Other.example.com "it" is invalid: ${kindProblem}`);
  const versionProblem = 'apiVersion: Invalid value: "v1": must be example.com/v1';
  t.is(await messageOf({ apiVersion: 'v1' }), `Thing "it" is invalid: ${versionProblem}`);
  t.regex(await messageOf({ kind: null }), /^ "" is invalid: patch: Invalid value: .*: Object 'Kind' is missing in '/);
  t.regex(await messageOf({ apiVersion: null }), /^ "" is invalid: patch: .*: Object 'apiVersion' is missing in '/);
  await world.stop();
});

test('a patch that takes the version from a built-in object leaves none with a name', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/api/v1/namespaces/default/configmaps';
  await world.created(path, { metadata: { name: 'a' } });
  const remove = [{ op: 'remove', path: '/apiVersion' }];
  for (const [body, contentType] of [
    [{ apiVersion: null }, MERGE],
    [remove, 'application/json-patch+json'],
  ] as const) {
    const refused = await world.write('patch', `${path}/a`, { body, contentType });
    t.is(refused.code, 400);
    t.is(refused.body.message, 'the name of the object (a based on URL) was undeterminable: name must be provided');
  }
  t.is((await world.write('patch', `${path}/a`, { body: { kind: null }, contentType: MERGE })).code, 200);
  await world.stop();
});

test('nothing is created of a type that ends, whatever is wrong with it', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const held = { ...thing('it', {}), metadata: { name: 'it', finalizers: ['a/b'] } };
  await world.created(THINGS, held);
  const deleted = await world.write('delete', DEFINITION_OF_THINGS, {});
  t.is(deleted.code, 200);
  const { generation, deletionGracePeriodSeconds, finalizers } = deleted.body.metadata;
  t.deepEqual([generation, deletionGracePeriodSeconds], [1, undefined]);
  t.deepEqual(finalizers, ['customresourcecleanup.apiextensions.orch.io']);
  for (const body of [thing('b', {}), {}, '{']) {
    const refused = await world.write('create', THINGS, { body });
    t.is(refused.code, 405);
    t.is(refused.body.message, 'create not allowed while custom resource definition is terminating');
  }
  const again = await world.write('delete', DEFINITION_OF_THINGS, {});
  t.is(again.body.metadata.generation, 1);
  t.is(again.body.metadata.deletionGracePeriodSeconds, 0);
  await world.stop();
});
