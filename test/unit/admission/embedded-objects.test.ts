// Whole objects inside custom objects, and lists that are sets or maps, on their way into the store and where they have been let in before.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings, THINGS, thing, versionOfThings } from './custom-things.ts';

async function worldWithParts(): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const part = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { part } } } };
  const body = { spec: { versions: [{ ...versionOfThings({}), schema: { openAPIV3Schema } }] } };
  await world.write('patch', DEFINITION_OF_THINGS, { body });
  return world;
}

const partWith = (metadata: unknown): object => ({ part: { apiVersion: 'v1', kind: 'Part', metadata, size: 1 } });

test('the metadata of an embedded object is that of any object: what it does not have is dropped, what is wrong with it refused', async (t) => {
  const world = await worldWithParts();
  const create = (metadata: unknown, parameters = {}) =>
    world.write('create', THINGS, { body: thing('it', partWith(metadata)), parameters });
  const untyped = await create({ name: 'p', labels: { a: 1 } });
  t.is(untyped.code, 400);
  t.regex(untyped.body.message, /spec\.part\.metadata\.labels.*cannot unmarshal number into a value of type string/);
  const unnamed = await create({ name: 'p/q' });
  t.is(unnamed.code, 422);
  t.regex(unnamed.body.message, /spec\.part\.metadata\.name: Invalid value: "p\/q": may not contain '\/'$/);
  const made = await create({ name: 'p', odd: true }, { fieldValidation: 'Warn' });
  t.is(made.code, 201);
  t.deepEqual(made.body.spec, partWith({ name: 'p' }));
  t.deepEqual(made.warnings, ['unknown field "spec.part.metadata.odd"']);

  const body = { spec: partWith({ name: 'p', finalizers: [7] }) };
  t.is((await world.write('patch', `${THINGS}/it`, { body })).code, 422);
  await world.stop();
});

test('an object that was let in before its lists and parts were held to more can be changed, and its status written', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const keeps = { 'x-orch-preserve-unknown-fields': true };
  const versionWith = (more: object, embedded: object): object => {
    const list = { type: 'array', items: { type: 'string' }, ...more };
    const properties = { list, part: { type: 'object', ...keeps, ...embedded }, size: { type: 'integer' } };
    const openAPIV3Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties }, status: { type: 'object', ...keeps } },
    };
    return { ...versionOfThings({}), schema: { openAPIV3Schema }, subresources: { status: {} } };
  };
  const redefine = (version: object) =>
    world.write('patch', DEFINITION_OF_THINGS, { body: { spec: { versions: [version] } } });
  const codeOf = async (name: string, body: object): Promise<number> =>
    (await world.write('patch', `${THINGS}/${name}`, { body })).code;
  t.is((await redefine(versionWith({}, {}))).code, 200);
  await world.created(THINGS, thing('repeats', { list: ['a', 'a'] }));
  await world.created(THINGS, thing('unnamed', { part: { q: 1 } }));
  await world.created(THINGS, thing('good', { list: ['a'], part: { kind: 'K', apiVersion: 'v1' } }));
  t.is((await redefine(versionWith({ 'x-orch-list-type': 'set' }, { 'x-orch-embedded-resource': true }))).code, 200);
  t.is(await codeOf('repeats', { spec: { size: 1 } }), 200);
  t.is(await codeOf('repeats', { spec: { list: ['b', 'b'] } }), 200);
  t.is(await codeOf('repeats', { spec: { part: { q: 1 } } }), 422);
  t.is(await codeOf('repeats', { spec: { list: ['b'] } }), 200);
  t.is(await codeOf('repeats', { spec: { list: ['b', 'b'] } }), 422);
  t.is(await codeOf('unnamed', { spec: { size: 1 } }), 422);
  t.is(await codeOf('unnamed/status', { status: { size: 1 } }), 200);
  t.is(await codeOf('good', { spec: { list: ['b', 'b'] } }), 422);
  await world.stop();
});

