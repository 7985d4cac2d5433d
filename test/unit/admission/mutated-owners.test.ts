// Owners that a mutating plugin, a webhook say, names once more.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { metadataOf, withMetadata } from '../../../api/metadata/object-meta.ts';
import { AdmissionWorld } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;
const OWNER = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' };
const WARNING =
  '.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references ' +
  'in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1';

/** Names the owners of config maps twice. */
const repeats: AdmissionPluginKind = {
  name: 'AlwaysAdmit',
  wants: [{ operations: ['create', 'update'], resources: ['core/configmaps'] }],
  create: () => ({
    mutate: (attributes) => {
      const metadata = metadataOf(attributes.object);
      const { ownerReferences = [] } = metadata;
      const twice = [...ownerReferences, ...ownerReferences];
      attributes.object = withMetadata(attributes.object, { ...metadata, ownerReferences: twice });
      return undefined;
    },
  }),
};

test('an owner that a mutating plugin names once more is kept once, on every way in, and the client hears of it', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [repeats] });
  const body = { metadata: { name: 'a', ownerReferences: [OWNER] } };
  for (const [verb, path, sent] of [
    ['create', CONFIG_MAPS, body],
    ['update', A, { ...body, data: { a: 'b' } }],
    ['patch', A, { data: { a: 'c' } }],
    ['patch', A, {}],
  ] as const) {
    const answer = await world.write(verb, path, { body: sent });
    t.deepEqual([verb, answer.warnings], [verb, [WARNING]]);
    t.deepEqual(answer.body.metadata.ownerReferences, [OWNER]);
    t.deepEqual((await world.stored(A))?.metadata.ownerReferences, [OWNER]);
  }
  await world.stop();
});
