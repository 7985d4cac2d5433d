// Deprecation rule 2: objects go from any version of their kind to any other and back without loss.
import test from 'ava';
import { StoredForm } from '../../../../api/catalog/stored-form.ts';
import { decode } from '../../../../api/codec/decode.ts';
import { sampleOf } from '../sample.ts';
import { asServed, PAIRS, REGISTRY, SCHEMA, schemaOfType } from './kinds.ts';

const forms = new StoredForm(REGISTRY, SCHEMA);

/** Fully populated: every member that the schema knows differs from its zero. */
const OBJECTS = [
  ['populated', (schema: ReturnType<typeof schemaOfType>) => sampleOf(schema)],
  ['empty', () => ({})],
] as const;

for (const { older, stored } of PAIRS) {
  for (const [what, make] of OBJECTS) {
    const name = `${older.apiVersion} ${older.kind}`;
    test(`a ${what} ${name} comes back from ${stored.apiVersion} as it was`, (t) => {
      const object = asServed(make(schemaOfType(older)), older);
      const before = structuredClone(object);
      const inStore = forms.between(older, stored)(object);
      t.is(inStore.apiVersion, stored.apiVersion);
      t.deepEqual(forms.between(stored, older)(inStore), before);
      t.deepEqual(object, before, 'the object given is not changed');
    });

    test(`a ${what} ${stored.apiVersion} ${stored.kind} comes back from ${older.apiVersion} as it was`, (t) => {
      // As it would lie in the store: what is said in two ways has been brought into one.
      const object = forms.stored(stored, asServed(make(schemaOfType(stored)), stored));
      const before = structuredClone(object);
      const asOlder = forms.between(stored, older)(object);
      t.is(asOlder.apiVersion, older.apiVersion);
      t.deepEqual(forms.between(older, stored)(asOlder), before);
      t.deepEqual(object, before, 'the object given is not changed');
    });
  }
}

test('converted objects are canonical: members stand in the order of their schema', (t) => {
  for (const { older, stored } of PAIRS) {
    const object = asServed(sampleOf(schemaOfType(stored)), stored);
    const converted = forms.between(stored, older)(object);
    const canonical = decode(structuredClone(converted), schemaOfType(older)).object;
    t.is(JSON.stringify(converted), JSON.stringify(canonical), `${older.apiVersion} ${older.kind}`);
  }
});
