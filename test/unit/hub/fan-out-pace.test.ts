// The ends of a hub's turns: at once after short fan-outs, later after long ones, and never twice for one thing.
import test from 'ava';
import { FanOutPace } from '../../../actors/hub/watches/fan-out-pace.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

/** A pace whose fan-outs keep the thread for `takesMs` each, and when they began. */
function paced(isSomethingSent = true) {
  const timers = new VirtualTime();
  let workedMs = 0;
  const monotonicMs = (): number => timers.monotonicMs() + workedMs;
  const began: number[] = [];
  const run = { takesMs: 0 };
  const fanOut = (): boolean => {
    began.push(monotonicMs());
    workedMs += run.takesMs;
    return isSomethingSent;
  };
  const behind: number[] = [];
  const clock = { nowMs: () => timers.nowMs(), monotonicMs };
  const pace = new FanOutPace({ clock, timers, fanOut, behind: () => void behind.push(began.length) });
  /** Others keep the thread. */
  const spend = (ms: number): void => {
    workedMs += ms;
  };
  return { timers, began, behind, run, pace, spend, monotonicMs };
}

test('what comes in one turn goes out once, behind the turn', async (t) => {
  const { timers, began, pace } = paced();
  pace.due();
  pace.due();
  t.deepEqual(began, []);
  await timers.runUntilIdle();
  t.deepEqual(began, [0]);
});

test('after a short fan-out the next follows without a wait', async (t) => {
  const { timers, began, run, pace } = paced();
  run.takesMs = 1;
  for (let turn = 0; turn < 3; turn++) {
    pace.due();
    await timers.runUntilIdle();
  }
  t.is(began.length, 3);
});

test('after a long fan-out what comes meanwhile shares one, a quarter of its time later', async (t) => {
  const { timers, began, run, pace } = paced();
  run.takesMs = 20;
  pace.due();
  await timers.runUntilIdle();
  pace.due();
  await timers.runUntilIdle();
  pace.due();
  t.deepEqual(began, [0], 'the thread is left to others first');
  await timers.advance(4.5);
  pace.due();
  t.is(began.length, 1);
  await timers.advance(0.5);
  t.deepEqual(began, [0, 25]);
  await timers.advance(1000);
  t.is(began.length, 2, 'nothing is left to send');
});

test('the rest after a very long fan-out is bounded, and over when nothing came in it', async (t) => {
  const { timers, began, run, pace, monotonicMs } = paced();
  run.takesMs = 1000;
  pace.due();
  await timers.runUntilIdle();
  pace.due();
  await timers.advance(10);
  t.deepEqual(began, [0, 1010]);
  await timers.advance(10);
  const nowMs = monotonicMs();
  pace.due();
  await timers.runUntilIdle();
  t.deepEqual(began, [0, 1010, nowMs]);
});

test('what comes while a long fan-out is being sent waits for the rest as well', async (t) => {
  const { timers, began, run, pace } = paced();
  run.takesMs = 20;
  pace.due();
  // A commit that ended meanwhile is heard of before the turn that tells how long the sends took.
  timers.soon(() => pace.due());
  await timers.runUntilIdle();
  t.deepEqual(began, [0]);
  await timers.advance(5);
  t.deepEqual(began, [0, 25]);
});

test('what comes while a short fan-out is being sent goes out in the next turn', async (t) => {
  const { timers, began, run, pace } = paced();
  run.takesMs = 1;
  pace.due();
  timers.soon(() => pace.due());
  await timers.runUntilIdle();
  t.deepEqual(began, [0, 1]);
});

test('a fan-out that had nothing to send is followed by no rest', async (t) => {
  const { timers, began, run, pace } = paced(false);
  run.takesMs = 20;
  pace.due();
  await timers.runUntilIdle();
  pace.due();
  await timers.runUntilIdle();
  t.is(began.length, 2);
});

test('what comes goes out within the turn where fan-outs are short, and what is done behind them follows', async (t) => {
  const { timers, began, behind, run, pace } = paced();
  run.takesMs = 1;
  pace.came();
  t.deepEqual([began, behind], [[0], []]);
  await timers.runUntilIdle();
  t.is(behind.length, 1);
});

test('what comes after a long fan-out waits for the rest, whichever way that one went', async (t) => {
  const { timers, began, run, pace } = paced();
  run.takesMs = 20;
  pace.came();
  t.deepEqual(began, [0]);
  pace.came();
  await timers.runUntilIdle();
  t.is(began.length, 1);
  await timers.advance(5);
  t.deepEqual(began, [0, 25]);
});

test('where fan-outs are long, none is within the turn, however long the pause before it', async (t) => {
  const { timers, began, run, pace } = paced();
  run.takesMs = 20;
  pace.came();
  await timers.advance(1000);
  for (let round = 0; round < 2; round++) {
    const before = began.length;
    pace.came();
    t.is(began.length, before);
    await timers.advance(1000);
    t.is(began.length, before + 1);
  }
  run.takesMs = 1;
  pace.came();
  await timers.advance(1000);
  const before = began.length;
  pace.came();
  t.is(began.length, before + 1, 'the last one was short');
});

test('what keeps the thread beside a short fan-out does not make it a long one', async (t) => {
  const { timers, began, run, pace, spend } = paced();
  run.takesMs = 1;
  pace.due();
  timers.soon(() => spend(20));
  await timers.runUntilIdle();
  t.is(began.length, 1);
  pace.came();
  t.is(began.length, 2);
});

test('what comes while a fan-out waits goes out with that one', async (t) => {
  const { timers, began, pace } = paced();
  pace.due();
  pace.came();
  t.deepEqual(began, []);
  await timers.runUntilIdle();
  t.deepEqual(began, [0]);
});
