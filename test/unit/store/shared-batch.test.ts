// What goes into a batch of a store that shares its engine, what waits, and what is refused by what is known.
import test from 'ava';
import type { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import { VersionNumbers } from '../../../actors/store/log/version-numbers.ts';
import { EXPECT_ANY, type Operation, type Transaction } from '../../../actors/store/protocol.ts';
import type { PendingCommit } from '../../../actors/store/sequencing/pending-commits.ts';
import {
  type BatchParts,
  type Candidate,
  groupAt,
  SharedBatch,
} from '../../../actors/store/sequencing/shared-batch.ts';
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';
import { readStoredValue } from '../../../storage/forms/stored-value.ts';

const REVISION = 50;
/** The version of what was written at place 0 of a revision of the engine. */
const at = (engineRevision: number): number => engineRevision * REVISION_STRIDE;

const put = (key: string, expect = 0): Operation => {
  return {
    key,
    expect,
    valueOffset: 0,
    valueLength: 1,
    revisionOffset: 0,
    itemOffset: 0,
    attributes: '',
    schemaGeneration: 1,
  };
};
const MESSAGE = { message: { payload: new Uint8Array(1) } } as unknown as PendingCommit;

function candidate(transaction: Transaction, more: Partial<Candidate> = {}): Candidate {
  return { commit: MESSAGE, index: 0, transaction, isFresh: false, tries: 0, ...more };
}

const writing = (key: string, expect = 0): Candidate => candidate({ operations: [put(key, expect)] });

/** Those behind the first of its message. */
function group(first: Candidate, ...behind: readonly Candidate[]): [Candidate, ...Candidate[]] {
  return [
    first,
    ...behind.map((one, index) => ({
      ...one,
      index: index + 1,
      transaction: { ...one.transaction, isBehindFirst: true },
    })),
  ];
}

/** `known`: at which revision of the engine each key was written, as far as this store knows. */
function batch(known: Readonly<Record<string, number>> = {}, more: Partial<BatchParts> = {}): SharedBatch {
  const records = Object.entries(known).map(([key, revision]) => [key, { revision: at(revision), bornRevision: 1 }]);
  const log = { revision: at(REVISION), current: new Map(records as [string, object][]) } as unknown as RevisionLog;
  return new SharedBatch({
    log,
    numbers: new VersionNumbers(0),
    media: 'json',
    encryption: undefined,
    limits: { operations: 10_000, bytes: 10_000_000 },
    remains: new Map(),
    unreadable: new Map(),
    written: new Set(),
    contendedAs: (key) => key,
    ...more,
  });
}

test('what does not hold by what is known is refused only where it cannot hold by now', (t) => {
  const refused = { ok: false, key: 'k' };
  const fresh = { isFresh: true };
  for (const [known, expect, reason] of [
    [{ k: 8 }, at(5), 'changed'],
    // It may have been removed since, made, or written by somebody of whom nothing has been told yet.
    [{ k: 8 }, 0, 'exists'],
    [{}, at(8), 'missing'],
    [{ k: 5 }, at(8), 'changed'],
  ] as const) {
    const isCertain = expect > 0 && (known as { k?: number }).k === 8;
    const verdict = batch(known).add(writing('k', expect));
    if (isCertain) t.like(verdict, { ...refused, reason });
    else t.is(verdict, 'barrier');
    t.like(batch(known).add({ ...writing('k', expect), ...fresh }), { ...refused, reason });
  }
  const guarded = candidate({ operations: [put('a')], guards: [{ key: 'k', expect: at(5) }] });
  t.like(batch({ k: 8 }).add(guarded), { ...refused, reason: 'guard' });
});

test('what writes nothing is answered by a state that is as new as what was acknowledged before', (t) => {
  const reading = candidate({ operations: [], guards: [{ key: 'k', expect: at(8) }] });
  t.is(batch({ k: 8 }).add(reading), 'barrier');
  t.deepEqual(batch({ k: 8 }).add({ ...reading, isFresh: true }), { ok: true, revision: at(REVISION), places: [] });
  t.deepEqual(batch().add(candidate({ operations: [] })), { ok: true, revision: at(REVISION), places: [] });
});

test('what waits for another is not overtaken by what names a key of it', (t) => {
  const one = batch({}, { written: new Set(['under way']) });
  t.is(one.add(candidate({ operations: [put('under way'), put('a')] })), 'later');
  t.is(one.add(writing('a')), 'later');
  t.is(one.add(candidate({ operations: [put('b')], guards: [{ key: 'a', expect: 0 }] })), 'later');
  t.is(one.add(writing('c')), 'sent');
  t.is(one.add(writing('c')), 'later');
});

test('a guard is a condition of the engine, unless anything is right', (t) => {
  const one = batch({ g: 7 });
  const guards = [
    { key: 'g', expect: at(7) },
    { key: 'any', expect: EXPECT_ANY },
    { key: 'absent', expect: 0 },
  ];
  t.is(one.add(candidate({ operations: [put('a')], guards })), 'sent');
  t.deepEqual(one.entries[0]!.shared.guards, [
    { key: 'g', revision: 7 },
    { key: 'absent', revision: 0 },
  ]);
});

test('an object that goes with its last change takes two places of those that a revision has', (t) => {
  const one = batch();
  const dying = (key: string): Candidate => candidate({ operations: [put(key)], thenRemoves: [key] });
  const count = (REVISION_STRIDE - 4) / 2;
  for (let number = 0; number < count; number++) t.is(one.add(dying(`k${number}`)), 'sent');
  t.deepEqual(
    one.entries.map(({ place }) => place),
    Array.from({ length: count }, (_, number) => 2 * number),
  );
  t.is(one.add(writing('a')), 'sent');
  t.is(one.add(dying('b')), 'later', 'there is one place left');
  t.is(one.add(writing('c')), 'sent');
  t.is(one.add(writing('d')), 'later');
});

test('what is gone is swept where there is room beside the largest transaction, but for what is written', (t) => {
  const remains = new Map([
    ['a', 3],
    ['gone1', 4],
    ['gone2', 5],
    ['gone3', 6],
    ['gone4', 7],
  ]);
  const one = batch({}, { remains, limits: { operations: 6, bytes: 10_000 } });
  t.is(one.add(candidate({ operations: [put('a'), put('b')] })), 'sent');
  t.deepEqual(
    one.entries[0]!.shared.writes.map(({ key, expect }) => [key, expect]),
    [
      ['a', 3],
      ['b', 0],
    ],
  );
  t.deepEqual(
    one.sweep().flatMap(({ writes }) => writes),
    [
      { key: 'gone1', expect: 4, value: undefined },
      { key: 'gone2', expect: 5, value: undefined },
    ],
  );
});

test('what is behind the first is taken with it from its own message alone', (t) => {
  const other = { ...MESSAGE };
  const [first, second] = group(writing('a'), writing('b'));
  const [, third] = group({ ...writing('c'), commit: other }, { ...writing('d'), commit: other });
  const waiting = [first, second!, third!, writing('e')];
  t.deepEqual(
    [0, 2, 3].map((from) => groupAt(waiting, from).length),
    [2, 1, 1],
  );
});

test('a group is judged as a whole by a state that may be old', (t) => {
  const both = ['barrier', 'barrier'];
  t.deepEqual(batch({ a: 8 }).addTogether(group(writing('a'), writing('b'))), both, 'the first may be free by now');
  t.deepEqual(batch({ b: 8 }).addTogether(group(writing('a'), writing('b'))), both, 'the second may be');
  const [late, behind] = batch({ a: 8 }).addTogether(group(writing('a', at(5)), writing('b')));
  t.like(late, { ok: false, reason: 'changed', key: 'a' });
  t.like(behind, { ok: false, reason: 'guard', key: 'a' });
});

test('a group goes into one batch, and what has no room even there begins again', (t) => {
  const limits = { operations: 7, bytes: 10_000 };
  const three = (): [Candidate, ...Candidate[]] => group(writing('a'), writing('b'), writing('c'));
  const used = batch({}, { limits });
  for (const key of ['x', 'y', 'z']) t.is(used.add(writing(key)), 'sent');
  t.deepEqual(used.addTogether(three()), ['later', 'later', 'later']);
  t.is(used.add(writing('b')), 'later', 'which it is not to be overtaken by either');
  t.false(used.isFull);
  const shared = batch({}, { limits });
  t.is(shared.add(writing('x')), 'sent');
  t.deepEqual(shared.addTogether(three()), ['sent', 'sent', 'sent'], 'there is room beside others');
  const empty = batch({}, { limits });
  t.deepEqual(empty.addTogether(three()), ['sent', 'sent', 'sent']);
  t.deepEqual(
    empty.entries.map(({ shared }) => shared.guards),
    [[], [{ key: 'a', revision: 0 }], [{ key: 'a', revision: 0 }]],
  );
  const small = batch({}, { limits: { operations: 4, bytes: 10_000 } });
  const [first, second, third] = small.addTogether(three());
  t.deepEqual([first, second], ['sent', 'sent']);
  t.like(third, { ok: false, reason: 'changed', key: 'c', currentRevision: 0 });
});

test('a group of which one names what a batch under way writes waits as a whole', (t) => {
  const one = batch({}, { written: new Set(['b']) });
  t.deepEqual(one.addTogether(group(writing('a'), writing('b'))), ['later', 'later']);
  t.is(one.add(writing('a')), 'later', 'and is not overtaken');
});

test('of a value that cannot be read who expects none learns that it is there, and nobody else is served', (t) => {
  const told = { key: 'k', path: '/k', why: 'it is damaged', since: 1, isKnown: true };
  const unreadable = new Map([['k', told]]);
  const judged = (...behind: readonly Candidate[]) => {
    const [first, ...others] = behind.map((one): Candidate => ({ ...one, isFresh: true }));
    const one = batch({ k: 8 }, { unreadable });
    return others.length === 0 ? one.add(first!) : one.addTogether(group(first!, ...others));
  };
  const refused = { ok: false, key: 'k', currentRevision: at(8), why: 'it is damaged' } as const;
  t.deepEqual(judged(writing('k')), { ...refused, reason: 'exists' });
  t.deepEqual(judged(writing('k', at(8))), { ...refused, reason: 'unreadable' });
  const removing = candidate({ operations: [{ key: 'k', expect: 0, delete: true }] });
  t.deepEqual(judged(removing), { ...refused, reason: 'unreadable' });
  const guarded = candidate({ operations: [put('a')], guards: [{ key: 'k', expect: 0 }] });
  t.deepEqual(judged(guarded), { ...refused, reason: 'unreadable' });
  t.is(judged(writing('a')), 'sent');
  t.deepEqual(judged(guarded, writing('b')), [
    { ...refused, reason: 'unreadable' },
    { ...refused, reason: 'unreadable' },
  ]);
  t.deepEqual(judged(writing('k'), writing('b')), [
    { ...refused, reason: 'exists' },
    { ...refused, reason: 'guard' },
  ]);
});

test('what is behind the first holds by what the first does: by its guards as well', (t) => {
  const one = batch({ g: 7 });
  const first = candidate({ operations: [put('a')], guards: [{ key: 'g', expect: at(7) }] });
  const second = candidate({ operations: [put('b')], guards: [{ key: 'absent', expect: 0 }] });
  t.deepEqual(one.addTogether(group(first, second)), ['sent', 'sent']);
  const conditions = [
    { key: 'g', revision: 7 },
    { key: 'a', revision: 0 },
  ];
  t.deepEqual(one.entries[1]!.shared.guards, [...conditions, { key: 'absent', revision: 0 }]);
});

test('of a group what names a key that one before it writes begins again, and takes no name away from others', (t) => {
  const [, guarded, changed, other, free] = batch().addTogether(
    group(
      writing('a'),
      candidate({ operations: [put('b')], guards: [{ key: 'a', expect: 0 }] }),
      candidate({ operations: [put('c'), put('a')] }),
      candidate({ operations: [put('b'), put('c')] }),
      candidate({ operations: [put('d')], guards: [{ key: 'e', expect: 0 }] }),
    ),
  );
  for (const verdict of [guarded, changed]) t.like(verdict, { ok: false, reason: 'changed', key: 'a' });
  t.deepEqual([other, free], ['sent', 'sent']);
  const known = batch({ a: 8 }).addTogether(group(writing('a', at(8)), writing('a', at(8))));
  t.deepEqual(known, ['sent', { ok: false, reason: 'changed', key: 'a', currentRevision: at(8) }]);
});

test('the conditions of what is behind the first count for what comes after the group', (t) => {
  const limits = { operations: 4, bytes: 10_000 };
  const one = batch({}, { limits });
  t.deepEqual(one.addTogether(group(writing('a'), writing('b'))), ['sent', 'sent']);
  t.is(one.add(writing('c')), 'later');
  const guarded = batch({}, { limits });
  const guards = ['x', 'y'].map((key) => ({ key, expect: 0 }));
  t.is(guarded.add(candidate({ operations: [put('a')], guards })), 'sent');
  t.is(guarded.add(writing('b')), 'later');
});

test('removals take room as well, and of bytes what they say', (t) => {
  const removing = (key: string, engineRevision: number): Candidate =>
    candidate({ operations: [{ key, expect: at(engineRevision), delete: true }] });
  const one = batch({ a: 3, b: 4, c: 5 }, { limits: { operations: 100, bytes: 400 } });
  t.deepEqual(
    [one.add(removing('a', 3)), one.add(removing('b', 4)), one.add(removing('c', 5))],
    ['sent', 'sent', 'later'],
  );
});

test('where a revision is a version a batch is of one, and holds up who contends for the same', (t) => {
  const contendedAs = (key: string): string => (key.startsWith('range/') ? 'ranges' : key);
  const written = new Set<string>();
  const one = batch({}, { numbers: new VersionNumbers(0, 1), written, contendedAs });
  t.false(one.isFull);
  t.is(one.add(candidate({ operations: [put('a'), put('range/1')] })), 'sent');
  t.true(one.isFull);
  t.deepEqual(one.names, ['a', 'ranges']);
  const next = batch({}, { numbers: new VersionNumbers(0, 1), written: new Set(one.names), contendedAs });
  t.is(next.add(writing('range/2')), 'later');
  t.is(next.add(writing('b')), 'sent');
  t.is(next.add(writing('c')), 'later');
});

test('where a revision is a version an object goes with its last change in one removal, which says what it was then', (t) => {
  const one = batch({}, { numbers: new VersionNumbers(0, 1) });
  t.is(one.add(candidate({ operations: [put('a'), put('stays')], thenRemoves: ['a'] })), 'sent');
  const [gone, stays] = one.entries[0]!.shared.writes;
  t.like(gone, { key: 'a', expect: 0, value: undefined });
  t.is(readStoredValue('a', gone!.last!)?.bornRevision, 0);
  t.is(stays!.last, undefined);
  t.is(readStoredValue('stays', stays!.value!)?.revision, 0);
});
