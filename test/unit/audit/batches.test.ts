// How audit events become batches for a backend that nobody waits for.
import test from 'ava';
import { Batches, type BatchLimits, throttleOfOne } from '../../../actors/audit/batches.ts';
import type { AuditEvent } from '../../../api/audit/event.ts';

const MIB = 1024 * 1024;
const LIMITS: BatchLimits = { bufferMax: 10, batchMax: 3, waitMs: 0, throttle: undefined, underWayMax: 1 };

const eventsOf = (ids: string): readonly AuditEvent[] =>
  [...ids].map((auditID) => ({ request: { auditID } }) as AuditEvent);

/** A backend that answers as `answer` does, and what it was sent, a text a batch. */
function harness(
  limits: Partial<BatchLimits>,
  answer: () => Promise<void> | undefined = () => undefined,
  isImmediate = false,
) {
  const sent: string[] = [];
  const state = { timers: 0, dropped: 0, failed: 0, nowMs: 0, delayMs: 0, fire: (): void => {} };
  const batches = new Batches({
    sink: {
      name: 'log',
      isImmediate,
      write(events) {
        sent.push(events.map(({ request }) => request.auditID).join(''));
        return answer();
      },
      close: () => Promise.resolve(),
    },
    limits: { ...LIMITS, ...limits },
    heapBytesMax: 64 * MIB,
    clock: { monotonicMs: () => state.nowMs },
    timers: {
      after(delayMs, callback) {
        state.timers++;
        state.delayMs = delayMs;
        state.fire = callback;
        return { cancel: () => {} };
      },
    },
    onOverflow: () => state.dropped++,
    onFailed: (count) => {
      state.failed += count;
    },
  });
  return { batches, sent, state };
}

const none = (): number => 0;

test('audit events that came together are written in the turn they came in, where none has to wait for more', (t) => {
  const { batches, sent, state } = harness({});
  batches.add(eventsOf('abcdefgh'), none);
  t.deepEqual(sent, ['abc', 'def', 'gh']);
  t.is(state.timers, 0);
});

test('a batch of audit events that may wait for more does', async (t) => {
  const { batches, sent, state } = harness({ waitMs: 1000 });
  batches.add(eventsOf('abcd'), none);
  batches.add(eventsOf('e'), none);
  t.deepEqual(sent, ['abc']);
  t.is(state.timers, 1);
  await batches.flush();
  t.deepEqual(sent, ['abc', 'de']);
});

test('audit events that come while a batch is under way wait for it, as many as there is room for', async (t) => {
  const ends: (() => void)[] = [];
  const { batches, sent, state } = harness({ bufferMax: 4 }, () => new Promise((resolve) => ends.push(resolve)));
  batches.add(eventsOf('abcdefghi'), none);
  t.deepEqual(sent, ['abc']);
  t.is(state.dropped, 2);
  const flushed = batches.flush();
  for (let ended = 0; ended < 3; ended++) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await flushed;
  t.deepEqual(sent, ['abc', 'def', 'g']);
});

test('a batch of audit events becomes full in a buffer that is smaller than it, and none of them is lost', async (t) => {
  const { batches, sent, state } = harness({ bufferMax: 1, waitMs: 1000 });
  for (const id of 'abcdefgh') batches.add(eventsOf(id), none);
  t.deepEqual(sent, ['abc', 'def']);
  t.is(state.dropped, 0);
  await batches.flush();
  t.deepEqual(sent, ['abc', 'def', 'gh']);
});

test('audit events that a backend does not take are counted, at once or later, and those after them are sent', async (t) => {
  const answers = [
    () => {
      throw new Error('full');
    },
    () => Promise.reject(new Error('gone')),
    () => Promise.resolve(),
  ];
  const { batches, sent, state } = harness({}, () => answers.shift()!());
  batches.add(eventsOf('abcdefgh'), none);
  await batches.flush();
  t.deepEqual(sent, ['abc', 'def', 'gh']);
  t.is(state.failed, 6);
});

