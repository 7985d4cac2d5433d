// How long a thread that failed again and again waits for its next start.
import test from 'ava';
import { Backoff, RESTART_BACKOFF } from '../../../runtime/threads/backoff.ts';

test('each failure doubles the wait, up to ten seconds, and a minute of health forgets them all', (t) => {
  const backoff = new Backoff(RESTART_BACKOFF);
  const waits = Array.from({ length: 9 }, () => backoff.nextDelayMs(59_999));
  t.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  t.is(backoff.nextDelayMs(60_000), 100);
  t.is(backoff.nextDelayMs(0), 200);
});

test('however often a thread has failed, its wait is a time', (t) => {
  const backoff = new Backoff({ firstMs: 1, maxMs: Number.MAX_VALUE, healthyMs: 1 });
  for (let failures = 0; failures < 2000; failures++) backoff.nextDelayMs(0);
  t.is(backoff.nextDelayMs(0), 2 ** 30);
});
