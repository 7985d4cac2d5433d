// What plugins, webhooks among them, have to say to the client's user is told with the answer, whatever the write.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { AdmissionWorld } from './admission-world.ts';

const PODS = '/api/v1/namespaces/default/pods';
const POD = { spec: { containers: [{ name: 'c', image: 'i' }] } };

const warns: AdmissionPluginKind = {
  name: 'AlwaysAdmit',
  wants: [{ operations: ['create', 'update', 'delete'], resources: ['**'] }],
  create: () => ({ validate: (attributes) => attributes.warn(`look out: ${attributes.asked.operation}`) }),
};

const WRITES: readonly (readonly [
  what: string,
  verb: 'create' | 'delete' | 'deletecollection',
  path: string,
  body: object,
])[] = [
  ['a deletion', 'delete', `${PODS}/a`, {}],
  ['a dry run of a deletion', 'delete', `${PODS}/a`, { dryRun: ['All'] }],
  ['the deletion of a collection', 'deletecollection', PODS, {}],
  ['an eviction', 'create', `${PODS}/a/eviction`, { metadata: { name: 'a' } }],
  ['a binding', 'create', `${PODS}/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n' } }],
];
for (const [what, verb, path, body] of WRITES) {
  test(`${what} is answered with the warnings of plugins, each once`, async (t) => {
    const world = await AdmissionWorld.start({ plugins: [warns] });
    for (const name of ['a', 'b']) await world.created(PODS, { metadata: { name }, ...POD });
    const { code, warnings } = await world.write(verb, path, { body });
    t.true(code < 300);
    t.deepEqual(warnings, [`look out: ${verb === 'create' ? 'create' : 'delete'}`]);
    await world.stop();
  });
}

const REFUSED: readonly (readonly [what: string, path: string, body: object, code: number])[] = [
  ['an object whose name is taken', PODS, { metadata: { name: 'a' }, ...POD }, 409],
  ['a binding of no pod', `${PODS}/z/binding`, { metadata: { name: 'z' }, target: { kind: 'Node', name: 'n' } }, 404],
  ['an eviction of no pod', `${PODS}/z/eviction`, { metadata: { name: 'z' } }, 404],
];
for (const [what, path, body, expected] of REFUSED) {
  test(`${what} is refused with the warnings of plugins that had let it pass`, async (t) => {
    const world = await AdmissionWorld.start({ plugins: [warns] });
    await world.created(PODS, { metadata: { name: 'a' }, ...POD });
    const { code, warnings } = await world.write('create', path, { body });
    t.deepEqual([code, warnings], [expected, ['look out: create']]);
    await world.stop();
  });
}

test('who refuses need not be who has warned', async (t) => {
  const warnsEarly: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create'], resources: ['core/configmaps'] }],
    create: () => ({ mutate: async (attributes) => attributes.warn('look out') }),
  };
  const world = await AdmissionWorld.start({ plugins: [warnsEarly] });
  const body = { metadata: { name: 'a' }, data: { 'no/key': '' } };
  const { code, warnings } = await world.write('create', '/api/v1/namespaces/default/configmaps', { body });
  t.deepEqual([code, warnings], [422, ['look out']]);
  await world.stop();
});
