// The checkers themselves, on histories made by hand: good ones pass, and each kind of wrong one is named.
import test from 'ava';
import { checkAnswers } from './check-answers.ts';
import { checkCommits } from './check-commits.ts';
import { checkObjects } from './check-objects.ts';
import { checkTimes, isPunctual } from './check-times.ts';
import { checkWatches } from './check-watches.ts';
import { Committed } from './committed.ts';
import { NO_FAULTS } from './faults.ts';
import type { Operation, Seen, Watch, WatchEvent } from './history.ts';
import { A, B, committedOf, get, list, seen, TYPE, version, write } from './made-by-hand.ts';

const unknown = { outcome: { is: 'unknown', code: 503 } } as const;
const ok = (tag: string, more: Partial<Seen> = {}) => ({ is: 'ok', object: seen(A, 1, tag, more) }) as const;
const refused = (code: number) => ({ outcome: { is: 'refused', code } }) as const;

const OBJECT_CASES: readonly (readonly [name: string, isGood: boolean, operations: readonly Operation[]])[] = [
  ['reads what was created', true, [write('create', [1, 2], 'x'), get([3, 4], seen(A, 1, 'x'))]],
  ['reads nothing after a creation', false, [write('create', [1, 2], 'x'), get([3, 4], 'absent')]],
  [
    'reads either during a creation',
    true,
    [write('create', [1, 9], 'x'), get([2, 3], 'absent'), get([4, 5], seen(A, 1, 'x'))],
  ],
  [
    'goes back within a creation',
    false,
    [write('create', [1, 9], 'x'), get([2, 3], seen(A, 1, 'x')), get([4, 5], 'absent')],
  ],
  [
    'a write without an answer happens late',
    true,
    [write('create', [1, Number.POSITIVE_INFINITY], 'x', unknown), get([2, 3], 'absent'), get([4, 5], seen(A, 1, 'x'))],
  ],
  [
    'a write without an answer never happens',
    true,
    [write('create', [1, Number.POSITIVE_INFINITY], 'x', unknown), get([2, 3], 'absent')],
  ],
  ['reads a write that was refused', false, [write('create', [1, 2], 'x', refused(429)), get([3, 4], seen(A, 1, 'x'))]],
  ['two creations succeed', false, [write('create', [1, 4], 'x'), write('create', [2, 3], 'y')]],
  ['a second creation is refused', true, [write('create', [1, 4], 'x'), write('create', [2, 3], 'y', refused(409))]],
  ['a creation is refused where nothing is', false, [write('create', [1, 2], 'y', refused(409))]],
  [
    'two updates of one version succeed',
    false,
    [
      write('create', [1, 2], 'x'),
      write('update', [3, 6], 'y', { expects: 'x' }),
      write('update', [4, 5], 'z', { expects: 'x' }),
    ],
  ],
  [
    'the second update of one version is refused',
    true,
    [
      write('create', [1, 2], 'x'),
      write('update', [3, 6], 'y', { expects: 'x' }),
      write('update', [4, 5], 'z', { expects: 'x', ...refused(409) }),
    ],
  ],
  [
    'an update is lost',
    false,
    [write('create', [1, 2], 'x'), write('update', [3, 4], 'y'), get([5, 6], seen(A, 1, 'x'))],
  ],
  [
    'an update brings back what was deleted',
    false,
    [write('create', [1, 2], 'x'), write('delete', [3, 4], ''), write('update', [5, 6], 'y')],
  ],
  [
    'a deletion waits for the finalizer',
    true,
    [
      write('create', [1, 2], 'x', { held: true }),
      write('delete', [3, 4], ''),
      get([5, 6], seen(A, 2, 'x', { held: true, dying: true })),
      write('update', [7, 8], 'y'),
      get([9, 10], 'absent'),
    ],
  ],
  [
    'a deletion does not wait for the finalizer',
    false,
    [write('create', [1, 2], 'x', { held: true }), write('delete', [3, 4], ''), get([5, 6], 'absent')],
  ],
  [
    'a patch takes effect once, on the state there was',
    true,
    [
      write('create', [1, 2], 'x'),
      write('patch', [3, 6], 'y', { before: 'chained' }),
      write('patch', [4, 7], 'z', { before: 'chained', outcome: ok('z', { before: 'y' }) }),
      get([8, 9], seen(A, 3, 'z', { before: 'y' })),
    ],
  ],
  [
    'a patch is lost under another that says what it was applied to',
    false,
    [
      write('create', [1, 2], 'x'),
      write('patch', [3, 6], 'y', { before: 'chained' }),
      write('patch', [4, 7], 'z', { before: 'chained' }),
      get([8, 9], seen(A, 3, 'z', { before: 'x' })),
    ],
  ],
  [
    'a patch is applied twice',
    false,
    [
      write('create', [1, 2], 'x'),
      write('patch', [3, 4], 'y', { before: 'chained' }),
      get([5, 6], seen(A, 3, 'y', { before: 'y' })),
    ],
  ],
  [
    'a patch answers with another state than it leads to',
    false,
    [write('create', [1, 2], 'x'), write('patch', [3, 4], 'y', { outcome: ok('y', { held: true }) })],
  ],
  [
    'a patch for another version is refused',
    true,
    [write('create', [1, 2], 'x'), write('patch', [3, 4], 'y', { expects: 'w', ...refused(409) })],
  ],
  [
    'a patch whose test holds is refused all the same',
    false,
    [write('create', [1, 2], 'x'), write('patch', [3, 4], 'y', { expects: 'x', ...refused(422) })],
  ],
  [
    'a patch frees the object that was to be deleted',
    true,
    [
      write('create', [1, 2], 'x', { held: true }),
      write('delete', [3, 4], ''),
      write('patch', [5, 6], 'y', { held: false }),
      get([7, 8], 'absent'),
    ],
  ],
  [
    'a patch that says nothing changes nothing',
    true,
    [write('create', [1, 2], 'x'), write('patch', [3, 4], '', { outcome: ok('x') }), get([5, 6], seen(A, 1, 'x'))],
  ],
  [
    'a dry run answers what would be and changes nothing',
    true,
    [write('create', [1, 2], 'x'), write('update', [3, 4], 'y', { dry: true }), get([5, 6], seen(A, 1, 'x'))],
  ],
  ['a dry run changes something', false, [write('create', [1, 2], 'x', { dry: true }), get([3, 4], seen(A, 1, 'x'))]],
  ['a dry run succeeds where nothing is', false, [write('delete', [1, 2], '', { dry: true })]],
  [
    'a collection is deleted, of which one is gone already',
    true,
    [write('create', [1, 2], 'x'), write('delete', [3, 6], ''), write('collect', [4, 5], ''), get([7, 8], 'absent')],
  ],
  [
    'a collection is deleted and one stays',
    false,
    [write('create', [1, 2], 'x'), write('collect', [3, 4], ''), get([5, 6], seen(A, 1, 'x'))],
  ],
  [
    'an old read is not asked to be fresh',
    true,
    [write('create', [1, 2], 'x'), get([3, 4], 'absent', { freshness: 'any' })],
  ],
];

