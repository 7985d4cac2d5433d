import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { createLogger } from '../../../runtime/log.ts';
import { NO_REQUEST, RequestNumbers, turn } from '../../../runtime/turn.ts';

function logged(format: 'text' | 'json', log: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  log(createLogger('front/0', { level: 'info', format }, (line) => lines.push(line)));
  return lines;
}

test('a line as text has time, level, thread, actor, message and the rest as key=value', (t) => {
  const [line] = logged('text', (log) => log.child({ actor: 'hub' }).info({ user: 'ann', path: '/a b' }, 'list done'));
  t.regex(line!, /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}front\/0 hub list done user=ann path="\/a b"\n$/);
});

test('a line as JSON is one object with the thread in it', (t) => {
  const [line] = logged('json', (log) => log.warn({ watchers: 3 }, 'slow'));
  const { level, thread, watchers, msg } = JSON.parse(line!) as Record<string, unknown>;
  t.deepEqual({ level, thread, watchers, msg }, { level: 40, thread: 'front/0', watchers: 3, msg: 'slow' });
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
  t.regex(outside!, / outside\n$/);
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
  t.regex(line!, /ERROR front\/0 failed\nRangeError: too far\n {4}at /);
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
  import { createLogger, isLogWritable } from ${JSON.stringify(new URL('../../../runtime/log.js', import.meta.url).href)};
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
