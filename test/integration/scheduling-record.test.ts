// Goal: what the scheduler inside and the one of a process of its own record is decided the same again by `orch schedule replay`. Method:
// real servers and schedulers, their files, the real command.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { ORCH } from '../server/program.ts';
import { spawnScheduler } from '../server/scheduler-process.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { accountIn, eventually, NODES_STAY, POD_SPEC } from './objects.ts';

const PODS = '/api/v1/namespaces/default/pods';

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-record-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function make({ client }: ServerProcess, path: string, body: object): Promise<void> {
  const answer = await client.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(answer.text);
}

interface Seen {
  readonly spec: { readonly nodeName?: string };
  readonly status: object;
}

async function fill(server: ServerProcess): Promise<void> {
  const amounts = { cpu: '4', pods: '10', memory: '8Gi' };
  const node = (name: string) => ({ metadata: { name }, status: { capacity: amounts, allocatable: amounts } });
  for (const name of ['n1', 'n2']) await make(server, '/api/v1/nodes', node(name));
  await accountIn(server.client);
  const pod = (name: string, cpu: string) => {
    const env = [{ name: 'PASSWORD', value: 'hunter2' }];
    const containers = [{ ...POD_SPEC.containers[0], env, resources: { requests: { cpu } } }];
    return { metadata: { name }, spec: { ...POD_SPEC, containers } };
  };
  for (const name of ['a', 'b', 'c']) await make(server, PODS, pod(name, '1'));
  await make(server, PODS, pod('huge', '64'));
  await eventually(
    async () => (await server.client.get(PODS)).json.items as unknown as readonly Seen[],
    (pods) =>
      pods.filter(({ spec }) => spec.nodeName !== undefined).length === 3 &&
      pods.some(({ status }) => JSON.stringify(status).includes('Insufficient cpu')),
  );
}

const replay = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [ORCH, 'schedule', 'replay', ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

const PROGRAMS: Readonly<Record<string, (t: ExecutionContext, record: readonly string[]) => Promise<void>>> = {
  async 'the scheduler inside'(t, record) {
    const server = await startServer(t, { args: [...NODES_STAY, ...record] });
    await fill(server);
    await server.stop();
  },
  async 'orch scheduler'(t, record) {
    const server = await startServer(t, { args: [...NODES_STAY, '--scheduler-name', 'off'] });
    const scheduler = await spawnScheduler(t, ['--orchconfig', server.kubeconfig, ...record]);
    await fill(server);
    t.is(await scheduler.end('SIGTERM'), 0);
  },
};

for (const [title, run] of Object.entries(PROGRAMS)) {
  test(`what ${title} records is decided the same again`, async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'record');
    await run(t, ['--scheduling-record', path]);
    t.is(statSync(path).mode & 0o777, 0o600);
    const text = readFileSync(path, 'utf8');
    t.notRegex(text, /hunter2|clientConnection/);
    const same = await replay(path);
    t.regex(same.stdout, /^\d+ entries, \d+ decisions, 3 to bind: all as recorded\n$/, same.stderr);
    t.is(same.code, 0);
    const traced = await replay(path, '--pod', 'huge');
    t.regex(traced.stdout, /^[\d.]+ s {2}default\/huge goes nowhere: 0\/\d nodes are available/m);
    t.regex(traced.stdout, /^n1 +refused {2}.*NodeResourcesFit: Insufficient cpu$/m);
    t.regex((await replay(path, '--pod', 'none')).stdout, /^nothing was decided about default\/none\n/);
    const lines = text.split('\n');
    for (const damaged of ['{"op"', 'null', '{"at":1}']) {
      writeFileSync(path, lines.with(2, damaged).join('\n'));
      const { code, stdout, stderr } = await replay(path);
      t.deepEqual([code, stdout], [1, '']);
      t.is(stderr, `orch: ${path}:3: the line is no entry of a record\n`);
    }
    writeFileSync(path, lines.with(2, '{"op":"guess"}').join('\n'));
    t.true((await replay(path)).stderr.startsWith(`orch: ${path}:3: the line cannot be replayed: `));
    // Killed in the middle of a line.
    writeFileSync(path, text.slice(0, -5));
    t.is((await replay(path)).code, 0);
    writeFileSync(
      path,
      text.replace(/"kind":"bind",("pod":"[^"]*","uid":"[^"]*"),"node":"[^"]*"/, '"kind":"bind",$1,"node":"n9"'),
    );
    const other = await replay(path);
    t.is(other.code, 1);
    t.regex(other.stdout, /recorded: default\/\w goes to n9\n +replayed: default\/\w goes to n[12]\n.*: 1 differ/);
  });
}

test('a record ends where it is full, and what is none is refused', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'record');
  await PROGRAMS['the scheduler inside']!(t, ['--scheduling-record', path, '--scheduling-record-bytes', '12000']);
  t.true(statSync(path).size <= 12_000);
  const short = await replay(path);
  t.is(short.code, 0, short.stdout + short.stderr);
  writeFileSync(path, 'hello\n');
  for (const [args, problem] of [
    [[path], /is no record of scheduling/],
    [[join(folder, 'none')], /cannot be read \(ENOENT\)/],
    [[], /usage: orch schedule replay FILE/],
    [[path, '--pod'], /usage: orch schedule replay FILE/],
  ] as const) {
    const { code, stderr } = await replay(...args);
    t.not(code, 0);
    t.regex(stderr, problem);
    t.notRegex(stderr, /^ +at /m);
  }
});