for (const [name, isGood, operations] of OBJECT_CASES) {
  test(`single objects: ${name}: ${isGood ? 'passes' : 'is found'}`, (t) => {
    t.is(checkObjects(operations, (key) => key.startsWith(TYPE)).length, isGood ? 0 : 1);
  });
}

const TWO = committedOf([A, 'x'], [B, 'y'], [A, 'z']);
const AT_2 = [seen(A, 1, 'x'), seen(B, 2, 'y')];

const ANSWER_CASES: readonly (readonly [name: string, isGood: boolean, operations: readonly Operation[]])[] = [
  [
    'an acknowledged write is durable',
    true,
    [write('create', [1, 11], 'x', { outcome: { is: 'ok', object: seen(A, 1, 'x') } })],
  ],
  ['an acknowledged write is nowhere', false, [write('create', [1, 11], 'lost')]],
  ['a write is acknowledged before it is durable', false, [write('create', [1, 9], 'x')]],
  [
    'a write is answered with what it did not write',
    false,
    [write('create', [1, 11], 'x', { outcome: { is: 'ok', object: seen(A, 1, 'x', { text: 'other' }) } })],
  ],
  ['a deletion that no revision shows', false, [write('delete', [1, 100], '')]],
  ['a list is the state of its revision', true, [list([21, 25], 2, AT_2)]],
  ['a list mixes two revisions', false, [list([31, 35], 2, [seen(A, 3, 'z'), seen(B, 2, 'y')])]],
  ['a list leaves one out', false, [list([21, 25], 2, [seen(A, 1, 'x')])]],
  ['a list shows other bytes', false, [list([21, 25], 2, [seen(A, 1, 'x', { text: 'torn' }), seen(B, 2, 'y')])]],
  ['a list of a revision that is not durable', false, [list([11, 15], 2, AT_2)]],
  [
    'a list misses what was known',
    false,
    [list([31, 33], 3, [seen(A, 3, 'z'), seen(B, 2, 'y')]), { ...list([34, 35], 2, AT_2), client: 2 }],
  ],
  ['an exact list is of another revision', false, [list([31, 35], 2, AT_2, { freshness: 'exact', asked: 1 })]],
  ['an old list is fine for a client that knows no better', true, [list([31, 35], 2, AT_2, { freshness: 'any' })]],
  [
    'a client goes back',
    false,
    [
      list([31, 33], 3, [seen(A, 3, 'z'), seen(B, 2, 'y')], { freshness: 'any' }),
      list([34, 35], 2, AT_2, { freshness: 'any' }),
    ],
  ],
  ['a read shows the present', true, [get([31, 35], seen(A, 3, 'z'))]],
  [
    'a read shows what was over',
    false,
    [list([31, 33], 3, [seen(A, 3, 'z'), seen(B, 2, 'y')]), get([34, 35], seen(A, 1, 'x'))],
  ],
  [
    'a read does not see what is there',
    false,
    [list([31, 33], 3, [seen(A, 3, 'z'), seen(B, 2, 'y')]), get([34, 35], 'absent')],
  ],
  [
    'a client goes back at another ingress',
    false,
    [
      list([31, 32], 3, [seen(A, 3, 'z'), seen(B, 2, 'y')]),
      get([33, 34], seen(A, 1, 'x'), { freshness: 'any', front: 'ingress/1#1' }),
    ],
  ],
  ['a dry run is stored', false, [write('update', [1, 35], 'z', { dry: true })]],
  [
    'a patch without effect shows what is there',
    true,
    [write('patch', [31, 35], '', { outcome: { is: 'ok', object: seen(A, 3, 'z') } })],
  ],
  ['a read shows a revision that does not exist', false, [get([31, 35], seen(A, 9, 'q'))]],
];

