// Whole objects inside custom objects, on their way into the store.
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
  t.regex(unnamed.body.message, /spec\.part\.metadata\.name: Invalid value: "p\/q": must not contain '\/'$/);
  const made = await create({ name: 'p', odd: true }, { fieldValidation: 'Warn' });
  t.is(made.code, 201);
  t.deepEqual(made.body.spec, partWith({ name: 'p' }));
  t.deepEqual(made.warnings, ['unknown field "spec.part.metadata.odd"']);

  const body = { spec: partWith({ name: 'p', finalizers: [7] }) };
  t.is((await world.write('patch', `${THINGS}/it`, { body })).code, 422);
  await world.stop();
});
