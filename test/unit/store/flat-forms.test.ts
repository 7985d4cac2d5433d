// What the store is asked, answers and publishes is the same after it was laid out flat.
import test from 'ava';
import fc from 'fast-check';
import { FEED_FORMS } from '../../../actors/following/store-feed-forms.ts';
import { STORE_FORMS } from '../../../actors/store/flat-forms.ts';
import { FieldReader, type FlatForm } from '../../../runtime/flat-form.ts';
import { casesOf } from '../../server/effort.ts';

const KEY = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const COUNT = fc.nat();
const OPERATION = fc.oneof(
  fc.record({ key: KEY, expect: fc.integer({ min: -1 }), delete: fc.constant(true) }),
  fc.record({
    key: KEY,
    expect: fc.integer({ min: -1 }),
    valueOffset: COUNT,
    valueLength: COUNT,
    revisionOffset: COUNT,
    itemOffset: COUNT,
    attributes: fc.string({ unit: 'grapheme' }),
    schemaGeneration: COUNT,
  }),
);
const TRANSACTION = fc.record(
  {
    operations: fc.array(OPERATION, { maxLength: 3 }),
    guards: fc.array(fc.record({ key: KEY, expect: COUNT }), { maxLength: 2 }),
    thenRemoves: fc.array(KEY, { maxLength: 2 }),
    isBehindFirst: fc.constant(true),
  },
  { requiredKeys: ['operations'] },
);
const PLACE = fc.record({ revision: COUNT, slab: COUNT, offset: COUNT, incarnation: fc.maxSafeNat() });
const RESULT = fc.oneof(
  fc.record({ ok: fc.constant(true), revision: fc.maxSafeNat(), places: fc.array(PLACE, { maxLength: 3 }) }),
  fc.record({
    ok: fc.constant(false),
    reason: fc.constantFrom('exists', 'missing', 'changed', 'guard'),
    key: KEY,
    currentRevision: COUNT,
  }),
);
const PUBLICATION = fc.record({
  incarnation: fc.maxSafeNat(),
  sequence: COUNT,
  after: COUNT,
  lastRevision: fc.maxSafeNat(),
  compactedRevision: COUNT,
  runs: fc.array(COUNT),
  movedRuns: fc.array(COUNT),
});

/** Behind other fields, as in a batch. */
function again(form: FlatForm, message: object): object {
  const fields: unknown[] = ['before', 7];
  if (!form.write(message, fields)) throw new Error('the form has no room for it');
  const reader = new FieldReader().from([...fields, 'after'], 2);
  const read = form.read(reader);
  if (reader.text() !== 'after') throw new Error('fields were left, or read twice');
  return read;
}

test('a commit is the same after it was laid out flat', (t) => {
  const payload = new Uint8Array();
  fc.assert(
    fc.property(fc.array(TRANSACTION, { maxLength: 4 }), (transactions) => {
      const commit = { type: 'commit', transactions, payload };
      const members = { guards: undefined, thenRemoves: undefined, isBehindFirst: false };
      const read = { ...commit, transactions: transactions.map((transaction) => ({ ...members, ...transaction })) };
      t.deepEqual(again(STORE_FORMS.messages.commit!, commit), read);
    }),
    { numRuns: casesOf(300) },
  );
});

test('the results of a commit are the same after they were laid out flat', (t) => {
  fc.assert(
    fc.property(fc.array(RESULT, { maxLength: 4 }), (results) => {
      t.deepEqual(again(STORE_FORMS.answers!.commit!, { results }), { results });
    }),
    { numRuns: casesOf(300) },
  );
});

test('why what lies at a key cannot be read is told to whoever writes it from another thread', (t) => {
  const refusal = {
    ok: false,
    reason: 'unreadable',
    key: 'core/secrets/default/theirs',
    currentRevision: 0,
    why: 'no key',
  };
  const committed = { ok: true, revision: 7, places: [] };
  for (const results of [[refusal], [committed, refusal]])
    t.false(STORE_FORMS.answers!.commit!.write({ results }, []), 'it is cloned, which loses nothing');
});

test('a publication is the same after it was laid out flat; one with new slabs, or with news of what cannot be read, is cloned', (t) => {
  const form = FEED_FORMS.messages.storeBatch!;
  fc.assert(
    fc.property(PUBLICATION, (publication) => {
      const told = { type: 'storeBatch', ...publication, newSlabs: [] };
      t.deepEqual(again(form, told), told);
      t.false(form.write({ ...told, newSlabs: [[1, new SharedArrayBuffer(8)]] }, []));
      t.false(form.write({ ...told, unreadable: [] }, []));
    }),
    { numRuns: casesOf(300) },
  );
});
