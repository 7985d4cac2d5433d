// What the log says of audit events that are lost.
import test from 'ava';
import { LossLines } from '../../../actors/audit/loss-lines.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

function harness() {
  const time = new VirtualTime();
  const told: object[] = [];
  const log = { warn: (line: object) => void told.push(line) };
  const lines = new LossLines({ timers: time, log } as unknown as ActorContext);
  return { time, lines, told: () => told.splice(0) };
}

test('a backend that loses audit events with every request is a line at once, and then one every ten seconds', async (t) => {
  const { time, lines, told } = harness();
  for (let lost = 0; lost < 1000; lost++) lines.lost('log', 1, 'ENOSPC');
  lines.lost('webhook', 2, 'refused');
  t.deepEqual(told(), [
    { plugin: 'log', count: 1, reason: 'ENOSPC' },
    { plugin: 'webhook', count: 2, reason: 'refused' },
  ]);
  await time.advance(10_000);
  t.deepEqual(told(), [{ plugin: 'log', count: 999, reason: 'ENOSPC' }]);
  lines.lost('log', 5, 'EIO');
  t.deepEqual(told(), []);
  await time.advance(10_000);
  t.deepEqual(told(), [{ plugin: 'log', count: 5, reason: 'EIO' }]);
  await time.advance(10_000);
  lines.lost('log', 3, 'ENOSPC');
  t.deepEqual(
    told(),
    [{ plugin: 'log', count: 3, reason: 'ENOSPC' }],
    'after a quiet time the first is told at once again',
  );
});

test('what has been lost since the last line is told at the end', async (t) => {
  const { time, lines, told } = harness();
  lines.lost('log', 1, 'ENOSPC');
  lines.lost('log', 4, 'ENOSPC');
  lines.flush();
  t.deepEqual(told().at(-1), { plugin: 'log', count: 4, reason: 'ENOSPC' });
  await time.advance(60_000);
  t.deepEqual(told(), []);
});
