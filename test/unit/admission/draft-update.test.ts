// Goal: an update is stored in the same text, whether its parts are encoded or taken from what is stored.
// Method: objects as they are stored, read back and changed in some members, drafted both ways.
import test from 'ava';
import fc from 'fast-check';
import { draftPut, draftUpdate } from '../../../actors/admission/commits/draft.ts';
import { StoredObject } from '../../../actors/admission/stored/stored-object.ts';
import { EncodedTexts } from '../../../api/codec/encoded-texts.ts';
import { freezeJson } from '../../../api/json/freeze-json.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { encodedRecord } from '../storage/encoded-record.ts';
import { entry, fieldsOf, stringsOf, textLike } from '../storage/managed-objects.ts';

const PODS = createRegistry(DIALECTS.kubernetes).storageType('core/pods')!;

/** An object as it is stored, read back. */
function storedObject(object: Parameters<typeof encodedRecord>[0]): StoredObject {
  const { slab, place } = encodedRecord(object);
  return new StoredObject(slab, place);
}

const text = textLike(['}', '"spec":{}', ']},"a"', 'é😀', '\\']);
const strings = stringsOf(text);
const managedFields = fc.array(
  fc.tuple(fieldsOf(text), text).map(([each, manager]) => entry(each, manager)),
  { minLength: 1, maxLength: 2 },
);
const object = fc
  .record({ labels: strings, managedFields, spec: strings, status: strings })
  .map(({ labels, managedFields: owners, spec, status }) => ({
    metadata: { name: 'a', namespace: 'default', uid: 'u', labels, managedFields: owners },
    spec,
    status,
  }));

test('an update is drafted in the text that encoding all of it makes, whatever of it has changed', (t) => {
  const changed = fc.subarray(['metadata', 'spec', 'status', 'gone', 'order'] as const);
  fc.assert(
    fc.property(object, object, changed, (made, other, changes) => {
      const stored = storedObject(made);
      const next = { ...stored.object } as Record<string, unknown>;
      for (const change of changes) {
        if (change === 'gone') delete next.status;
        else if (change === 'order') Object.assign(next, { spec: undefined });
        else next[change] = other[change];
      }
      freezeJson(next);
      const wants = draftPut(PODS, next as JsonObject, 7);
      t.deepEqual(draftUpdate(PODS, next as JsonObject, stored, {}), wants);
      t.deepEqual(
        draftUpdate(PODS, next as JsonObject, stored, { texts: new EncodedTexts() }).put,
        draftPut(PODS, next as JsonObject, 7, { texts: new EncodedTexts() }).put,
      );
    }),
  );
});

test('what an update leaves as it is, is taken from the stored text, and only that', (t) => {
  const stored = storedObject({ metadata: { name: 'a', managedFields: [entry({})] }, spec: { a: '1' }, status: {} });
  const { object: whole } = stored;
  t.is(stored.restFor({ ...whole, metadata: { name: 'b' } }), '},"spec":{"a":"1"},"status":{}}');
  t.is(stored.restFor({ ...whole, spec: { a: '1' } }), undefined);
  t.is(stored.restFor({ ...whole, more: 1 }), undefined);
  const { status: _status, ...less } = whole;
  t.is(stored.restFor(less), undefined);
});

test('an object without managedFields has no text of its own to take from', (t) => {
  const stored = storedObject({ metadata: { name: 'a' }, spec: {} });
  t.is(stored.restFor(stored.object), undefined);
});