test('a backend that takes audit events at once is given the batches that may go together, and no more of them', async (t) => {
  const together = harness({ batchMax: 1 }, undefined, true);
  together.batches.add(eventsOf('abcdefgh'), none);
  t.deepEqual(together.sent, ['abcdefgh']);
  const throttled = harness({ batchMax: 2, throttle: { perSecond: 1, burst: 3 } }, undefined, true);
  throttled.batches.add(eventsOf('abcdefgh'), none);
  t.deepEqual(throttled.sent, ['abcdef']);
  t.is(throttled.state.timers, 1);
  await throttled.batches.flush();
  t.deepEqual(throttled.sent, ['abcdef', 'gh']);
  const few = harness({ batchMax: 2, throttle: { perSecond: 1, burst: 3 } }, undefined, true);
  for (const ids of ['ab', 'cd', 'ef']) few.batches.add(eventsOf(ids), none);
  t.deepEqual(few.sent, ['ab', 'cd', 'ef'], 'what was not sent has cost no throttle');
});

test('audit events with large bodies wait as far as there is room for them on the heap, and again when some have been taken', async (t) => {
  const ends: (() => void)[] = [];
  const limits = { bufferMax: 100, batchMax: 1 };
  const { batches, sent, state } = harness(limits, () => new Promise((resolve) => ends.push(resolve)));
  const large = (): number => 30 * MIB;
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  batches.add(eventsOf('a'), none);
  batches.add(eventsOf('bcd'), large);
  t.is(state.dropped, 1);
  await end();
  batches.add(eventsOf('e'), large);
  t.is(state.dropped, 2, 'one that is under way is still there');
  await end();
  batches.add(eventsOf('fg'), large);
  t.is(state.dropped, 3);
  const flushed = batches.flush();
  for (let ended = 0; ended < 3; ended++) await end();
  await flushed;
  t.deepEqual(sent, ['a', 'b', 'c', 'f']);
});

test('after a batch of audit events that was sent for its age the next waits as long', (t) => {
  const { batches, sent, state } = harness({ waitMs: 1000 });
  batches.add(eventsOf('a'), none);
  state.fire();
  batches.add(eventsOf('b'), none);
  t.deepEqual(sent, ['a']);
  t.is(state.timers, 2);
  state.fire();
  t.deepEqual(sent, ['a', 'b']);
});

test('after a rest as many batches of audit events go at once as the burst says, however long it was', (t) => {
  const { batches, sent, state } = harness({ batchMax: 1, throttle: { perSecond: 10, burst: 2 } });
  batches.add(eventsOf('abc'), none);
  t.deepEqual(sent, ['a', 'b']);
  state.nowMs += 3_600_000;
  batches.add(eventsOf('def'), none);
  t.deepEqual(sent, ['a', 'b', 'c', 'd']);
  state.nowMs += 100;
  state.fire();
  t.deepEqual(sent, ['a', 'b', 'c', 'd', 'e']);
});

test('threads that send audit events to one backend keep to its throttle together', (t) => {
  t.deepEqual(throttleOfOne([10, 16], 4), { perSecond: 2.5, burst: 4 });
  t.deepEqual(throttleOfOne([10, 15], 1), { perSecond: 10, burst: 15 });
  t.deepEqual(throttleOfOne([10, 1], 4), { perSecond: 2.5, burst: 1 }, 'a share that lets nothing go would be none');
});

test('a batch of audit events that is throttled goes when its time has come, and each behind it has its own', (t) => {
  const { batches, sent, state } = harness({ batchMax: 1, throttle: { perSecond: 4, burst: 1 } });
  batches.add(eventsOf('abcd'), none);
  t.deepEqual(sent, ['a']);
  t.is(state.delayMs, 250);
  state.nowMs += 150;
  batches.add(eventsOf('e'), none);
  t.is(state.timers, 1, 'it waits already');
  state.nowMs += 100;
  state.fire();
  t.deepEqual(sent, ['a', 'b']);
  t.deepEqual([state.timers, state.delayMs], [2, 250]);
  // Told too early, it waits for the rest.
  state.nowMs += 50;
  state.fire();
  t.deepEqual(sent, ['a', 'b']);
  t.is(state.delayMs, 200);
  state.nowMs += 200;
  state.fire();
  t.deepEqual(sent, ['a', 'b', 'c']);
});

test('audit events that are flushed are not throttled', async (t) => {
  const { batches, sent } = harness({ batchMax: 1, throttle: { perSecond: 1, burst: 1 } });
  batches.add(eventsOf('abc'), none);
  await batches.flush();
  t.deepEqual(sent, ['a', 'b', 'c']);
});

test('no more than sixty-four batches of one audit event are written together', (t) => {
  const { batches, sent } = harness({ batchMax: 1, bufferMax: 1000 }, undefined, true);
  batches.add(eventsOf('a'.repeat(130)), none);
  t.deepEqual(
    sent.map((text) => text.length),
    [64, 64, 2],
  );
});
