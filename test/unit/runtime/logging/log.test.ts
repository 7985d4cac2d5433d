import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { OrchError } from '../../../../runtime/errors.ts';
import { createLogger, logEnd, setLogLevel } from '../../../../runtime/logging/log.ts';
import { NO_REQUEST, RequestNumbers, turn } from '../../../../runtime/turn.ts';

function logged(format: 'text' | 'json', log: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  log(createLogger('front/0', { level: 'info', format }, (line) => lines.push(line)));
  return lines;
}

test('a line as text has severity, date, time, process and place, then the message and the rest as key="value"', (t) => {
  const [line] = logged('text', (log) =>
    log.child({ actor: 'hub' }).info({ user: 'ann', path: '/a b', n: 2 }, 'list done'),
  );
  t.regex(
    line!,
    /^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ log\.test\.[jt]s:\d+\] "list done" user="ann" path="\/a b" n=2 thread="front\/0" actor="hub"\n$/,
  );
});

test('a line as JSON is one object with time, verbosity, place and thread in it', (t) => {
  const [line] = logged('json', (log) => log.warn({ watchers: 3 }, 'slow'));
  const { ts, caller, ...rest } = JSON.parse(line!) as Record<string, unknown>;
  t.deepEqual(rest, { level: 40, severity: 'warn', v: 0, thread: 'front/0', watchers: 3, msg: 'slow' });
  t.true(Math.abs((ts as number) - Date.now()) < 3_600_000);
  t.regex(caller as string, /^log\.test\.[jt]s:\d+$/);
});

test('each severity has its letter, and what -v shows is informational', (t) => {
  const lines: string[] = [];
  const log = createLogger('front', { level: 'trace', format: 'text' }, (line) => lines.push(line));
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) log[level](level);
  t.deepEqual(
    lines.map((line) => /^([A-Z]+)\d{4} /.exec(line)?.[1]),
    ['I', 'I', 'I', 'W', 'E', 'F'],
  );
});

test('without headers there is the message, and with folders the place has its own', (t) => {
  const lines: string[] = [];
  const put = (line: string): unknown => lines.push(line);
  createLogger('front', { level: 'info', format: 'text', skipsHeaders: true }, put).info('bare');
  createLogger('front', { level: 'info', format: 'text', showsFolders: true }, put).info('placed');
  t.is(lines[0], '"bare" thread="front"\n');
  t.regex(lines[1]!, / logging\/log\.test\.[jt]s:\d+\] "placed" /);
});

for (const [pattern, shown] of Object.entries({
  'log.test': true,
  'log*': true,
  '?og.test': true,
  log: false,
  'l.g*': false,
})) {
  test(`debug lines of the source files that ${pattern} names are shown alone: ${shown ? 'this one is' : 'this is none'}`, (t) => {
    const lines: string[] = [];
    const modules = [[pattern, 'debug']] as const;
    const log = createLogger('front', { level: 'info', format: 'text', modules }, (line) => lines.push(line));
    log.child({ actor: 'hub' }).debug('detail');
    log.info('always');
    t.is(lines.length, shown ? 2 : 1);
  });
}

test('a module may be more silent than the rest', (t) => {
  const lines: string[] = [];
  const modules = [['log.test', 'error']] as const;
  const log = createLogger('front', { level: 'debug', format: 'text', modules }, (line) => lines.push(line));
  log.info('hidden');
  log.error('shown');
  t.is(lines.length, 1);
});

test('a line of the place that is asked for shows how it was reached', (t) => {
  const lines: string[] = [];
  const here = (backtraceAt: string): void => {
    createLogger('front', { level: 'info', format: 'text', backtraceAt }, (line) => lines.push(line)).info('x');
  };
  here('log.test.ts:0');
  const place = /\S+:\d+(?=\])/.exec(lines[0]!)![0];
  here(place);
  t.deepEqual(
    lines.map((line) => line.split('\n').length > 2),
    [false, true],
  );
});

test('a line says which request the message being handled belongs to, unless the line names one itself', (t) => {
  turn.requestNumber = 7;
  const [inTurn, named] = logged('json', (log) => {
    log.child({ actor: 'hub' }).info('in its turn');
    log.info({ requestNumber: 8 }, 'for another');
  }).map((line) => JSON.parse(line) as Record<string, unknown>);
  turn.requestNumber = NO_REQUEST;
  const [outside] = logged('text', (log) => log.info('outside'));
  t.deepEqual([inTurn!.requestNumber, named!.requestNumber], [7, 8]);
  t.regex(outside!, / "outside" thread="front\/0"\n$/);
});

test('requests of all threads have numbers of their own, from 1, and begin anew before a number needs a box', (t) => {
  const threads = [new RequestNumbers(0, 3), new RequestNumbers(2, 3)];
  t.deepEqual(
    threads.map((numbers) => [numbers.take(), numbers.take(), numbers.take()]),
    [
      [1, 4, 7],
      [3, 6, 9],
    ],
  );
  const few = new RequestNumbers(1, 2 ** 29);
  t.deepEqual([few.take(), few.take(), few.take()], [2, 2 ** 29 + 2, 2]);
});

