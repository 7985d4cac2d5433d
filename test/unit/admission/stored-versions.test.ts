// The versions that a definition says objects are stored in, and what may become of them.
import test from 'ava';
import { AdmissionWorld, type Answer } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings } from './custom-things.ts';

const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
const schema = { openAPIV3Schema: { type: 'object' } };
const version = (name: string, storage: boolean): object => ({ name, served: true, storage, schema });

const storedIn = ({ status }: Answer): unknown => (status as { storedVersions?: unknown }).storedVersions;

test('a version that is stored from now on is one of those that objects are stored in', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const made = (await world.stored(DEFINITION_OF_THINGS))!;
  t.deepEqual(storedIn(made), ['v1']);
  const move = { spec: { versions: [version('v1', false), version('v2', true)] } };
  const moved = await world.write('patch', DEFINITION_OF_THINGS, { body: move });
  t.is(moved.code, 200);
  t.deepEqual(storedIn(moved.body), ['v1', 'v2']);
  const back = { spec: { versions: [version('v1', true), version('v2', false)] } };
  t.deepEqual(storedIn((await world.write('patch', DEFINITION_OF_THINGS, { body: back })).body), ['v1', 'v2']);
  await world.stop();
});

test('a version that objects are stored in cannot be taken out of a definition', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const drop = { spec: { versions: [version('v2', true)] } };
  const refused = await world.write('patch', DEFINITION_OF_THINGS, { body: drop });
  t.is(refused.code, 422);
  const why = 'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions';
  t.true(refused.body.message.endsWith(`"things.example.com" is invalid: ${why}`), refused.body.message);

  await world.write('patch', DEFINITION_OF_THINGS, {
    body: { spec: { versions: [version('v1', false), version('v2', true)] } },
  });
  const rewritten = await world.write('patch', `${DEFINITION_OF_THINGS}/status`, {
    body: { status: { storedVersions: ['v2'] } },
  });
  t.is(rewritten.code, 200, rewritten.body.message);
  t.is((await world.write('patch', DEFINITION_OF_THINGS, { body: drop })).code, 200);
  await world.stop();
});

test('a version that a definition’s status names twice, and that goes, is told once, at its last place', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const body = { status: { storedVersions: ['v1', 'v1'] } };
  t.is((await world.write('patch', `${DEFINITION_OF_THINGS}/status`, { body })).code, 200);
  const drop = { spec: { versions: [version('v2', true)] } };
  const refused = await world.write('patch', DEFINITION_OF_THINGS, { body: drop });
  t.deepEqual(
    refused.body.details?.causes?.map(({ field, message }) => `${field}: ${message}`),
    ['status.storedVersions[1]: Invalid value: "v1": must appear in spec.versions'],
  );
  await world.stop();
});

test('the status of a definition may name versions that it does not have, and then the rest of it can be changed still', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const body = { status: { storedVersions: ['v1', 'gone'] } };
  t.is((await world.write('patch', `${DEFINITION_OF_THINGS}/status`, { body })).code, 200);
  const labelled = await world.write('patch', DEFINITION_OF_THINGS, { body: { metadata: { labels: { a: 'b' } } } });
  t.is(labelled.code, 200);
  await world.stop();
});

test('a definition whose status names none of its versions can be changed and deleted still', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const body = { status: { storedVersions: ['gone'] } };
  t.is((await world.write('patch', `${DEFINITION_OF_THINGS}/status`, { body })).code, 200);
  t.is((await world.write('delete', DEFINITION_OF_THINGS)).code, 200);
  // As the controller gives its finalizer up.
  const given = await world.write('patch', DEFINITION_OF_THINGS, { body: { metadata: { finalizers: null } } });
  t.is(given.code, 200, given.body.message);
  t.is(await world.stored(DEFINITION_OF_THINGS), undefined);
  await world.stop();
});

test('versions of one name, and several that are stored, are told of all versions', async (t) => {
  const world = await AdmissionWorld.start();
  const names = { plural: 'others', kind: 'Other' };
  const versions = [version('v1', true), version('v1', false), version('v2', true)];
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions };
  const { body } = await world.write('create', DEFINITIONS, {
    body: { metadata: { name: 'others.example.com' }, spec },
  });
  const shown = '[]string{"v1", "v1", "v2"}';
  t.deepEqual(
    body.details?.causes?.map(({ field, message }) => `${field}: ${message}`),
    [
      `spec.versions: Invalid value: ${shown}: must contain unique version names`,
      `spec.versions: Invalid value: ${shown}: must have exactly one version marked as storage version`,
      'status.storedVersions: Invalid value: []string{"v1"}: must have the storage version v2',
    ],
  );
  await world.stop();
});

test('a definition without a version that is stored is refused for both', async (t) => {
  const world = await AdmissionWorld.start();
  const names = { plural: 'others', kind: 'Other' };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version('v1', false)] };
  const refused = await world.write('create', DEFINITIONS, {
    body: { metadata: { name: 'others.example.com' }, spec },
  });
  t.is(refused.code, 422);
  t.deepEqual(
    refused.body.details?.causes?.map(({ field, message }) => `${field}: ${message}`),
    [
      'spec.versions: Invalid value: []string{"v1"}: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
    ],
  );
  await world.stop();
});
