// What the log says of writes that fail again and again.
import test from 'ava';
import { FailureLines } from '../../../actors/controllers/failure-lines.ts';
import type { ActorContext } from '../../../runtime/actor.ts';

/** The lines of a controller, and a clock that a test sets. */
function linesOf() {
  const said: Record<string, unknown>[] = [];
  const log = { warn: (line: Record<string, unknown>) => said.push(line), debug: () => {} };
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const lines = new FailureLines({ clock, log } as unknown as Pick<ActorContext, 'clock' | 'log'>, 'test');
  return { said, clock, lines };
}

test('a key that fails again and again is reported ever more seldom', (t) => {
  const { said, clock, lines } = linesOf();
  for (let failures = 1; failures <= 1000; failures++) {
    clock.nowMs += 1000;
    lines.failed('a', failures, 'no room');
  }
  t.deepEqual(
    said.map(({ failures }) => failures),
    [5, 10, 20, 40, 80, 160, 320, 640],
  );
  t.like(said[0], { controller: 'test', key: 'a', message: 'no room' });
});

test('of thousands of keys that fail at once few are reported, and how many more there were', (t) => {
  const { said, clock, lines } = linesOf();
  for (let key = 0; key < 5000; key++) lines.failed(`k${key}`, 5, 'no room');
  t.is(said.length, 10);
  clock.nowMs += 10_000;
  lines.failed('late', 5, 'no room');
  t.like(said.at(-1), { key: 'late', leftOut: 4990 });
  t.is(said.length, 11);
});
