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

const LIST = {
  type: 'array',
  items: { type: 'object', properties: { name: { type: 'string' }, at: { type: 'string' } } },
};
const BY_NAME = { ...LIST, items: { ...LIST.items, required: ['name'] } };
/** Parts of a thing that are owned member by member, and as a whole. */
const GRANULAR = {
  list: { ...BY_NAME, 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['name'] },
  map: { type: 'object', additionalProperties: { type: 'string' } },
};
const ATOMIC = { list: LIST, map: { ...GRANULAR.map, 'x-orch-map-type': 'atomic' } };

async function redefined(world: AdmissionWorld, properties: object): Promise<void> {
  const spec = { type: 'object', properties };
  const version = { ...versionOfThings({}), schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
  await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [version] } } });
}

/** The managers of an object, and what they own of its spec. */
function ownersOfSpec({ body }: Answered): unknown {
  return body.metadata.managedFields?.map(({ manager, fieldsV1 }) => [
    manager,
    (fieldsV1 as { readonly 'f:spec'?: object })['f:spec'],
  ]);
}

const specOf = (name: string) => ({ list: [{ name, at: '1' }], map: { [name]: '1' } });

test('whoever owned a part of what is owned as a whole now owns it as a whole', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await redefined(world, GRANULAR);
  for (const name of ['one', 'two']) t.true((await applied(world, THINGS, thing('it', specOf(name)), name)).code < 300);
  await redefined(world, ATOMIC);
  const refused = await applied(world, THINGS, thing('it', specOf('three')), 'three');
  t.is(refused.code, 409);
  t.deepEqual(
    refused.body.details?.causes?.map(({ message, field }) => `${message}: ${field}`),
    ['one', 'two'].flatMap((name) => ['list', 'map'].map((part) => `conflict with "${name}": .spec.${part}`)),
  );
  const labels = await world.write('patch', `${THINGS}/it`, { body: { metadata: { labels: { a: 'b' } } } });
  const whole = { 'f:list': {}, 'f:map': {} };
  t.like(ownersOfSpec(labels), [
    ['one', whole],
    ['two', whole],
  ]);
  const taken = await world.write('patch', `${THINGS}/it`, { body: { spec: specOf('four') } });
  t.deepEqual(ownersOfSpec(taken), [['test', whole]]);
  await world.stop();
});

test('whoever owned the whole of what is owned by its members now owns none of them', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await redefined(world, ATOMIC);
  await applied(world, THINGS, thing('it', specOf('one')), 'one');
  await redefined(world, GRANULAR);
  const spec = { list: [{ name: 'one', at: '2' }], map: { one: '2', two: '2' } };
  const answer = await applied(world, THINGS, thing('it', spec), 'two');
  t.is(answer.code, 200);
  t.deepEqual(answer.body.spec, spec);
  await world.stop();
});

test('a key that an element leaves out counts with its default, whatever its type', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const properties = {
    name: { type: 'string', default: 'a' },
    port: { type: 'integer', default: 80 },
    on: { type: 'boolean', default: true },
    at: { type: 'string' },
  };
  const items = { type: 'object', properties };
  const keys = ['port', 'name', 'on'];
  const list = { type: 'array', items, 'x-orch-list-type': 'map', 'x-orch-list-map-keys': keys };
  await redefined(world, { list });
  const one = await applied(world, THINGS, thing('it', { list: [{ at: '1' }, { port: 81, on: false }] }), 'one');
  t.is(one.code, 201);
  const element = (name: string) => `k:{"name":"a","on":${name}}`;
  t.deepEqual(ownersOfSpec(one), [
    [
      'one',
      {
        'f:list': {
          [element('false,"port":81')]: { '.': {}, 'f:on': {}, 'f:port': {} },
          [element('true,"port":80')]: { '.': {}, 'f:at': {} },
        },
      },
    ],
  ]);
  const two = await applied(world, THINGS, thing('it', { list: [{ port: 80, name: 'a', on: true, at: '2' }] }), 'two');
  t.is(two.code, 409);
  t.deepEqual(
    two.body.details?.causes?.map(({ field }) => field),
    ['.spec.list[name="a",on=true,port=80].at'],
  );
  await world.stop();
});

