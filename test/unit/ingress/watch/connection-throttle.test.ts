// The allowance of a connection: what may be sent at once, how long to wait after it, and who shares it.
import test from 'ava';
import { ConnectionThrottle } from '../../../../actors/ingress/watch/connection-throttle.ts';

class Time {
  ms = 10_000;

  nowMs(): number {
    return this.ms;
  }

  monotonicMs(): number {
    return this.ms;
  }
}

test('a second of the rate goes out at once, and the rest is waited for', (t) => {
  const time = new Time();
  const throttle = new ConnectionThrottle(1000, time);
  const one = {};
  t.is(throttle.spend(one, 600), 0);
  t.is(throttle.spend(one, 400), 0);
  t.is(throttle.spend(one, 500), 500);
  t.is(throttle.spend(one, 1), 501);
  time.ms += 501;
  t.is(throttle.spend(one, 0), 0);
  t.is(throttle.spend(one, 10), 10);
});

test('over a long time no more than the rate goes out', (t) => {
  const time = new Time();
  const throttle = new ConnectionThrottle(10_000, time);
  const one = {};
  const fromMs = time.ms;
  let bytes = 0;
  for (let i = 0; i < 1000; i++) {
    const chunk = 1 + ((i * 7919) % 5000);
    bytes += chunk;
    time.ms += throttle.spend(one, chunk);
  }
  t.true(bytes <= 10_000 * (1 + (time.ms - fromMs) / 1000));
});

test('connections have allowances of their own, and exchanges of one share it', (t) => {
  const throttle = new ConnectionThrottle(1000, new Time());
  const connection = {};
  t.is(throttle.spend(connection, 1500), 500);
  t.is(throttle.spend({}, 1000), 0);
  t.is(throttle.spend(connection, 100), 600);
});
