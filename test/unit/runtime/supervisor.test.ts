import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { isOrchError } from '../../../runtime/errors.ts';
import type { Plan } from '../../../runtime/placement/plan.ts';
import { type Supervisor, type SupervisorOptions, startSupervisor } from '../../../runtime/threads/supervisor.ts';
import type { Mischief, TestOptions } from './supervisor-roster.ts';

const ROSTER_URL = new URL('./supervisor-roster.js', import.meta.url).href;
const planned = (name: string, ...actors: string[]) => ({
  name,
  group: name,
  actors: actors.map((actor) => ({ actor, name: actor, index: 0, settings: {} })),
});
const TWO_THREADS: Plan = {
  name: 'test',
  threads: [planned('front', 'driver'), planned('back', 'worker')],
  warnings: [],
};
const ONE_THREAD: Plan = { name: 'test', threads: [planned('all', 'driver', 'worker')], warnings: [] };

const folders: string[] = [];
test.after.always(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly supervisor: Supervisor;
  journal(): string[];
  /** Lets the mischief begin. */
  go(): Promise<void>;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-supervisor-'));
  folders.push(folder);
  return folder;
}

async function start(options: Omit<TestOptions, 'journal'>, more: Partial<SupervisorOptions> = {}): Promise<Running> {
  const journal = join(newFolder(), 'journal');
  writeFileSync(journal, '');
  const supervisor = await startSupervisor({
    plan: TWO_THREADS,
    rosterUrl: ROSTER_URL,
    options: { journal, ...options },
    log: { level: 'silent', format: 'json' },
    restartBackoff: { firstMs: 1, maxMs: 50, healthyMs: 60_000 },
    ...more,
  });
  return {
    supervisor,
    journal: () => readFileSync(journal, 'utf8').split('\n').slice(0, -1),
    async go() {
      await supervisor.ready;
      writeFileSync(`${journal}.go`, '');
    },
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test.serial('all actors of all threads are started when ready, and stopped in ascending stop order', async (t) => {
  const { supervisor, journal } = await start({});
  await supervisor.ready;
  t.deepEqual(journal().sort(), ['driver started', 'worker started']);
  t.deepEqual(
    (await supervisor.stats()).map(({ name, state, restarts }) => ({ name, state, restarts })),
    [
      { name: 'front', state: 'running', restarts: 0 },
      { name: 'back', state: 'running', restarts: 0 },
    ],
  );
  await supervisor.stop();
  t.deepEqual(journal().slice(2), ['driver stopped', 'worker stopped']);
  t.true((await supervisor.stats()).every(({ state }) => state === 'down'));
});

const ways: readonly [Mischief, string][] = [
  ['crash', 'names a broken invariant'],
  ['throwInTimer', 'breaks in a timer'],
  ['throwUncaught', 'throws where nothing catches'],
  ['rejectUnhandled', 'rejects a promise that nobody handles'],
];
for (const [mischief, what] of ways) {
  test.serial(`a thread whose actor ${what} closes its sockets, is replaced, and is reachable again`, async (t) => {
    const { supervisor, journal, go } = await start({ mischief });
    await go();
    await until(() => journal().includes('driver was answered again'));
    t.deepEqual(
      journal().filter((line) => !line.endsWith(' started')),
      [
        'worker closed in an emergency',
        'driver ask failed with ActorDown',
        'driver heard that worker restarted',
        'driver was answered again',
      ],
    );
    t.is(journal().filter((line) => line === 'worker started').length, 2);
    const [front, back] = await supervisor.stats();
    t.is(front?.restarts, 0);
    t.is(back?.restarts, 1);
    await supervisor.stop();
  });
}

test.serial('a thread that ends without a word is replaced too', async (t) => {
  const { supervisor, journal, go } = await start({ mischief: 'exit' });
  await go();
  await until(() => journal().includes('driver was answered again'));
  t.false(journal().includes('worker closed in an emergency'));
  await supervisor.stop();
});

test.serial('a thread that cannot be started again at once is started later', async (t) => {
  let births = 0;
  const unborn = {
    // Neither of the first two, but the one that is to replace one of them.
    get third() {
      return ++births === 3 ? () => {} : births;
    },
  };
  const options = { mischief: 'exit', unborn } as const;
  const { supervisor, journal, go } = await start(options);
  await go();
  await until(() => journal().includes('driver was answered again'));
  t.deepEqual([births, (await supervisor.stats())[1]!.restarts], [4, 2]);
  await supervisor.stop();
});

test.serial('a drain reaches actors at once, and those of a replaced thread before they start', async (t) => {
  const { supervisor, journal, go } = await start({ mischief: 'crash' });
  await supervisor.ready;
  supervisor.drain();
  await until(() => journal().includes('worker drained'));
  await go();
  await until(() => journal().includes('driver was answered again'));
  t.deepEqual(
    journal().filter((line) => /^worker (started|drained)$/.test(line)),
    ['worker started', 'worker drained', 'worker drained', 'worker started'],
  );
  await supervisor.stop();
});

test.serial('when both threads are one, all its actors are replaced together', async (t) => {
  const { supervisor, journal, go } = await start({ mischief: 'crash' }, { plan: ONE_THREAD });
  await go();
  await until(async () => (await supervisor.stats())[0]!.restarts >= 2);
  t.true(journal().filter((line) => line === 'driver started').length >= 2);
  await supervisor.stop();
});

const failures = [
  ['create', 'StoreUnusable', 'the folder is locked'],
  ['start', 'BadConfiguration', 'no port'],
] as const;
for (const [failIn, code, message] of failures) {
  test.serial(`an actor that fails in ${failIn} fails the whole start, with its own error`, async (t) => {
    const { supervisor } = await start({ failIn });
    const error = await t.throwsAsync(supervisor.ready, { message });
    t.true(isOrchError(error, code));
    t.true((await supervisor.stats()).every(({ state }) => state === 'down'));
  });
}

test.serial('a roster that cannot be loaded fails the start', async (t) => {
  const { supervisor } = await start({}, { rosterUrl: new URL('./no-such-roster.js', import.meta.url).href });
  await t.throwsAsync(supervisor.ready, { message: /no-such-roster/ });
});

test.serial('threads have settled when every actor has done what its start began', async (t) => {
  const { supervisor, go } = await start({ settlesLate: true });
  t.false(await supervisor.hasSettled());
  await supervisor.ready;
  t.false(await supervisor.hasSettled());
  await go();
  await until(() => supervisor.hasSettled());
  await supervisor.stop();
  t.false(await supervisor.hasSettled());
});

test.serial('variables of the environment are set before the threads start', async (t) => {
  const { supervisor } = await start({}, { env: { ORCH_TEST_VARIABLE: 'seen' } });
  t.is(process.env.ORCH_TEST_VARIABLE, 'seen');
  await supervisor.stop();
});

test.serial('a thread that hangs ends the process without a core, behind a line that names the thread', async (t) => {
  const program = fileURLToPath(new URL('./supervisor-hang.js', import.meta.url));
  const child = spawn(process.execPath, [program, newFolder()], { stdio: ['ignore', 'ignore', 'pipe'] });
  let lines = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lines += text;
  });
  const [code, signal] = await once(child, 'close');
  t.deepEqual([code, signal], [null, 'SIGKILL']);
  t.regex(lines, /^F.*\] "thread back hangs and cannot be ended/m);
});