test('an apply of a custom object with a member beside spec that its schema does not name is refused', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const body = { ...thing('it', { size: 1 }), status: { size: 1 } };
  const refused = await applied(world, THINGS, body, 'one');
  t.is(refused.code, 400);
  t.is(refused.body.message, 'failed to create typed patch object: .status: field not declared in schema');
  const items = { type: 'object', properties: { a: { type: 'string' } } };
  const lists = [versionOfThings({ type: 'array', items })];
  t.is((await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: lists } } })).code, 200);
  const inList = await applied(world, THINGS, thing('it', { size: [{ a: 'x' }, { zz: 1 }] }), 'one');
  t.is(inList.body.message, 'failed to create typed patch object: .spec.size[1].zz: field not declared in schema');
  const anything = { type: 'object', 'x-orch-preserve-unknown-fields': true };
  const version = { ...versionOfThings({}), schema: { openAPIV3Schema: anything } };
  t.is((await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [version] } } })).code, 200);
  t.is((await applied(world, THINGS, body, 'one')).code, 201);
  await world.stop();
});

test('what a schema says nothing of is owned as a whole, and member by member where members around it may be unknown', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const keeps = { 'x-orch-preserve-unknown-fields': true };
  const free = { type: 'object', ...keeps };
  const properties = { free, bare: keeps, known: { ...free, properties: { a: { type: 'string' }, of: keeps } } };
  const spec = { type: 'object', properties };
  const version = { ...versionOfThings({}), schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
  t.is((await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [version] } } })).code, 200);
  const deep = { k: { l: 1 } };
  const answer = await applied(
    world,
    THINGS,
    thing('it', { free: deep, bare: deep, known: { of: deep, b: deep } }),
    'one',
  );
  t.is(answer.code, 201);
  const { managedFields } = answer.body.metadata;
  t.deepEqual(managedFields?.[0]?.fieldsV1, {
    'f:spec': {
      'f:free': { 'f:k': {} },
      'f:bare': {},
      'f:known': {
        'f:of': { 'f:k': { '.': {}, 'f:l': {} } },
        'f:b': { '.': {}, 'f:k': { '.': {}, 'f:l': {} } },
      },
    },
  });
  await world.stop();
});

test('an applier that goes on in another version of a custom type takes away what it had said, and an empty list stays that it says', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const number = { type: 'integer' };
  const list = { type: 'array', items: number, 'x-orch-list-type': 'set' };
  const spec = { type: 'object', properties: { size: { ...number, default: 7 }, width: number, list } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = ['v1', 'v2'].map((name) => ({ ...versionOfThings({}), name, storage: name === 'v1', schema }));
  await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions } } });
  const inV2 = { ...thing('it', { size: 1 }), apiVersion: 'example.com/v2' };
  t.is((await applied(world, THINGS.replace('/v1/', '/v2/'), inV2, 'one')).code, 201);
  const answer = await applied(world, THINGS, thing('it', { width: 2, list: [] }), 'one');
  t.is(answer.code, 200);
  t.deepEqual(answer.body.spec, { size: 7, width: 2, list: [] });
  t.deepEqual(ownersOfSpec(answer), [['one', { 'f:width': {} }]]);

  const beside = { ...thing('it', { width: 2 }), apiVersion: 'example.com/v2' };
  t.is((await applied(world, THINGS.replace('/v1/', '/v2/'), beside, 'two')).code, 200);
  t.is((await applied(world, THINGS, thing('it', { size: 8 }), 'one')).body.spec.size, 8);
  const again = await applied(world, THINGS, thing('it', {}), 'one');
  t.deepEqual(again.body.spec, { size: 7, width: 2, list: [] });
  await world.stop();
});

test('who applied in a version of a custom type that is not served any more goes on owning what it applied', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const number = { type: 'integer' };
  const spec = { type: 'object', properties: { size: number, width: number } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const serve = async (isServed: boolean): Promise<void> => {
    const [first, second] = ['v1', 'v2'].map((name) => ({
      ...versionOfThings({}),
      name,
      storage: name === 'v1',
      schema,
    }));
    const versions = [{ ...first, served: isServed }, second];
    t.is((await world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions } } })).code, 200);
  };
  await serve(true);
  t.is((await applied(world, THINGS, thing('it', { size: 1, width: 2 }), 'one')).code, 201);
  await serve(false);
  const inV2 = THINGS.replace('/v1/', '/v2/');
  const second = (given: object): object => ({ ...thing('it', given), apiVersion: 'example.com/v2' });
  t.is((await applied(world, inV2, second({ size: 3 }), 'two')).code, 409);
  const shared = await applied(world, inV2, second({ size: 1 }), 'two');
  t.deepEqual(ownersOfSpec(shared), [
    ['one', { 'f:size': {}, 'f:width': {} }],
    ['two', { 'f:size': {} }],
  ]);
  const left = await applied(world, inV2, second({ size: 1 }), 'one');
  t.deepEqual(left.body.spec, { size: 1 });
  await world.stop();
});
