// A long-running answer within its connection's allowance: it is full when that is used up, and drains as time passes and
// the socket does, whichever comes last.
import test from 'ava';
import { ConnectionThrottle } from '../../../../actors/ingress/watch/connection-throttle.ts';
import { ThrottledResponse } from '../../../../actors/ingress/watch/throttled-response.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { FakeResponse } from '../../hub/fake-response.ts';

const RATE = 1000;

function world() {
  const time = new VirtualTime();
  const inner = new FakeResponse();
  const response = new ThrottledResponse(inner, {}, new ConnectionThrottle(RATE, time), time);
  let drained = 0;
  response.onDrained(() => {
    drained++;
  });
  response.start(200, []);
  return { time, inner, response, drained: () => drained };
}

test('what the allowance has room for goes out at once, and the rest is waited for', async (t) => {
  const { time, inner, response, drained } = world();
  t.true(response.write(Buffer.alloc(RATE)));
  t.false(response.write(Buffer.alloc(500)));
  t.is(Buffer.concat(inner.chunks).length, 1500);
  await time.advance(499);
  t.is(drained(), 0);
  await time.advance(1);
  t.is(drained(), 1);
  t.false(response.write(Buffer.alloc(1)));
});

test('a socket that is full is waited for, too', async (t) => {
  const { time, inner, response, drained } = world();
  inner.isFull = () => true;
  t.false(response.write(Buffer.alloc(2 * RATE)));
  await time.advance(5000);
  t.is(drained(), 0);
  inner.drain();
  t.is(drained(), 1);
  t.false(response.write(Buffer.alloc(20 * RATE)));
  inner.drain();
  t.is(drained(), 1);
  await time.advance(20_000);
  t.is(drained(), 2);
});

test('a full socket is told of within the allowance, and one who writes on meanwhile is woken once', async (t) => {
  const { time, inner, response, drained } = world();
  inner.isFull = () => true;
  t.false(response.write(Buffer.alloc(1)));
  inner.isFull = () => false;
  inner.drain();
  t.is(drained(), 1);
  for (let count = 0; count < 3; count++) t.false(response.write(Buffer.alloc(RATE)));
  await time.advance(10_000);
  t.is(drained(), 2);
  t.true(response.write(Buffer.alloc(1)));
});

test('nobody is woken for a client that is gone', async (t) => {
  const { time, inner, response, drained } = world();
  response.write(Buffer.alloc(10 * RATE));
  inner.disconnect();
  await time.advance(20_000);
  t.is(drained(), 0);
  t.true(response.aborted);
});

test('an answer that is no stream goes through as it is', (t) => {
  const inner = new FakeResponse();
  const time = new VirtualTime();
  const response = new ThrottledResponse(inner, {}, new ConnectionThrottle(RATE, time), time);
  response.respond(404, [], 'x'.repeat(100 * RATE));
  t.is(inner.status, 404);
  t.true(inner.ended);
});
