// How what ends a command is told: in one line, which says what can be done where that is known.
import test from 'ava';
import { errorLine } from '../../../bin/command-line/error-line.ts';
import { UsageError } from '../../../config/usage-error.ts';
import { OrchError } from '../../../runtime/errors.ts';

const threadless = (message: string) => Object.assign(new Error(message), { code: 'ERR_WORKER_INIT_FAILED' });

test('an error that was foreseen is told whole, and of another its first line, without the stack behind it', (t) => {
  t.is(errorLine(new OrchError('BadConfiguration', 'one\n  two')), 'one two');
  t.is(errorLine(new UsageError('one\ntwo')), 'one two');
  t.is(errorLine(new Error('one\ntwo')), 'one');
  t.is(errorLine('text'), 'text');
});

test('a thread that the system does not give is told as one, with the limit where it is known', (t) => {
  const threads =
    'a thread could not be started (EAGAIN): the user or the service may have no more threads (ulimit -u, TasksMax)';
  t.is(errorLine(threadless('EAGAIN')), threads);
  const files = 'a thread could not be started (EMFILE): the process may open no more files (ulimit -n)';
  t.is(errorLine(threadless('Worker initialization failure: EMFILE')), files);
  t.is(errorLine(threadless('Worker initialization failure: EIO')), 'a thread could not be started (EIO)');
  t.is(errorLine(Object.assign(new Error('spawn x EMFILE'), { code: 'EMFILE' })), 'spawn x EMFILE');
});
