// Goal: who writes an object again gets it as it is stored, with field sets that are shared, and its text comes out as it was.
// Method: objects as the encoder writes them, hand-picked and generated, against what JSON.parse makes of the whole text.
import test from 'ava';
import fc from 'fast-check';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { ownedObject } from '../../../storage/records/owned-object.ts';
import { entry, fieldsOf, type Members, stringsOf, textLike } from './managed-objects.ts';

interface Owned extends Members {
  readonly metadata: { readonly managedFields: readonly { readonly fieldsV1: object }[] };
}

const encoded = (metadata: Members, rest: Members) => encodeStored({ metadata, ...rest }, 'v1', 'Pod');

function owned(metadata: Members, rest: Members): Owned | undefined {
  const { text, revisionOffset } = encoded(metadata, rest);
  const before = Buffer.from('what lies before');
  const after = Buffer.from(`\n,"managedFields":[{"fieldsV1":{}}]},"spec":{}}`);
  const value = Buffer.from(text);
  return ownedObject(Buffer.concat([before, value, after]), before.length, value.length, revisionOffset)
    ?.object as Owned;
}

const HOSTILE = ['}]},"spec":{}', '"fieldsV1":', '},{"manager":', ']},"a', '\\', '}]}}', 'é😀', '{', '}', '"'];
const HOSTILE_FIELDS = Object.fromEntries(HOSTILE.map((each) => [`f:${each}`, {}]));

const known: Readonly<Record<string, readonly Members[]>> = {
  'one manager': [entry({ 'f:spec': { 'f:a': {} } })],
  'several managers': [entry({ 'f:spec': {} }, 'a'), entry({ 'f:data': { '.': {} } }, 'b'), entry({}, 'c')],
  'names of fields that look like ends': [entry(HOSTILE_FIELDS, '},{"manager":'), entry(HOSTILE_FIELDS, ']}')],
};
for (const [title, managedFields] of Object.entries(known)) {
  test(`an object is read with field sets that others share, and is written as it was: ${title}`, (t) => {
    const metadata = { name: 'a', uid: 'u', labels: { a: 'b' }, managedFields };
    const first = owned(metadata, { spec: { a: [1] } });
    const second = owned({ ...metadata, name: 'b' }, { spec: {} });

    const { text, revisionOffset } = encoded(metadata, { spec: { a: [1] } });
    t.deepEqual(first, JSON.parse(text));
    for (const [at, { fieldsV1 }] of first!.metadata.managedFields.entries()) {
      t.true(Object.isFrozen(fieldsV1));
      t.is(fieldsV1, second!.metadata.managedFields[at]!.fieldsV1);
    }
    t.deepEqual(encodeStored(first!, 'v1', 'Pod'), {
      text,
      revisionOffset,
      itemOffset: encoded(metadata, {}).itemOffset,
    });
  });
}

const odd: Readonly<Record<string, Members>> = {
  'without managers': { name: 'a' },
  'with none in the list': { name: 'a', managedFields: [] },
  'with an entry of no fields': { name: 'a', managedFields: [{ manager: 'a' }] },
  'with fields that are no object': { name: 'a', managedFields: [entry(null)] },
  'with members behind the fields': { name: 'a', managedFields: [{ ...entry({}), z: 'later' }] },
  'with an entry of no fields before others': { name: 'a', managedFields: [{ manager: 'a' }, entry({})] },
};
for (const [title, metadata] of Object.entries(odd)) {
  test(`an object ${title} has to be parsed whole`, (t) => t.is(owned(metadata, { spec: {} }), undefined));
}

test('whatever strings an object has, it is read as it is stored', (t) => {
  const text = textLike(HOSTILE);
  const strings = stringsOf(text);
  const fields = fieldsOf(text);
  const managed = fc.array(
    fc.tuple(fields, text).map(([each, manager]) => entry(each, manager)),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(strings, strings, managed, strings, (labels, annotations, managedFields, data) => {
      const metadata = { name: 'a', labels, annotations, managedFields };
      t.deepEqual(owned(metadata, { data }), JSON.parse(encoded(metadata, { data }).text));
    }),
  );
});
