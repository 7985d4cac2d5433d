// What signals mean to a server.
import test from 'ava';
import { heardSignals } from '../../../bin/server/heard-signals.ts';

test('a hang-up ends a server that somebody sits before, and one that nobody sits before outlives it', (t) => {
  t.true(heardSignals(false).ending.includes('SIGHUP'));
  t.false(heardSignals(false).ignored.includes('SIGHUP'));
  t.true(heardSignals(true).ignored.includes('SIGHUP'));
  t.false(heardSignals(true).ending.includes('SIGHUP'));
});

test('no signal opens the debugger, by which any user of the machine may do what the server may', (t) => {
  for (const outlives of [false, true]) t.true(heardSignals(outlives).ignored.includes('SIGUSR1'));
});
