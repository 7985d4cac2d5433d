// A custom object that says that it is of another kind than its path is about.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';
import { defineThings, THINGS } from './custom-things.ts';

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
