// The life of Event objects: one TTL from their last write.
import test from 'ava';
import { type Fixture, objectOf, restarted, started } from './fixture.ts';

const HOUR_MS = 3_600_000;

function putEvent(f: Pick<Fixture, 'cluster'>, name: string, rest: Record<string, unknown> = {}): void {
  f.cluster.put('core/events', { ...objectOf('Event', 'default', name), ...rest });
}

test('an event is deleted one TTL after it was written', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  await f.time.advance(HOUR_MS - 10_000);
  t.deepEqual(f.cluster.names('core/events'), ['default/a']);
  await f.time.advance(20_000);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('writing an event again renews its life', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  putEvent(f, 'b');
  await f.time.advance(HOUR_MS / 2);
  putEvent(f, 'a');
  await f.time.advance(HOUR_MS / 2 + 10_000);
  t.deepEqual(f.cluster.names('core/events'), ['default/a']);
  await f.time.advance(HOUR_MS / 2);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('an event renewed while it is being deleted stays', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  let isRenewed = false;
  f.cluster.fault = ({ target }) => {
    if (target.resource === 'events' && !isRenewed) {
      isRenewed = true;
      putEvent(f, 'a');
    }
    return undefined;
  };
  await f.time.advance(HOUR_MS + 10_000);
  t.true(isRenewed);
  t.deepEqual(f.cluster.names('core/events'), ['default/a']);
  t.deepEqual(
    f.writesOf('delete events').map(({ code }) => code),
    [409],
  );
  await f.time.advance(HOUR_MS);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('live events are not parsed', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  await f.time.advance(HOUR_MS + 10_000);
  t.is(f.cluster.parsed.get('core/events'), undefined);
});

const PRESENT: readonly [title: string, ageMs: number, fields: (time: string) => Record<string, unknown>][] = [
  ['its lastTimestamp', HOUR_MS / 2, (time) => ({ lastTimestamp: time })],
  ['its eventTime', HOUR_MS / 2, (time) => ({ eventTime: time, lastTimestamp: null })],
  ['the last time of its series', HOUR_MS / 2, (time) => ({ series: { lastObservedTime: time } })],
];

for (const [title, ageMs, fields] of PRESENT) {
  test(`the age of an event present at start is counted from ${title}`, async (t) => {
    const f = await started({}, (cluster) => {
      const created = { creationTimestamp: '2020-01-01T00:00:00Z' };
      const time = new Date(Date.parse('2026-01-01T00:00:00Z') - ageMs).toISOString();
      const event = objectOf('Event', 'default', 'a', { metadata: { name: 'a', ...created } });
      cluster.put('core/events', { ...event, ...fields(time) });
    });
    await f.time.advance(HOUR_MS - ageMs - 10_000);
    t.deepEqual(f.cluster.names('core/events'), ['default/a']);
    await f.time.advance(20_000);
    t.deepEqual(f.cluster.names('core/events'), []);
  });
}

test('an event that claims a time to come lives one TTL at most', async (t) => {
  const f = await started({}, (cluster) => putEvent({ cluster }, 'a', { lastTimestamp: '2999-01-01T00:00:00Z' }));
  await f.time.advance(HOUR_MS + 10_000);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('an event whose times are nonsense lives by its creation', async (t) => {
  const f = await started({}, (cluster) => putEvent({ cluster }, 'a', { lastTimestamp: { no: 'time' }, series: 7 }));
  await f.time.advance(HOUR_MS - 10_000);
  t.deepEqual(f.cluster.names('core/events'), ['default/a']);
  await f.time.advance(20_000);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('a great many expired events go in the order of their age, a bounded number at a time', async (t) => {
  const f = await started({}, (cluster) => {
    for (let i = 0; i < 500; i += 1) {
      const created = { creationTimestamp: new Date(Date.parse('2025-01-01T00:00:00Z') + i * 1000).toISOString() };
      cluster.put('core/events', objectOf('Event', 'default', `e${i}`, { metadata: { name: `e${i}`, ...created } }));
    }
  });
  f.cluster.inFlightMost = 0;
  await f.time.advance(1_500);
  t.deepEqual(f.cluster.names('core/events'), []);
  t.true(f.cluster.inFlightMost <= 64);
  const first = f
    .writesOf('delete events')
    .slice(0, 64)
    .map(({ request }) => Number(request.target.name.slice(1)));
  t.true(Math.max(...first) < 100, 'the oldest go first');
});

test('expiry goes on after deletions have failed for a while', async (t) => {
  const f = await started();
  for (let i = 0; i < 200; i += 1) putEvent(f, `e${i}`);
  let isDown = true;
  f.cluster.fault = ({ target }) => (isDown && target.resource === 'events' ? { code: 503, body: {} } : undefined);
  await f.time.advance(HOUR_MS + 60_000);
  t.is(f.cluster.names('core/events').length, 200);
  isDown = false;
  await f.time.advance(120_000);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('an event deleted by someone else is not deleted again', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  await f.time.advance(1_000);
  f.cluster.remove('core/events', 'default', 'a');
  await f.time.advance(HOUR_MS + 10_000);
  t.is(f.writesOf('delete events').length, 0);
});

test('when the stream begins anew, events keep their age', async (t) => {
  const f = await started();
  putEvent(f, 'a', {
    metadata: { ...objectOf('Event', 'default', 'a').metadata, creationTimestamp: '2999-01-01T00:00:00Z' },
  });
  await f.time.advance(HOUR_MS / 2);
  f.lost();
  await f.time.advance(HOUR_MS / 2 + 10_000);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('events keep their age when the stream breaks off a second time before it has begun anew', async (t) => {
  const f = await started();
  const { metadata } = objectOf('Event', 'default', 'a');
  const later = { ...metadata, creationTimestamp: '2999-01-01T00:00:00Z' };
  for (const name of ['a', 'b']) putEvent(f, name, { metadata: { ...later, name } });
  await f.time.advance(HOUR_MS / 2);
  f.lost();
  f.lost();
  await f.time.advance(1_000);
  putEvent(f, 'b', { metadata: { ...later, name: 'b' } });
  await f.time.advance(HOUR_MS / 2 + 10_000);
  t.deepEqual(f.cluster.names('core/events'), ['default/b']);
  await f.time.advance(HOUR_MS / 2);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('an event that was written again while the stream was broken off has a new life', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  await f.time.advance(HOUR_MS / 2);
  f.deliver(false);
  putEvent(f, 'a', { lastTimestamp: new Date(f.time.clock.nowMs()).toISOString() });
  await f.time.settle();
  f.held.length = 0;
  f.deliver(true);
  f.lost();
  await f.time.advance(HOUR_MS / 2 + 10_000);
  t.deepEqual(f.cluster.names('core/events'), ['default/a']);
  t.is(f.writesOf('delete events').length, 0);
  await f.time.advance(HOUR_MS / 2);
  t.deepEqual(f.cluster.names('core/events'), []);
});

test('after a restart expiry goes on', async (t) => {
  const f = await started();
  putEvent(f, 'a');
  await f.time.advance(HOUR_MS / 2);
  const g = await restarted(f);
  await g.time.advance(HOUR_MS / 2 - 10_000);
  t.deepEqual(g.cluster.names('core/events'), ['default/a']);
  await g.time.advance(20_000);
  t.deepEqual(g.cluster.names('core/events'), []);
});

test('with a TTL of 0 events are kept', async (t) => {
  const f = await started({ eventTtlMs: 0 });
  putEvent(f, 'a');
  await f.time.advance(100 * HOUR_MS);
  t.deepEqual(f.cluster.names('core/events'), ['default/a']);
});
