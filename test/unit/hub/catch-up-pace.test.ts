// Rendered chunks of watchers that catch up, a few in a turn of the event loop.
import test from 'ava';
import { CatchUpPace } from '../../../actors/hub/watches/catch-up-pace.ts';

/** A pace whose turns the test begins, over a clock that moves on by `chunkMs` with each chunk. */
function rig(chunkMs: number) {
  const turns: (() => void)[] = [];
  const sent: number[] = [];
  let nowMs = 0;
  const pace = new CatchUpPace({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    timers: {
      after: () => ({ cancel: () => {} }),
      every: () => ({ cancel: () => {} }),
      soon: (f) => void turns.push(f),
    },
    next: (watcher) => {
      sent.push(watcher);
      nowMs += chunkMs;
    },
  });
  return { pace, turns, sent };
}

test('long chunks of several watchers go out one in a turn, each watcher in its turn', (t) => {
  const { pace, turns, sent } = rig(100);
  for (const watcher of [1, 2, 3]) pace.due(watcher);
  t.deepEqual(sent, [], 'never at once');
  t.is(turns.length, 1);
  turns[0]!();
  t.deepEqual(sent, [1]);
  pace.due(1);
  turns[1]!();
  turns[2]!();
  turns[3]!();
  t.deepEqual(sent, [1, 2, 3, 1]);
  t.is(turns.length, 4);
});

test('short chunks share a turn', (t) => {
  const { pace, turns, sent } = rig(1);
  for (const watcher of [1, 2, 3]) pace.due(watcher);
  turns[0]!();
  t.deepEqual(sent, [1, 2, 3]);
  t.is(turns.length, 1);
  pace.due(4);
  turns[1]!();
  t.deepEqual(sent, [1, 2, 3, 4]);
});
