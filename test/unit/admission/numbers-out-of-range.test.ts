// Numbers that no double is near, which a custom object could hold, were they not nothing when they are stored; and integers that
// no double is.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';
import { DEFINITION_OF_THINGS, defineThings, THINGS, versionOfThings } from './custom-things.ts';

const WRITES: readonly (readonly [verb: 'create' | 'update' | 'patch', contentType: string])[] = [
  ['create', 'application/json'],
  ['create', 'application/yaml'],
  ['update', 'application/json'],
  ['patch', 'application/merge-patch+json'],
  ['patch', 'application/apply-patch+yaml'],
];

const bodyWith = (metadata: object, number: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":${JSON.stringify(metadata)},"spec":{"num":${number}}}`;

for (const [verb, contentType] of WRITES) {
  test(`a number out of range is not taken in a custom object, by ${verb} of ${contentType}`, async (t) => {
    const world = await AdmissionWorld.start();
    await defineThings(world);
    const openAPIV3Schema = {
      type: 'object',
      properties: { spec: { type: 'object', 'x-orch-preserve-unknown-fields': true } },
    };
    const body = { spec: { versions: [{ ...versionOfThings({}), schema: { openAPIV3Schema } }] } };
    t.is((await world.write('patch', DEFINITION_OF_THINGS, { body })).code, 200);
    let { resourceVersion } = (await world.write('create', THINGS, { body: bodyWith({ name: 'it' }, '1') })).body
      .metadata;
    const path = verb === 'create' ? THINGS : `${THINGS}/it`;
    const write = (name: string, number: string) =>
      world.write(verb, path, {
        body: bodyWith({ name, ...(verb === 'update' ? { resourceVersion } : {}) }, number),
        contentType,
        parameters: { fieldManager: 'm', ...(contentType.includes('apply') ? { force: 'true' } : {}) },
      });
    for (const number of ['1e400', '-1E+0400', `1${'0'.repeat(309)}`, '12.5e999']) {
      const refused = await write('it', number);
      t.is(refused.code, 400, number);
      t.regex(refused.body.message, /out of range/);
    }
    for (const [place, number] of ['1e300', '1e-400', `1${'0'.repeat(300)}`].entries()) {
      const taken = await write(verb === 'create' ? `it${place}` : 'it', number);
      t.is(taken.code, verb === 'create' ? 201 : 200, taken.body.message);
      t.is(taken.body.spec.num, Number(number));
      resourceVersion = taken.body.metadata.resourceVersion;
    }
    await world.stop();
  });
}

test('what a built-in type has as a long integer is the same when it is sent back', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { terminationGracePeriodSeconds: 2 ** 60, containers: [{ name: 'c', image: 'i' }] },
  };
  const spec = { selector: { matchLabels: { app: 'web' } }, template };
  const created = await world.created(path, { metadata: { name: 'web' }, spec });
  const labelled = { ...created, metadata: { ...created.metadata, labels: { a: 'b' } } };
  const put = await world.write('update', `${path}/web`, { body: labelled });
  t.deepEqual([put.code, put.body.metadata.labels, put.body.metadata.generation], [200, { a: 'b' }, 1]);
  const again = await world.write('update', `${path}/web`, { body: put.body });
  t.is(again.body.metadata.resourceVersion, put.body.metadata.resourceVersion);
  await world.stop();
});
