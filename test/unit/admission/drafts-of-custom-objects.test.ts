// Under which generation of its definition a custom object is written.
import test from 'ava';
import { type Draft, draftPut, draftPutAsStored } from '../../../actors/admission/commits/draft.ts';
import { knownTypesOf } from '../../../api/catalog/known-types.ts';
import { readDefinition } from '../../../api/custom/definitions/definition.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { SCHEMA } from '../api/conversion/kinds.ts';

const TODAY = 4;

const DEFINITION: JsonObject = {
  metadata: { name: 'things.example.com', generation: TODAY },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
};

test('a custom object is written under the generation of today, and under its own where only its metadata changes', (t) => {
  const words = { prefix: 'x-orch-', metadata: SCHEMA.type('meta/v1.ObjectMeta') };
  const [type] = knownTypesOf(readDefinition(DEFINITION, 7), words);
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'n', namespace: 'd' } };
  const place = { revision: 9, slab: 0, offset: 0, incarnation: 1 };
  const generationOf = (draft: Draft): unknown => draft.put?.schemaGeneration;

  t.is(generationOf(draftPut(type!, object, 9)), TODAY);
  t.is(generationOf(draftPutAsStored(type!, object, { place, schemaGeneration: TODAY - 1 })), TODAY - 1);
  t.is(generationOf(draftPutAsStored(type!, object, { place, schemaGeneration: TODAY })), TODAY);
});
