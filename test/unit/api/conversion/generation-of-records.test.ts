// Stored custom objects of a definition that has changed: only those of an earlier generation are brought into form.
import test from 'ava';
import { knownTypesOf } from '../../../../api/catalog/known-types.ts';
import { StoredForm } from '../../../../api/catalog/stored-form.ts';
import { readDefinition } from '../../../../api/custom/definitions/definition.ts';
import { DefinitionChanged } from '../../../../api/custom/definitions/definition-changed.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { versionOfThings } from '../../admission/custom-things.ts';
import { DIALECT, REGISTRY, SCHEMA } from './kinds.ts';

const TODAY = 2;

const DEFINITION = {
  metadata: { name: 'things.example.com', generation: TODAY },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [versionOfThings({ default: 3 })],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
};

const WORDS = {
  prefix: DIALECT.name === 'orch' ? 'x-orch-' : 'x-kubernetes-',
  metadata: SCHEMA.type('meta/v1.ObjectMeta'),
};

const stored = (): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'n', namespace: 'd' },
  spec: { gone: 1 },
});

test('a stored object of the schema of today is not shaped again, one of an earlier schema or of none known is', (t) => {
  const [type] = knownTypesOf(readDefinition(DEFINITION as unknown as JsonObject, 7), WORDS);
  const forms = new StoredForm(REGISTRY, SCHEMA);
  let shaped = 0;
  const schema = type!.custom!.schema;
  const shape = schema.shape.bind(schema);
  schema.shape = (object) => {
    shaped++;
    return shape(object);
  };

  const ofToday = stored();
  t.is(forms.asked(type!, ofToday, TODAY), ofToday);
  t.is(shaped, 0);

  t.deepEqual(forms.asked(type!, stored(), TODAY - 1).spec, { size: 3 });
  t.is(shaped, 1);
  t.deepEqual(forms.asked(type!, stored()).spec, { size: 3 });
  t.is(shaped, 2);
});

test('an object of a definition that has been deleted meanwhile is not stored: its write begins again', (t) => {
  const [type] = knownTypesOf(readDefinition(DEFINITION as unknown as JsonObject, 7), WORDS);
  // A registry without it.
  const forms = new StoredForm(REGISTRY, SCHEMA);
  t.throws(() => forms.stored(type!, stored()), { instanceOf: DefinitionChanged });
});
