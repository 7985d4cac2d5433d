import test from 'ava';
import { EncodedTexts } from '../../../../api/codec/encoded-texts.ts';
import { keepText } from '../../../../api/codec/known-text.ts';
import { encodeStored, REVISION_SLOT_BYTES } from '../../../../api/codec/stored-object.ts';

type Encodable = Parameters<typeof encodeStored>[0];

const CASES: readonly (readonly [what: string, object: Encodable])[] = [
  ['no metadata but the revision', { metadata: {} }],
  ['a plain object', { metadata: { name: 'a', namespace: 'b', uid: 'u' }, data: { k: 'v' } }],
  ['a name beyond ASCII', { metadata: { name: 'größe' } }],
  ['a name of four-byte letters', { metadata: { name: '🙂🙂', namespace: '日本' }, spec: {} }],
  ['half a surrogate pair in the name', { metadata: { name: 'a\ud800b', uid: '\udc00' } }],
  ['letters around those of three bytes', { metadata: { name: '\u07ff\u0800\uffff', uid: 'u' } }],
  ['values beyond ASCII', { metadata: { labels: { 'a/b': 'é' }, annotations: { note: '日本 🙂 \u2028 \u0000' } } }],
  ['quotes and backslashes', { metadata: { name: 'a"b\\c' }, data: { 'k"': '\\' } }],
  ['members of metadata that are not known', { metadata: { later: 1, name: 'a', another: { deep: [] } } }],
  ['a __proto__ member', JSON.parse('{"metadata":{"name":"a","__proto__":1},"__proto__":{"x":2}}') as Encodable],
  ['numbers as member names', { metadata: { name: 'a' }, 1: 'one', 0: 'zero' }],
  ['null and false', { metadata: { name: 'a', generation: 0, labels: null }, spec: null, immutable: false }],
];

for (const [what, object] of CASES) {
  test(`the text means the object and the offsets count bytes: ${what}`, (t) => {
    const { text, revisionOffset, itemOffset } = encodeStored(object, 'example.com/v1', 'Thing');
    const expected = JSON.parse(JSON.stringify({ ...object, kind: 'Thing', apiVersion: 'example.com/v1' })) as {
      metadata: Record<string, unknown>;
    };
    Object.defineProperty(expected.metadata, 'resourceVersion', { value: '0', enumerable: true });
    t.deepEqual(JSON.parse(text), expected);
    const bytes = Buffer.from(text);
    t.is(
      bytes.toString('utf8', revisionOffset, revisionOffset + REVISION_SLOT_BYTES),
      '"0"'.padEnd(REVISION_SLOT_BYTES),
    );
    t.is(bytes.toString('utf8', revisionOffset - 18, revisionOffset), '"resourceVersion":');
    t.is(bytes.toString('utf8', 0, itemOffset), '{"kind":"Thing","apiVersion":"example.com/v1",');
    // An item of a list: the object without its first two members.
    const item = JSON.parse(`{${bytes.toString('utf8', itemOffset)}`) as Record<string, unknown>;
    t.deepEqual(Object.keys(item)[0], Object.keys(object).some((member) => /^\d/.test(member)) ? '0' : 'metadata');
  });
}

test('an object that was encoded for somebody else before is stored as the same text', (t) => {
  for (const [what, object] of CASES) {
    const texts = new EncodedTexts();
    t.deepEqual(JSON.parse(texts.ofObject(object)), JSON.parse(JSON.stringify(object)), what);
    const again = encodeStored(object, 'example.com/v1', 'Thing', '', texts);
    t.deepEqual(again, encodeStored(object, 'example.com/v1', 'Thing'), what);
  }
});

test('an object is stored as its kind of the version asked for, whichever the kind was stored as before', (t) => {
  for (const apiVersion of ['v1', 'events.example.com/v1', 'v1']) {
    const { text, itemOffset } = encodeStored({ metadata: { name: 'a' } }, apiVersion, 'Event');
    t.is(text.slice(0, itemOffset), `{"kind":"Event","apiVersion":"${apiVersion}",`);
  }
});

test('field sets whose text is kept are written as that, also where an entry says nothing else', (t) => {
  const fieldsV1 = { 'f:spec': {} };
  keepText(fieldsV1);
  const managedFields = [{ fieldsV1 }, { manager: 'm', fieldsV1 }, { manager: 'n' }];
  const { text } = encodeStored({ metadata: { name: 'a', uid: 'u', managedFields } }, 'v1', 'Pod');
  t.deepEqual((JSON.parse(text) as { metadata: { managedFields: unknown } }).metadata.managedFields, managedFields);
});

test('metadata is written in the order clients know, resourceVersion in its place', (t) => {
  const metadata = {
    managedFields: [],
    finalizers: ['f'],
    ownerReferences: [],
    custom: 1,
    annotations: {},
    labels: {},
    deletionGracePeriodSeconds: 30,
    deletionTimestamp: 'd',
    creationTimestamp: 'c',
    generation: 2,
    resourceVersion: '999',
    uid: 'u',
    selfLink: '/s',
    namespace: 'ns',
    generateName: 'g-',
    name: 'n',
    clusterName: 'cn',
  };
  const { text } = encodeStored({ status: {}, metadata, spec: {}, kind: 'Other', apiVersion: 'v0' }, 'v1', 'Pod');
  const parsed = JSON.parse(text) as { metadata: object };
  t.deepEqual(Object.keys(parsed), ['kind', 'apiVersion', 'metadata', 'status', 'spec']);
  t.deepEqual(Object.keys(parsed.metadata), [
    'name',
    'generateName',
    'namespace',
    'selfLink',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'labels',
    'annotations',
    'ownerReferences',
    'finalizers',
    'clusterName',
    'managedFields',
    'custom',
  ]);
});

test('members without a value are left out, as are the empty names of metadata', (t) => {
  for (const uid of [{}, { uid: 'u' }]) {
    const metadata = { name: 'a', generateName: '', namespace: '', ...uid, labels: undefined };
    const { text } = encodeStored({ metadata, spec: undefined }, 'v1', 'Pod');
    t.deepEqual(JSON.parse(text), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'a', ...uid, resourceVersion: '0' },
    });
    const { text: named } = encodeStored({ metadata: { name: 'a', namespace: '', ...uid } }, 'v1', 'Pod');
    t.false(named.includes('namespace'));
  }
});
