// The checkers of who leads, and of what holds from version to version, on histories made by hand.
import test from 'ava';
import { checkLeaders, type LeaderWord, SCHEDULER_LEASE } from './check-leaders.ts';
import { checkVersions } from './check-versions.ts';
import { A, committedOf, type Made } from './made-by-hand.ts';

const heldBy = (holder: string): Made => [SCHEDULER_LEASE, { holder }];
const other = (tag: string): Made => [A, tag];
/** Other things happen, for a second each. */
const seconds = (count: number): readonly Made[] => Array.from({ length: count }, (_, at) => other(`t${at}`));
/** Revision N is durable at moment 10 N, at second N. */
const msAt = (moment: number): number => moment * 100;
const word = (who: string, at: number): LeaderWord => ({ who, at });

const LEADERS: readonly (readonly [string, RegExp | undefined, readonly Made[], readonly LeaderWord[]])[] = [
  ['who holds the lease leads', undefined, [heldBy('x')], [word('a', 10), word('a', 25)]],
  ['who leads before anybody holds the lease', /a said .*and nobody holds the lease/, [heldBy('x')], [word('a', 9)]],
  [
    'who leads when it was given up',
    /a said .*and nobody holds the lease/,
    [heldBy('x'), heldBy('')],
    [word('a', 11), word('a', 21)],
  ],
  [
    'one leads after the other',
    undefined,
    [heldBy('x'), ...seconds(14), heldBy('y')],
    [word('a', 15), word('b', 160), word('b', 170)],
  ],
  [
    'one leads on when another has taken over',
    /a said that it leads @165, and another/,
    [heldBy('x'), ...seconds(14), heldBy('y')],
    [word('a', 15), word('b', 160), word('a', 165)],
  ],
  ['two lead by one lease', /b said .*and another/, [heldBy('x')], [word('a', 15), word('b', 16)]],
  ['one that was given up is taken at once', undefined, [heldBy('x'), heldBy(''), heldBy('y')], []],
  ['one that was removed is taken at once', undefined, [heldBy('x'), [SCHEDULER_LEASE, undefined], heldBy('y')], []],
  [
    'one is taken before it has run out',
    /was taken over at 17, 14000 ms after/,
    [heldBy('x'), other('t'), heldBy('x'), ...seconds(13), heldBy('y')],
    [],
  ],
];

for (const [name, sign, commits, words] of LEADERS) {
  test(`leaders: ${name}`, (t) => {
    const problems = checkLeaders(words, committedOf(...commits), msAt);
    if (sign === undefined) t.deepEqual(problems, []);
    else t.regex(problems.join('\n'), sign);
  });
}

const HOLD = ['example.com/hold'];
const VERSIONS: readonly (readonly [string, RegExp | undefined, readonly Made[]])[] = [
  ['an object that nobody holds goes at once', undefined, [other('t'), [A, undefined]]],
  [
    'the last to let go removes it',
    undefined,
    [
      [A, { finalizers: HOLD }],
      [A, { finalizers: HOLD, dying: true }],
      [A, undefined],
    ],
  ],
  [
    'who holds it is passed over',
    /went at 2 and \[example.com\/hold\] held it/,
    [
      [A, { finalizers: HOLD }],
      [A, undefined],
    ],
  ],
  ['it becomes another', /became another object at 2/, [other('t'), [A, { uid: 'other' }]]],
  ['it is created twice', /was created then, and at 2 later/, [other('t'), [A, { created: 'later' }]]],
  ['its deletion is taken back', /is not any more at 2/, [[A, { dying: true, finalizers: HOLD }], other('t')]],
  [
    'who comes to hold what is being deleted',
    /at 2 \[example.com\/hold\] came to hold it/,
    [
      [A, { dying: true, finalizers: ['first'] }],
      [A, { dying: true, finalizers: ['first', ...HOLD] }],
    ],
  ],
  [
    'another DELETE asks for another policy',
    undefined,
    [
      [A, { dying: true, finalizers: ['first'] }],
      [A, { dying: true, finalizers: ['first', 'foregroundDeletion'] }],
    ],
  ],
];

for (const [name, sign, commits] of VERSIONS) {
  test(`versions: ${name}`, (t) => {
    const problems = checkVersions(committedOf(...commits));
    if (sign === undefined) t.deepEqual(problems, []);
    else t.regex(problems.join('\n'), sign);
  });
}
