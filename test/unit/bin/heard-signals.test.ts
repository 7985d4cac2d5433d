// Which signals end a server in order, and which at once.
import test from 'ava';
import { heardSignals, onEnding } from '../../../bin/server/heard-signals.ts';
import { eventually } from '../../integration/objects.ts';

test('a signal that is sent twice at a time asks for one end in order, and one that comes later for an end at once', async (t) => {
  const heard: string[] = [];
  t.teardown(() => {
    for (const signal of ['SIGUSR2', 'SIGWINCH'] as const) process.removeAllListeners(signal);
  });
  onEnding(
    ['SIGUSR2', 'SIGWINCH'],
    (signal) => heard.push(`in order by ${signal}`),
    (signal) => heard.push(`at once by ${signal}`),
  );
  process.emit('SIGUSR2', 'SIGUSR2');
  process.emit('SIGUSR2', 'SIGUSR2');
  process.emit('SIGWINCH', 'SIGWINCH');
  t.deepEqual(heard, ['in order by SIGUSR2']);
  await eventually(
    async () => process.emit('SIGWINCH', 'SIGWINCH'),
    () => heard.length > 1,
  );
  t.is(heard[1], 'at once by SIGWINCH');
});

test('an interrupt and a termination end a server, whoever sits before it', (t) => {
  for (const outlives of [false, true]) t.deepEqual(heardSignals(outlives).ending.slice(0, 2), ['SIGINT', 'SIGTERM']);
});
