// Random objects of every kind, there and back: between versions, and between JSON and Protobuf.
import test from 'ava';
import fc from 'fast-check';
import { StoredForm } from '../../../../api/catalog/stored-form.ts';
import { decode } from '../../../../api/codec/decode.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../../api/codec/protobuf.ts';
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import { casesOf } from '../../../server/effort.ts';
import { asServed, PAIRS, REGISTRY, SCHEMA, schemaOfType } from './kinds.ts';
import { objectsOf } from './random-objects.ts';

const forms = new StoredForm(REGISTRY, SCHEMA);
const SEED = 20_211;
const THERE_AND_BACK = { numRuns: casesOf(8), seed: SEED };
const PROTOBUF = { numRuns: casesOf(3), seed: SEED };

for (const { older, stored } of PAIRS) {
  test(`any ${older.apiVersion} ${older.kind} comes back from the store as it was`, (t) => {
    const property = fc.property(objectsOf(schemaOfType(older)), (given) => {
      const object = asServed(given, older);
      return deepEqual(forms.asked(older, forms.stored(older, object)), object);
    });
    t.notThrows(() => fc.assert(property, THERE_AND_BACK));
  });

  test(`any stored ${stored.kind} is stored as it was after a write in ${older.apiVersion} that changes nothing`, (t) => {
    const property = fc.property(objectsOf(schemaOfType(stored)), (given) => {
      const object = forms.stored(stored, asServed(given, stored));
      return deepEqual(forms.stored(older, forms.asked(older, object)), object);
    });
    t.notThrows(() => fc.assert(property, THERE_AND_BACK));
  });
}

for (const type of REGISTRY.known()) {
  test(`any ${type.apiVersion} ${type.kind} comes back from Protobuf as it was`, (t) => {
    const schema = schemaOfType(type);
    const property = fc.property(objectsOf(schema), (given) => {
      const { object } = decode(given, schema);
      const { object: back } = decodeProtobuf(encodeProtobuf(object, schema), schema);
      // Kind and apiVersion are in the envelope.
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
      const { kind: _kindBack, apiVersion: _apiVersionBack, ...restBack } = back;
      return deepEqual(restBack, rest);
    });
    t.notThrows(() => fc.assert(property, PROTOBUF));
  });
}