for (const [name, isGood, operations] of ANSWER_CASES) {
  test(`answers: ${name}: ${isGood ? 'passes' : 'is found'}`, (t) => {
    const problems = checkAnswers({ operations, watches: [], assertions: [] }, TWO);
    t.is(problems.length > 0, !isGood, problems.join());
  });
}

const FOUR = committedOf([A, 'x'], [B, 'y'], [A, 'z'], [A, undefined]);

function event(type: string, object: Seen, chunk = 0): WatchEvent {
  return { type, object, chunk };
}

const BOOKMARK = (revision: number): WatchEvent => event('BOOKMARK', seen(`${TYPE}//`, revision, ''));
const ADDED_B = event('ADDED', seen(B, 2, 'y'), 1);
const MODIFIED_A = event('MODIFIED', seen(A, 3, 'z'), 2);
const DELETED_A = event('DELETED', seen(A, 4, 'z'), 3);

function watch(after: number | undefined, events: readonly WatchEvent[], more: Partial<Watch> = {}): Watch {
  const scope = { storageKey: TYPE, namespace: '', frontOnly: false, name: '', node: '' };
  return {
    ...scope,
    client: 1,
    front: 'f',
    opened: 15,
    least: 0,
    after,
    events,
    end: 'open',
    writesWhileFull: 0,
    look: 'whole',
    ...more,
  };
}