test('an apply brings the metadata of an embedded object into its form, and is refused for what is wrong with it', async (t) => {
  const world = await worldWithParts();
  const apply = (metadata: unknown) =>
    world.write('patch', `${THINGS}/it`, {
      body: thing('it', partWith(metadata)),
      contentType: 'application/apply-patch+yaml',
      parameters: { fieldManager: 'one' },
    });
  const untyped = await apply({ name: 'p', deletionGracePeriodSeconds: 'x' });
  t.is(untyped.code, 400);
  t.regex(untyped.body.message, /spec\.part\.metadata\.deletionGracePeriodSeconds: cannot unmarshal string/);
  const made = await apply({ name: 'p', labels: {}, creationTimestamp: null });
  t.is(made.code, 201);
  t.deepEqual(made.body.spec, partWith({ name: 'p' }));
  const changed = await apply({ name: '', labels: { a: null } });
  t.is(changed.code, 200);
  t.deepEqual(changed.body.spec, partWith({ labels: { a: '' } }));
  await world.stop();
});

test('metadata that was let in before its object was a whole one is read without what nobody can read of it, and can be written again', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const part = { type: 'object', 'x-orch-preserve-unknown-fields': true };
  const redefine = (one: object) => {
    const openAPIV3Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { part: one, size: { type: 'integer' } } } },
    };
    return world.write('patch', DEFINITION_OF_THINGS, {
      body: { spec: { versions: [{ ...versionOfThings({}), schema: { openAPIV3Schema } }] } },
    });
  };
  t.is((await redefine(part)).code, 200);
  const metadata = { name: 'p', odd: 42, labels: { a: 'b' }, annotations: { c: 'd', untyped: 42 } };
  await world.created(THINGS, thing('it', partWith(metadata)));
  await world.created(THINGS, thing('none', partWith('text')));
  await world.created(THINGS, thing('applied', partWith(metadata)));
  t.is((await redefine({ ...part, 'x-orch-embedded-resource': true })).code, 200);

  const body = { metadata: { finalizers: ['example.com/held'] } };
  const held = await world.write('patch', `${THINGS}/it`, { body });
  t.is(held.code, 200, held.body.message);
  t.deepEqual(held.body.spec, partWith({ name: 'p', labels: { a: 'b' } }), 'members that are wrong go as a whole');
  const { part: bare } = partWith(undefined) as { part: { metadata?: unknown } };
  delete bare.metadata;
  const sized = await world.write('patch', `${THINGS}/none`, { body: { spec: { size: 1 } } });
  t.is(sized.code, 200, sized.body.message);
  t.deepEqual(sized.body.spec, { part: bare, size: 1 });
  const applied = await world.write('patch', `${THINGS}/applied`, {
    body: thing('applied', { size: 1 }),
    contentType: 'application/apply-patch+yaml',
    parameters: { fieldManager: 'one' },
  });
  t.is(applied.code, 200, applied.body.message);
  await world.stop();
});

test('what a schema gives the metadata of an embedded object is held to what metadata has', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const whole = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true };
  const TEXT = { type: 'string', default: 'given' };
  const given = { apiVersion: 'v1', kind: 'Part', metadata: { name: 'given', odd: 'given' } };
  const properties = {
    members: { ...whole, properties: { metadata: { type: 'object', properties: { name: TEXT, odd: TEXT } } } },
    metadata: { ...whole, properties: { metadata: { type: 'object', default: given.metadata } } },
    part: { ...whole, default: given },
  };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const body = { spec: { versions: [{ ...versionOfThings({}), schema: { openAPIV3Schema } }] } };
  t.is((await world.write('patch', DEFINITION_OF_THINGS, { body })).code, 200);
  const named = { apiVersion: 'v1', kind: 'Part' };
  const made = await world.write('create', THINGS, {
    body: thing('it', { members: { ...named, metadata: {} }, metadata: named }),
  });
  t.is(made.code, 201, made.body.message);
  const expected = { ...named, metadata: { name: 'given' } };
  t.deepEqual(made.body.spec, { members: expected, metadata: expected, part: expected });
  await world.stop();
});
