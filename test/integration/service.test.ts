// The server as a service of systemd: what it tells, and that the shipped unit starts it with arguments it takes.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parseArguments } from '../../config/parse.ts';
import { newServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

/** A folder for the PATH with a `systemd-notify` that writes down what it was to carry. */
function noter(t: ExecutionContext): { readonly folder: string; readonly told: () => string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'orch-notify-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const notes = join(folder, 'notes');
  const program = join(folder, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${notes}\n`);
  chmodSync(program, 0o755);
  return { folder, told: () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []) };
}

test('a service says when it is ready, that its threads answer, and when it stops', async (t) => {
  const { folder, told } = noter(t);
  const server = await newServer(t, {
    args: ['--placement', 'single'],
    env: {
      NOTIFY_SOCKET: '/nowhere/notify',
      WATCHDOG_USEC: '200000',
      PATH: `${folder}${delimiter}${process.env.PATH}`,
    },
  });
  t.is(await server.start(), undefined);
  const from = `--pid=${server.pid}`;
  await eventually(
    async () => told(),
    (lines) => lines.filter((line) => line === `${from} WATCHDOG=1`).length > 2,
  );
  // What carries a word is a process of its own, and may be overtaken.
  t.true(told().includes(`${from} READY=1 STATUS=serving ${server.url}`));
  t.is(await server.stop(), 0);
  await eventually(
    async () => told(),
    (lines) => lines.includes(`${from} STOPPING=1`),
  );
});

test('the shipped unit checks and starts a server with arguments that it takes', (t) => {
  const unit = readFileSync('packaging/orch.service', 'utf8');
  const settings = new Map(
    unit.split('\n').flatMap((line) => {
      const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return key === undefined ? [] : [[key, value!] as const];
    }),
  );
  t.is(settings.get('Type'), 'notify');
  t.is(settings.get('NotifyAccess'), 'all');
  t.regex(settings.get('WatchdogSec') ?? '', /^\d+$/);
  const command = (key: string): string[] => settings.get(key)!.split(' ').slice(2, -1);
  const [program, ...argv] = command('ExecStart');
  t.is(program, 'up');
  t.deepEqual(command('ExecStartPre'), ['check-config', 'up', ...argv]);
  t.is(parseArguments('up', argv).action, 'run');
  t.is(parseArguments('up', argv).action === 'run' && argv[1], `/var/lib/${settings.get('StateDirectory')}`);
});