const WATCH_CASES: readonly (readonly [name: string, isGood: boolean, watch: Watch])[] = [
  ['everything after its revision', true, watch(1, [ADDED_B, MODIFIED_A, DELETED_A])],
  ['only its namespace', true, watch(1, [MODIFIED_A, DELETED_A], { namespace: 'a' })],
  ['an event is missing', false, watch(1, [ADDED_B, DELETED_A])],
  ['an event comes twice', false, watch(1, [ADDED_B, ADDED_B, MODIFIED_A, DELETED_A])],
  ['two events change places', false, watch(1, [MODIFIED_A, ADDED_B, DELETED_A])],
  ['the end is missing while it is open', false, watch(1, [ADDED_B, MODIFIED_A])],
  ['the end is missing after it was cut', true, watch(1, [ADDED_B, MODIFIED_A], { end: 'over' })],
  [
    'an event shows other bytes',
    false,
    watch(1, [event('ADDED', seen(B, 2, 'y', { text: 'torn' })), MODIFIED_A, DELETED_A]),
  ],
  ['an event from before', false, watch(2, [ADDED_B, MODIFIED_A, DELETED_A])],
  ['a bookmark of what has been sent', true, watch(1, [ADDED_B, BOOKMARK(2), MODIFIED_A, DELETED_A, BOOKMARK(9)])],
  ['a bookmark promises too much', false, watch(1, [ADDED_B, BOOKMARK(3), MODIFIED_A, DELETED_A])],
  ['a bookmark goes back', false, watch(1, [ADDED_B, MODIFIED_A, BOOKMARK(1), DELETED_A])],
  [
    'begins with the state and goes on',
    true,
    watch(undefined, [event('ADDED', seen(A, 1, 'x')), ADDED_B, MODIFIED_A, DELETED_A]),
  ],
  [
    'begins with a state that was over',
    false,
    watch(undefined, [event('ADDED', seen(A, 1, 'x')), ADDED_B], { least: 3, end: 'over' }),
  ],
  ['begins with a mixed state', false, watch(undefined, [event('ADDED', seen(A, 3, 'z')), MODIFIED_A])],
  ['was written to while its socket was full', false, watch(1, [ADDED_B], { end: 'over', writesWhileFull: 1 })],
];

for (const [name, isGood, seenBy] of WATCH_CASES) {
  test(`watches: ${name}: ${isGood ? 'passes' : 'is found'}`, (t) => {
    t.is(checkWatches([seenBy], FOUR).length, isGood ? 0 : 1);
  });
}

test('watches: changes of one revision that come in two chunks, or of which only one comes, are found', (t) => {
  const committed = new Committed();
  committed.note(1, A, version(A, 1, 'x'), 1);
  committed.note(1, B, version(B, 1, 'y'), 1);
  const first = event('ADDED', seen(A, 1, 'x'), 1);
  t.deepEqual(checkWatches([watch(0, [first, event('ADDED', seen(B, 1, 'y'), 1)])], committed), []);
  t.is(checkWatches([watch(0, [first, event('ADDED', seen(B, 1, 'y'), 2)])], committed).length, 1);
  t.is(checkWatches([watch(0, [first], { end: 'over' })], committed).length, 1);
});

test('commits: a pod that moves and an object that comes back are found', (t) => {
  const pod = 'core/pods/a/p';
  t.deepEqual(checkCommits(committedOf([pod, 'x'], [pod, { node: 'n0' }], [pod, { node: 'n0' }])), []);
  t.is(checkCommits(committedOf([pod, { node: 'n0' }], [pod, { node: 'n1' }])).length, 1);
  t.is(checkCommits(committedOf([pod, 'x'], [pod, undefined], [pod, 'x'])).length, 1);
  t.deepEqual(checkCommits(committedOf([pod, 'x'], [pod, undefined], [pod, { uid: 'another' }])), []);
  t.is(checkCommits(committedOf([pod, undefined])).length, 1);
});

test('a read that waits where nothing is late is named, and a write that does is not', (t) => {
  const msAt = (moment: number): number => 30 * moment;
  const operations = [get([1, 2], 'absent'), get([3, 5], 'absent'), list([6, 8], 1, []), write('create', [1, 9], 'x')];
  t.deepEqual(checkTimes({ operations, watches: [], assertions: [] }, msAt), [
    'client 1, get @3: it took 60 ms',
    'client 1, list @6: it took 60 ms',
  ]);
  t.true(isPunctual({ ...NO_FAULTS }));
  t.false(isPunctual({ ...NO_FAULTS, lagShare: 0.01 }));
});
