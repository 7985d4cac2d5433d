// Who owns what of the metadata of custom objects: what the schema of all metadata says, as of built-in types.
import test from 'ava';
import { AdmissionWorld, type Answered } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings, THINGS, thing, versionOfThings } from './custom-things.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const APPLY = 'application/apply-patch+yaml';

const metadata = {
  name: 'it',
  labels: { a: 'b' },
  annotations: { c: 'd' },
  finalizers: ['a/b'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'u' }],
};
const more = { finalizers: ['c/d'], ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 't', uid: 'v' }] };

function applied(world: AdmissionWorld, path: string, body: object, fieldManager: string): Promise<Answered> {
  return world.write('patch', `${path}/it`, { body, contentType: APPLY, parameters: { fieldManager } });
}

/** What the managers of an object own of its metadata. */
function ownersOf({ body }: Answered): unknown {
  return body.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => [
    manager,
    operation,
    (fieldsV1 as { readonly 'f:metadata'?: object })['f:metadata'],
  ]);
}

/** The same writes to an object of any type, and what of their answers is the same for all. */
async function written(world: AdmissionWorld, path: string, head: object): Promise<unknown> {
  const answers = [
    await world.write('create', path, { body: { ...head, metadata }, parameters: { fieldManager: 'one' } }),
    await applied(world, path, { ...head, metadata: { name: 'it', labels: { x: 'y' }, ...more } }, 'two'),
    await applied(world, path, { ...head, metadata }, 'three'),
    await world.write('patch', `${path}/it`, { body: { metadata: { labels: { z: 'z' } } } }),
    await applied(world, path, { ...head, metadata: { name: 'it', finalizers: [] } }, 'two'),
  ];
  return answers.map((answer) => {
    const { labels, finalizers, ownerReferences } = answer.body.metadata;
    return { code: answer.code, owners: ownersOf(answer), labels, finalizers, ownerReferences };
  });
}

const SCHEMAS = {
  'whose schema names its fields': {},
  'whose schema keeps fields that it does not name': { 'x-orch-preserve-unknown-fields': true },
};

for (const [which, schema] of Object.entries(SCHEMAS)) {
  test(`the metadata of an object ${which} is owned as that of a built-in type`, async (t) => {
    const world = await AdmissionWorld.start();
    await defineThings(world);
    const version = { ...versionOfThings({}), schema: { openAPIV3Schema: { type: 'object', ...schema } } };
    t.is((await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [version] } } })).code, 200);
    const { spec: _spec, metadata: _metadata, ...head } = thing('it', {}) as Record<string, unknown>;
    const custom = await written(world, THINGS, head);
    t.deepEqual(custom, await written(world, CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap' }));
    const [made, second] = custom as readonly { code: number; owners: readonly [string, string, object][] }[];
    t.is(second?.code, 200);
    const reference = { '.': {}, 'f:apiVersion': {}, 'f:kind': {}, 'f:name': {}, 'f:uid': {} };
    t.deepEqual(made?.owners[0]?.[2], {
      'f:annotations': { '.': {}, 'f:c': {} },
      'f:finalizers': { '.': {}, 'v:"a/b"': {} },
      'f:labels': { '.': {}, 'f:a': {} },
      'f:ownerReferences': { '.': {}, 'k:{"uid":"u"}': reference },
    });
    await world.stop();
  });
}

test('an embedded object is owned with what it is, and its metadata as metadata', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const inner = { type: 'object', 'x-orch-embedded-resource': true, properties: { size: { type: 'integer' } } };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { inner } } } };
  const version = { ...versionOfThings({}), schema: { openAPIV3Schema } };
  await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [version] } } });
  const embedded = { apiVersion: 'v1', kind: 'Part', metadata: { name: 'p', finalizers: ['a/b'] }, size: 1 };
  const made = await world.created(THINGS, thing('it', { inner: embedded }));
  const fields = made.metadata.managedFields?.[0]?.fieldsV1 as Record<string, unknown> | undefined;
  t.deepEqual(fields?.['f:spec'], {
    '.': {},
    'f:inner': {
      '.': {},
      'f:apiVersion': {},
      'f:kind': {},
      'f:metadata': { '.': {}, 'f:finalizers': { '.': {}, 'v:"a/b"': {} }, 'f:name': {} },
      'f:size': {},
    },
  });
  await world.stop();
});
