// The rounds find what they are told to look for: each way in which a server could break its word is noticed.
import test from 'ava';
import type { ApiObject } from '../server/https-client.ts';
import type { WatchEvent } from '../server/watch-stream.ts';
import { annotationsOf, FILL, KnownObject } from './known-object.ts';
import { SharedCounter } from './shared-counter.ts';

const object = (token: string, version: number, annotations = annotationsOf(token)): ApiObject => ({
  metadata: { name: 'one', resourceVersion: String(version), annotations },
});
const event = (type: WatchEvent['type'], token: string, version: number): WatchEvent => ({
  type,
  object: object(token, version),
});

/** Acknowledged: created at 5, changed at 7. */
function changed(): KnownObject {
  const known = new KnownObject('one');
  known.acknowledge({ token: 'a', version: 5 });
  known.acknowledge({ token: 'b', version: 7 });
  return known;
}

const STORED: readonly (readonly [
  what: string,
  open: { readonly token: string | undefined } | undefined,
  stored: ApiObject | undefined,
  sign: RegExp | undefined,
])[] = [
  ['what was acknowledged is right', undefined, object('b', 7), undefined],
  ['an acknowledged change that is gone is found', undefined, object('a', 5), /acknowledged as b at 7/],
  ['an acknowledged object that is gone is found', undefined, undefined, /is absent/],
  ['an acknowledged change under another version is found', undefined, object('b', 8), /is b at 8/],
  ['a change that nobody asked for is found', undefined, object('x', 9), /is x at 9/],
  ['an object that is there in part is found', undefined, object('b', 7, { token: 'b', [FILL]: 'b' }), /not whole/],
  ['an unanswered change may have happened', { token: 'c' }, object('c', 8), undefined],
  ['an unanswered change may not have happened', { token: 'c' }, object('b', 7), undefined],
  ['an unanswered change with an earlier version is found', { token: 'c' }, object('c', 6), /went back/],
  ['an unanswered deletion may have happened', { token: undefined }, undefined, undefined],
];

for (const [what, open, stored, sign] of STORED) {
  test(what, (t) => {
    const known = changed();
    known.open = open;
    const problem = known.settle(stored);
    if (sign === undefined) t.is(problem, undefined);
    else t.regex(problem ?? '', sign);
  });
}

test('an object that is back after an acknowledged deletion is found', (t) => {
  const known = changed();
  known.acknowledge({ token: undefined, version: undefined });
  t.regex(known.settle(object('b', 7)) ?? '', /acknowledged as absent/);
});

const SEEN: readonly (readonly [what: string, events: readonly WatchEvent[], sign: RegExp | undefined])[] = [
  ['a watch that saw each change once is right', [event('ADDED', 'a', 5), event('MODIFIED', 'b', 7)], undefined],
  ['a watch that missed the last change is found', [event('ADDED', 'a', 5)], /did not see one as b at 7/],
  ['a watch that missed the first change is found', [event('MODIFIED', 'b', 7)], /where ADDED a at 5 was due/],
  [
    'a watch that saw a change twice is found',
    [event('ADDED', 'a', 5), event('ADDED', 'a', 5), event('MODIFIED', 'b', 7)],
    /where MODIFIED b at 7 was due/,
  ],
  [
    'a watch that saw a change that is gone is found',
    [event('ADDED', 'a', 5), event('MODIFIED', 'b', 7), event('MODIFIED', 'c', 8)],
    /unexpectedly/,
  ],
  ['an event of the wrong type is found', [event('ADDED', 'a', 5), event('DELETED', 'b', 7)], /where MODIFIED/],
];

for (const [what, events, sign] of SEEN) {
  test(what, (t) => {
    const problem = changed().checkEvents(events);
    if (sign === undefined) t.is(problem, undefined);
    else t.regex(problem ?? '', sign);
  });
}

test('a counter that lost an acknowledged step, or has one that nobody asked for, is found', (t) => {
  const counter = new SharedCounter(undefined as never, '');
  counter.acknowledged = 3;
  counter.open = 1;
  t.regex(counter.settle(2) ?? '', /of 3 acknowledged/);
  counter.acknowledged = 3;
  counter.open = 1;
  t.is(counter.settle(4), undefined);
  t.regex(counter.settle(5) ?? '', /of 4 acknowledged/);
});
