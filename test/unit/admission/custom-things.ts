// A custom type of whole numbers, for tests of what its schema has a say in.
import type { AdmissionWorld } from './admission-world.ts';

const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';

export const DEFINITION_OF_THINGS = `${DEFINITIONS}/things.example.com`;
export const THINGS = '/apis/example.com/v1/namespaces/default/things';

/** The version of things; `size`: what more their size's schema says. */
export const versionOfThings = (size: object): object => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer', ...size } } } },
    },
  },
});

/** Things as a client sends them. */
export const thing = (name: string, spec: object): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
});

/** Has things served, as their controller would. */
export async function defineThings(world: AdmissionWorld): Promise<void> {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [versionOfThings({})] };
  const made = await world.created(DEFINITIONS, { metadata: { name: 'things.example.com' }, spec });
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True', reason: 'Test' }));
  const status = { acceptedNames: names, storedVersions: ['v1'], conditions };
  await world.write('update', `${DEFINITION_OF_THINGS}/status`, { body: { ...made, status } });
}
