// Goal: followers get every object as it is stored, but for metadata.managedFields, whatever its strings look like.
// Method: objects as the encoder writes them, hand-picked and generated, against what JSON.parse makes of the whole text.
import test from 'ava';
import fc from 'fast-check';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { followedText } from '../../../storage/records/followed-text.ts';
import { entry, fieldsOf, type Members, stringsOf, textLike } from './managed-objects.ts';

function followed(metadata: Members, rest: Members): { readonly text: string; readonly parsed: Members } {
  const { text, revisionOffset } = encodeStored({ metadata, ...rest }, 'v1', 'Pod');
  const before = Buffer.from('what lies before');
  const value = Buffer.from(text);
  const after = Buffer.from(`\n,"managedFields":[{"a":"b"}]},"spec":{}}`);
  const got = followedText(Buffer.concat([before, value, after]), before.length, value.length, revisionOffset);
  return { text: got, parsed: JSON.parse(got) as Members };
}

/** As it is expected: everything there, managedFields not. */
function without(metadata: Members, rest: Members): unknown {
  const { managedFields: _, ...kept } = metadata;
  return JSON.parse(
    JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '0', ...kept }, ...rest }),
  );
}

const HOSTILE = ['}]},"spec":{}', '"]},', ']},"a', '\\', '}]}}', ',"managedFields":[', 'é😀', '{', '}'];

const table: Readonly<Record<string, readonly [metadata: Members, rest: Members]>> = {
  'an object nobody manages': [{ name: 'a' }, { spec: { a: 1 } }],
  'one manager': [{ name: 'a', labels: { a: 'b' }, managedFields: [entry({ 'f:spec': {} })] }, { spec: { a: [1] } }],
  'nothing but metadata': [{ name: 'a', managedFields: [entry({}), entry({})] }, {}],
  'an empty list': [{ name: 'a', managedFields: [] }, { data: {} }],
  'entries that are only strings': [{ name: 'a', managedFields: [{ manager: '}]},"x' }] }, { data: { x: 'y' } }],
  'brackets in names of fields': [
    { name: 'a', managedFields: [entry(Object.fromEntries(HOSTILE.map((each) => [`f:${each}`, {}])))] },
    { data: { a: 'b' } },
  ],
  'labels that look like it': [
    {
      name: 'a',
      annotations: Object.fromEntries(HOSTILE.map((each, at) => [`${at}`, each])),
      managedFields: [entry({})],
    },
    { data: { a: 'b' } },
  ],
};
for (const [title, [metadata, rest]] of Object.entries(table)) {
  test(`followers are not given managedFields: ${title}`, (t) => {
    const { parsed } = followed(metadata, rest);
    t.deepEqual(parsed, without(metadata, rest));
  });
}

test("managedFields that are not the object's own stay", (t) => {
  const template = { metadata: { name: 'b', managedFields: [entry({})] }, spec: {} };
  t.deepEqual(followed({ name: 'a' }, { spec: { template } }).parsed, without({ name: 'a' }, { spec: { template } }));
  const list = { spec: { a: 1, managedFields: [{ b: 2 }] }, status: {} };
  t.deepEqual(
    followed({ name: 'a', labels: { c: 'd' } }, list).parsed,
    without({ name: 'a', labels: { c: 'd' } }, list),
  );
});

test('entries that hold lists give a text that nobody takes for an object', (t) => {
  const odd = { ...entry({ 'f:a': [{}] }), z: 'later' };
  t.throws(() => followed({ name: 'a', managedFields: [odd] }, { spec: {} }), { instanceOf: SyntaxError });
});

test('behind many bytes of annotations they are not looked for', (t) => {
  const metadata = { name: 'a', annotations: { a: 'x'.repeat(10_000) }, managedFields: [entry({})] };
  t.true(followed(metadata, { spec: {} }).text.includes('managedFields'));
});

test('whatever strings an object has, followers get it whole but for managedFields', (t) => {
  const text = textLike(HOSTILE);
  const strings = stringsOf(text);
  const fields = fieldsOf(text);
  const managed = fc.array(fields.map(entry), { maxLength: 3 });
  fc.assert(
    fc.property(strings, strings, managed, fc.boolean(), strings, (labels, annotations, entries, has, data) => {
      const metadata = { name: 'a', labels, annotations, ...(has ? { managedFields: entries } : {}) };
      t.deepEqual(followed(metadata, { data }).parsed, without(metadata, { data }));
    }),
  );
});