test('an error as text shows its stack on lines of its own', (t) => {
  const [line] = logged('text', (log) => log.error({ err: new RangeError('too far') }, 'failed'));
  t.regex(line!, /^E.*\] "failed" err="RangeError: too far" thread="front\/0"\nRangeError: too far\n {4}at /);
});

test('what an operator or the machine brings about is one line, without a stack', (t) => {
  for (const code of ['BadConfiguration', 'StorageFull', 'StoreUnusable'] as const) {
    const err = new OrchError(code, '/a.crt cannot be used');
    const [text] = logged('text', (log) => log.warn({ err }, 'refused'));
    t.regex(text!, /^W.*\] "refused" err="OrchError: \/a\.crt cannot be used" thread="front\/0"\n$/);
    const [json] = logged('json', (log) => log.warn({ err }, 'refused'));
    t.false('stack' in JSON.parse(json!));
  }
});

test('a thread that the machine or its operator ends is no broken invariant', (t) => {
  const lines = logged('text', (log) => {
    logEnd(log, new OrchError('StoreUnusable', 'the store begins anew'));
    logEnd(log, new Error('impossible'));
  });
  t.is(lines.length, 2);
  t.regex(lines[0]!, /^E\d.*"this thread ends and begins anew" err="OrchError: the store begins anew"/);
  t.regex(lines[1]!, /^F\d.*"a broken invariant ends this thread" err="Error: impossible"/);
});

test('levels below the one asked for say nothing', (t) => {
  t.deepEqual(
    logged('text', (log) => log.debug('quiet')),
    [],
  );
});

for (const field of ['authorization', 'token', 'secret', 'password', 'privateKey', 'clientSecret']) {
  test(`a field named ${field} is cut out, at the top and one level down`, (t) => {
    for (const format of ['text', 'json'] as const) {
      const [line] = logged(format, (log) => log.info({ [field]: 'hunter2', inner: { [field]: 'hunter2' } }, 'x'));
      t.false(line!.includes('hunter2'), line!);
      t.true(line!.includes('[redacted]'));
    }
  });
}

/** Logs two lines, and says after each whether lines go out. */
const TWO_LINES = `
  import { createLogger, isLogWritable } from ${JSON.stringify(new URL('../../../../runtime/logging/log.js', import.meta.url).href)};
  const logger = createLogger('front', { level: 'info', format: process.argv[1] });
  logger.info('here');
  process.stdout.write(isLogWritable() + '\\n');
  process.stdin.once('data', () => {
    logger.info('gone');
    process.stdout.write(isLogWritable() + '\\n');
    process.exit();
  });
`;

for (const format of ['text', 'json']) {
  test(`a log as ${format} whose reader has left is known not to be writable, and ends nothing`, async (t) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', TWO_LINES, format]);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    // Both are waited for: a busy process may hear of the second before it has read the first.
    await Promise.all([once(child.stderr, 'data'), once(child.stdout, 'data')]);
    child.stderr.destroy();
    child.stdin.write('go');
    t.deepEqual(await once(child, 'close'), [0, null]);
    t.is(said, 'true\nfalse\n');
  });
}

test('with sanitization a line that holds something sensitive, however deep, says so and nothing else', (t) => {
  const lines: string[] = [];
  const log = createLogger('front', { level: 'info', format: 'json', sanitizes: true }, (line) => lines.push(line));
  log.info({ of: { a: { deep: [{ bearerToken: 'hunter2' }] } }, who: 'jane' }, 'let in');
  log.child({ actor: 'hub' }).info({ who: 'jane', password: '' }, 'nothing of the kind');
  const circle: Record<string, unknown> = { token: null };
  circle.itself = circle;
  log.info({ circle }, 'round and round');
  const [cut, whole, round] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  t.false(lines[0]!.includes('hunter2') || lines[0]!.includes('jane'));
  t.like(cut, { msg: 'Log message has been redacted.', datapolicy: ['token'] });
  t.like(whole, { msg: 'nothing of the kind', who: 'jane' });
  t.like(round, { msg: 'round and round' });
});

test('the level can be changed while it runs, for all that was made of a logger; modules keep their own', (t) => {
  const lines: string[] = [];
  const log = createLogger('front', { level: 'info', format: 'text' }, (line) => lines.push(line));
  const child = log.child({ actor: 'hub' }).child({ part: 'watchers' });
  child.debug('hidden');
  setLogLevel(log, 'debug');
  child.debug('shown');
  setLogLevel(log, 'info');
  child.debug('hidden again');
  t.deepEqual(
    lines.map((line) => /"([a-z ]+)"/.exec(line)?.[1]),
    ['shown'],
  );
  const modules = [['log.test', 'error']] as const;
  const modular = createLogger('front', { level: 'info', format: 'text', modules }, (line) => lines.push(line));
  setLogLevel(modular, 'trace');
  modular.info('of a module');
  t.is(lines.length, 1);
});
