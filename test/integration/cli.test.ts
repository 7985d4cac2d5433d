// The program as an operator meets it: what it prints, what it leaves, how it ends, and what it says when it cannot start.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import ava, { type ExecutionContext } from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { HttpsClient } from '../server/https-client.ts';
import { testOn } from '../server/listeners.ts';
import { ORCH } from '../server/program.ts';
import { newServer, startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

// One after the other: each starts processes of its own.
const test = ava.serial;
const PID_FILE = 'orch.pid';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
function orch(...args: string[]): Promise<Ended> {
  return orchIn({}, ...args);
}

function orchIn(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...environment };
    execFile(process.execPath, [ORCH, ...args], { timeout: 240_000, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

function temporaryDirectory(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-cli-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** One line that says why, exit code 1, and no claim on the data directory. */
function assertRefused(t: ExecutionContext, ended: Ended, reason: RegExp, directory?: string): void {
  t.is(ended.stdout, '');
  t.regex(ended.stderr, /^orch: [^\n]+\n$/);
  t.regex(ended.stderr, reason);
  t.is(ended.code, 1);
  if (directory !== undefined) t.false(existsSync(join(directory, PID_FILE)));
}

for (const placement of ['single', 'default', 'wide']) {
  test(`a start under ${placement} says where the server is, and SIGTERM ends it with code 0`, async (t) => {
    const server = await startServer(t, { args: ['--placement', placement] });
    const [address, kubeconfig, plan, ready, rest] = server.stdout.split('\n');
    t.is(address, `address ${server.url}`);
    t.is(kubeconfig, `kubeconfig ${server.kubeconfig}`);
    t.true(plan?.startsWith(`placement ${placement}: `));
    t.regex(ready ?? '', /^ready in \d+ ms$/);
    t.is(rest, '');
    // Everything that is on by default is in force.
    t.notRegex(server.stderr, /^warning: /m);
    t.is((await server.client.get('/readyz')).text, 'ok');
    t.is(readFileSync(join(server.dataDirectory, PID_FILE), 'utf8'), `${server.pid}\n`);
    t.is(await server.stop('SIGTERM'), 0);
    t.false(existsSync(join(server.dataDirectory, PID_FILE)));
  });
}

test('files with secrets can be read by their owner alone', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  for (const file of ['admin.conf', 'admin.token', 'pki/apiserver.key']) {
    t.is(statSync(join(server.dataDirectory, file)).mode & 0o777, 0o600, file);
  }
});

/** Everything in a directory, itself included, that group or others may touch. */
function openEntries(directory: string): string[] {
  const inside = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name));
  return [directory, ...inside].filter((path) => (lstatSync(path).mode & 0o077) !== 0);
}

test('a directory that was open to others, and all that is made in it, is closed to them, and that is said once', async (t) => {
  const server = await newServer(t, { args: ['--placement', 'single'] });
  chmodSync(server.dataDirectory, 0o755);
  mkdirSync(join(server.dataDirectory, 'kept'));
  writeFileSync(join(server.dataDirectory, 'kept', 'notes'), '');
  // Whatever the umask is.
  chmodSync(join(server.dataDirectory, 'kept'), 0o755);
  chmodSync(join(server.dataDirectory, 'kept', 'notes'), 0o644);
  t.is(await server.start(), undefined);
  t.is((await server.client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'x' } } })).status, 201);
  t.deepEqual(openEntries(server.dataDirectory), []);
  t.true(readdirSync(server.dataDirectory, { recursive: true }).some((name) => String(name).endsWith('.log')));
  const warned = `warning: ${server.dataDirectory} was open to other users: 3 of its files and folders are closed now`;
  t.true(server.stderr.startsWith(`${warned}\n`), server.stderr);
  await server.stop();
  await server.restart();
  t.deepEqual(openEntries(server.dataDirectory), []);
  t.false(server.stderr.includes('open to other users'), server.stderr);
});

test('a server goes on when whoever reads what it prints has left', async (t) => {
  const server = await newServer(t, { args: ['--placement', 'single', '-v', '4'] });
  const args = [ORCH, 'up', '--data-dir', server.dataDirectory, '--secure-port', String(server.port), '-v', '4'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.stdout.destroy();
  child.stderr.destroy();
  // Not /readyz, which may say that the log cannot be written.
  await eventually(
    async () =>
      existsSync(server.kubeconfig) && (await server.client.get('/api/v1/namespaces/default').catch(() => undefined)),
    (answer) => answer !== false && answer?.status === 200,
  );
  child.kill('SIGTERM');
  t.is(await ended, 0);
});

test('a second signal ends a server at once, by that signal and not by an abort', async (t) => {
  const server = await startServer(t, { args: ['--shutdown-delay-duration', '1h'] });
  const ended = server.exited();
  // Until one has come after another was handled: two at once are one.
  const again = setInterval(() => {
    // Its end is seen before that of what it printed.
    if (server.isRunning) process.kill(server.pid, 'SIGTERM');
  }, 50);
  await ended;
  clearInterval(again);
  t.is(server.endedBy, 'SIGTERM');
});

test('a server that is to stop later is not ready from then on, lives, and serves', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'wide', '--shutdown-delay-duration', '1h'] });
  const { client } = server;
  process.kill(server.pid, 'SIGTERM');
  const readyz = await eventually(
    () => client.get('/readyz'),
    ({ status }) => status === 500,
  );
  t.regex(readyz.text, /^\[-\]shutdown failed: /m);
  for (const path of ['/livez', '/healthz', '/api/v1/namespaces/default']) {
    t.is((await client.get(path)).status, 200, path);
  }
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } };
  t.is((await client.request('POST', '/api/v1/namespaces', { body })).status, 201);
});

test('SIGINT ends a server with code 0, with watches open', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'default'] });
  const watch = await server.client.watch('/api/v1/namespaces?watch=1');
  await watch.next();
  t.is(await server.stop('SIGINT'), 0);
  t.is(await watch.ended, 'clean');
});

test('a second server on a directory in use is refused, and the first goes on', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  const port = String(await freePort());
  const second = await orch('up', '--data-dir', server.dataDirectory, '--secure-port', port);
  assertRefused(t, second, new RegExp(`${server.dataDirectory} is in use by process ${server.pid}`));
  t.is(readFileSync(join(server.dataDirectory, PID_FILE), 'utf8'), `${server.pid}\n`);
  t.is((await server.client.get('/livez')).status, 200);
});

test('a server that was killed is no obstacle to the next one on its directory', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  const { token } = server;
  await server.kill9();
  t.true(existsSync(join(server.dataDirectory, PID_FILE)));
  await server.restart();
  t.is(server.token, token);
  t.is((await server.client.get('/readyz')).text, 'ok');
});

test('what a server was writing when it was killed, which may be a secret, is gone with the next start', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  await server.kill9();
  const left = ['admin.token', 'pki/cluster-ca.key'].map((name) =>
    join(server.dataDirectory, `${name}.123-0123abcd-1.tmp`),
  );
  for (const path of left) writeFileSync(path, 'a secret');
  await server.restart();
  t.deepEqual(left.filter(existsSync), []);
});

for (const placement of ['single', 'wide']) {
  test(`a taken port is refused under ${placement}`, async (t) => {
    const server = await newServer(t, { args: ['--placement', placement] });
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(server.port, '127.0.0.1', resolve));
    t.teardown(() => void holder.close());
    const failure = await server.start();
    assertRefused(t, failure as Ended, /address 127\.0\.0\.1:\d+ is already in use/, server.dataDirectory);
  });
}

test('a directory that cannot be made is refused', async (t) => {
  const file = join(temporaryDirectory(t), 'file');
  writeFileSync(file, '');
  const refused = await orch('up', '--data-dir', join(file, 'below'), '--secure-port', String(await freePort()));
  assertRefused(t, refused, /the data directory .*\/file\/below is not writable \(ENOTDIR\)/);
});

test('a directory of the other dialect, or under another prefix, is refused and stays as it was', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'single'] });
  t.is(await server.stop(), 0);
  const kubeconfig = readFileSync(server.kubeconfig, 'utf8');
  const directory = server.dataDirectory;
  const start = async (...args: string[]) =>
    orch('up', '--data-dir', directory, '--secure-port', String(await freePort()), ...args);
  const otherDialect = await start('--api-dialect', 'kubernetes');
  assertRefused(
    t,
    otherDialect,
    /was made with --api-dialect orch, not kubernetes: give that, or another --data-dir/,
    directory,
  );
  const otherPrefix = await start('--store-prefix', '/elsewhere');
  assertRefused(t, otherPrefix, /was made with --store-prefix \/registry, not \/elsewhere/, directory);
  t.is(readFileSync(server.kubeconfig, 'utf8'), kubeconfig);
  await server.restart();
  t.is((await server.client.get('/readyz')).text, 'ok');
});

test('a placement that cannot work is refused with its line, by up and by placement check', async (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'placement.mine.json');
  writeFileSync(file, '{\n  "threads": [\n    { "name": "all", "actors": ["store", "stove"] }\n  ]\n}\n');
  const reason = /placement\.mine\.json:3: there is no actor "stove"/;
  const data = join(directory, 'data');
  assertRefused(t, await orch('up', '--data-dir', data, '--placement', file), reason, data);
  assertRefused(t, await orch('placement', 'check', file), reason);
  assertRefused(t, await orch('placement', 'check', 'nowhere'), /the placement "nowhere" cannot be read/);
  assertRefused(t, await orch('placement'), /usage: orch placement check FILE/);
});

const BAD_ARGUMENTS: readonly (readonly [args: readonly string[], reason: RegExp])[] = [
  [['up', '--help=x'], /invalid value "x" for --help: must be true or false/],
  [['up', '--help=false', '--version=maybe'], /invalid value "maybe" for --version/],
  [['up', '--placement', 'no\nwhere'], /the placement "no/],
  [['up', '--nonsense'], /unknown flag: --nonsense/],
  [['up', '--secure-port', 'abc'], /invalid value "abc" for --secure-port/],
  [['up', '--secure-port', '0'], /invalid value "0" for --secure-port/],
  [['up', '--api-dialect', 'klingon'], /"klingon" is not one of orch, kubernetes/],
  [['up', '--request-timeout', '5 minutes'], /invalid value "5 minutes" for --request-timeout/],
  [['up', '--token-auth-file', '/nonexistent/tokens', '--secure-port', '19999'], /cannot be read \(ENOENT\)/],
  [['apiserver', '--authorization-mode', 'Trust'], /"Trust" is not one of/],
  [['nonsense'], /unknown command "nonsense"; see/],
  [['upp'], /unknown command "upp" \(did you mean up\?\); see/],
  [['constructor'], /unknown command "constructor"/],
  [['version', 'now'], /usage: orch version/],
  [['schedule', 'explain'], /^orch: usage: orch schedule explain [^,]*$/m],
  [['schedule', 'simulate'], /^orch: usage: orch schedule simulate [^,]*$/m],
  [['schedule', 'nonsense'], /usage: orch schedule explain .*, or orch schedule simulate .*, or orch schedule replay /],
];
for (const [args, reason] of BAD_ARGUMENTS) {
  test(`orch ${args.join(' ')} is refused with one line`, async (t) => {
    const directory = join(temporaryDirectory(t), 'data');
    const more = args.length > 1 ? ['--data-dir', directory] : [];
    assertRefused(t, await orch(...args, ...more), reason, directory);
  });
}

test('the path of a manifest may hold an equals sign, behind that of its flag too', async (t) => {
  const file = join(temporaryDirectory(t), 'a=b.yaml');
  for (const flags of [[`--filename=${file}`], [`-f=${file}`], ['-f', file]]) {
    const ended = await orch('schedule', 'simulate', ...flags, '--master', 'http://127.0.0.1:1');
    assertRefused(t, ended, /\/a=b\.yaml cannot be read: ENOENT/);
  }
});

test('a snapshot is taken of the etcd that any spelling of the option names', async (t) => {
  const file = join(temporaryDirectory(t), 'snapshot');
  for (const option of ['--store-servers', '--etcd-servers', '--store_servers', '--etcd_servers'])
    assertRefused(
      t,
      await orch('store', 'snapshot', file, `${option}=http://127.0.0.1:1`),
      /127\.0\.0\.1:1 did not answer: /,
    );
});

test('a load that the bench does not know is refused with one line', async (t) => {
  const { code, stdout, stderr } = await orch('bench', 'nonsense');
  t.is(code, 2);
  t.is(stdout, '');
  t.regex(stderr, /^bench: [^\n]*nonsense[^\n]*; see orch bench --help\n$/);
});

test('a token file with a broken line is refused with its number', async (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'tokens.csv');
  writeFileSync(file, 'secret,jane,1\nonly-a-token\n');
  const data = join(directory, 'data');
  const refused = await orch(
    'up',
    '--data-dir',
    data,
    '--secure-port',
    String(await freePort()),
    '--token-auth-file',
    file,
  );
  assertRefused(t, refused, /tokens\.csv:2: /, data);
});

test('help and versions go to stdout', async (t) => {
  const usage = await orch('--help');
  t.deepEqual([usage.code, usage.stderr], [0, '']);
  for (const command of ['up', 'apiserver', 'placement check FILE']) {
    t.regex(usage.stdout, new RegExp(`^ +orch ${command}`, 'm'), command);
  }
  t.deepEqual(await orch(), usage);
  t.deepEqual(await orch('help'), usage);
  const up = await orch('up', '--help');
  t.regex(up.stdout, /^Usage: orch up \[OPTIONS\]$[\s\S]*^ +--data-dir path/m);
  const { stdout } = await orch('--version');
  t.regex(stdout, /^orch \d+\.\d+\.\d+ \(node \d+\.\d+\.\d+\)\n$/);
  t.is((await orch('up', '--version')).stdout, stdout);
});

test('a command whose output cannot be written has failed, and says so in one line; a server goes on', async (t) => {
  const full = openSync('/dev/full', 'w');
  const listed = spawn(process.execPath, [ORCH, 'options'], { stdio: ['ignore', full, 'pipe'] });
  const said = text(listed.stderr!);
  t.deepEqual(await once(listed, 'close'), [1, null]);
  t.is(await said, 'orch: the standard output cannot be written (ENOSPC)\n');
  const [directory, port] = [join(temporaryDirectory(t), 'data'), String(await freePort())];
  const args = ['up', '--placement', 'single', '--data-dir', directory, '--secure-port', port];
  const server = spawn(process.execPath, [ORCH, ...args], { stdio: ['ignore', full, 'ignore'] });
  closeSync(full);
  t.teardown(() => server.kill('SIGKILL'));
  await eventually(async () => existsSync(join(directory, 'admin.conf')), Boolean);
  server.kill('SIGTERM');
  t.deepEqual(await once(server, 'close'), [0, null]);
});

testOn('uws')('a start without a folder for temporary files says which is missing', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const port = String(await freePort());
  const { code, stderr } = await orchIn(
    { TMPDIR: '/nonexistent' },
    'up',
    '--data-dir',
    directory,
    '--secure-port',
    port,
  );
  t.is(code, 1);
  t.regex(stderr, /^orch: .* temporary folder .* \/nonexistent cannot be written to \(ENOENT\): set TMPDIR/m);
});

test('help COMMAND says what COMMAND --help says, also of a command of its own syntax', async (t) => {
  for (const command of [['up'], ['scheduler', '--api-dialect', 'kubernetes'], ['store', 'check'], ['bench']]) {
    const { code, stdout, stderr } = await orch('help', ...command);
    t.deepEqual([code, stderr], [0, ''], command.join(' '));
    t.is(stdout, (await orch(...command, '--help')).stdout);
  }
  assertRefused(t, await orch('help', 'nonsense'), /unknown command "nonsense"/);
  // Who asks for help with what is not there has asked in vain: `store` has no such command, and `up` no commands at all.
  assertRefused(t, await orch('help', 'store', 'nonsense'), /unknown command "store nonsense"; see orch --help/);
  assertRefused(t, await orch('placement', 'nonsense', '--help'), /unknown command "placement nonsense"/);
  assertRefused(t, await orch('help', 'up', 'nonsense'), /unexpected argument "nonsense"/);
});

/** Commands of their own syntax, and what of it their help says. */
const SYNTAXES: Readonly<Record<string, RegExp>> = {
  store: /^usage: orch store check\|reencrypt\|\S+ ARGUMENTS\n\n {2}orch store check DIR +Verify a data folder/,
  'store check': /^usage: orch store check DIR, or /,
  'store repair': /^usage: orch store repair DIR \[--api-dialect NAME\]/,
  'store snapshot': /^usage: orch store snapshot FILE \[--data-dir DIR\]/,
  'store restore': /^usage: orch store restore FILE DIR\n\nMake a new data folder of a snapshot\.\n$/,
  'store reencrypt': /^usage: orch store reencrypt DIR \| /,
  'store move': /^usage: orch store move \[--to\] DIR /,
  schedule: /^usage: orch schedule explain .*, or\n +orch schedule simulate .*, or\n +orch schedule replay /,
  'schedule explain': /^usage: orch schedule explain .*\n\nPrint what a scheduler says /,
  'schedule simulate': /^usage: orch schedule simulate .*\n\nThe same for a pod /,
  placement: /^usage: orch placement check FILE/,
  'placement check': /^usage: orch placement check FILE/,
  'placement compare': /^usage: orch placement check FILE, or orch placement compare FILE FILE\.\.\. /,
  'check-config': /^usage: orch check-config /,
  options: /^usage: orch options /,
  top: /^usage: orch top \[--once\] /,
  bundle: /^usage: orch bundle FILE /,
  completion: /^usage: orch completion bash\|zsh\|fish\n/,
  version: /^usage: orch version\n\nPrint the versions /,
};

test('every command says what it takes when it is asked for help, and has not failed then', async (t) => {
  for (const [command, syntax] of Object.entries(SYNTAXES)) {
    for (const flag of ['--help', '-h']) {
      const { code, stdout, stderr } = await orch(...command.split(' '), flag);
      t.deepEqual([code, stderr], [0, ''], `${command} ${flag}`);
      t.regex(stdout, syntax);
    }
  }
});

test('completion prints a script for each shell, which asks how a line goes on', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await orch('completion', shell);
    t.deepEqual([code, stderr], [0, ''], shell);
    t.regex(stdout, /\bcompletion candidates\b/);
  }
  t.is((await orch('completion', 'candidates', 'up', '--ingress', '')).stdout, 'auto\nuws\nnode\n');
  assertRefused(t, await orch('completion', 'tcsh'), /^orch: usage: orch completion bash\|zsh\|fish$/m);
});

test('options prints what can be set, and what it does when asked', async (t) => {
  const { code, stdout, stderr } = await orch('options', '--effects');
  t.deepEqual([code, stderr], [0, '']);
  t.regex(stdout, /^ {2}--secure-port +6443 +in force +the port that is listened on$/m);
  t.regex(stdout, /^ {2}ResourceQuota +on +/m);
  for (const flag of [['--api-dialect=kubernetes'], ['--api-dialect', 'kubernetes']]) {
    t.regex((await orch('options', ...flag)).stdout, /^ {2}DynamicKubeletConfig +true$/m);
  }
  for (const argument of ['--effect', '--api-dialect=klingon', 'x']) {
    assertRefused(t, await orch('options', argument), /usage: orch options \[--effects\]/);
  }
});

test('placement check prints the threads of a plan and their actors', async (t) => {
  const { code, stdout } = await orch('placement', 'check', 'default');
  t.is(code, 0);
  t.regex(stdout, /^placement default: 2 threads beside the main one$/m);
  t.regex(stdout, /^ +front +ingress auth audit hub admission store$/m);
  t.regex((await orch('placement', 'check', 'single')).stdout, /^placement single: 1 thread beside the main one$/m);
});

function tokenFile(t: ExecutionContext): string {
  const file = join(temporaryDirectory(t), 'tokens.csv');
  writeFileSync(file, 'jane-token,jane,1001,"developers,testers"\nroot-token,root,1,system:masters\n');
  return file;
}

test('apiserver lets every known user in by default, and nobody else', async (t) => {
  const certificates = join(temporaryDirectory(t), 'pki');
  const server = await startServer(t, {
    command: 'apiserver',
    args: ['--cert-dir', certificates, '--token-auth-file', tokenFile(t), '--placement', 'single'],
  });
  t.true(existsSync(join(certificates, 'apiserver.crt')));
  const { client } = server;
  t.is((await client.get('/api/v1/namespaces', { token: 'jane-token' })).status, 200);
  for (const token of ['', 'wrong', 'jane-token2']) {
    const refused = await client.get('/api/v1/namespaces', { token });
    t.is(refused.status, 401, token);
    t.like(refused.json, {
      kind: 'Status',
      status: 'Failure',
      reason: 'Unauthorized',
      message: 'Unauthorized',
      code: 401,
    });
  }
  const basic = await client.get('/api', { token: '', headers: { authorization: 'Basic amFuZTpqYW5l' } });
  t.is(basic.status, 401);
});

test('apiserver listens on every address by default, and on one when told to', async (t) => {
  const certificates = join(temporaryDirectory(t), 'pki');
  const own = ['--cert-dir', certificates, '--placement', 'single'];
  const everywhere = await startServer(t, { command: 'apiserver', args: own });
  const second = new HttpsClient(`https://127.0.0.2:${everywhere.port}`, everywhere.caPem, everywhere.token);
  t.teardown(() => second.close());
  // Reached, though the certificate is for other addresses.
  await t.throwsAsync(second.get('/livez'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  const one = await startServer(t, { command: 'apiserver', args: [...own, '--bind-address', '127.0.0.1'] });
  const outside = new HttpsClient(`https://127.0.0.2:${one.port}`, one.caPem, one.token);
  t.teardown(() => outside.close());
  await t.throwsAsync(outside.get('/livez'), { code: 'ECONNREFUSED' });
});

test('AlwaysDeny forbids, in words that name the user, the verb and the resource, all but superusers', async (t) => {
  const server = await startServer(t, {
    args: ['--authorization-mode', 'AlwaysDeny', '--token-auth-file', tokenFile(t), '--placement', 'single'],
  });
  const { client } = server;
  const cases: readonly (readonly [method: string, path: string, message: string])[] = [
    [
      'GET',
      '/api/v1/namespaces/default/configmaps',
      'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default": Everything is forbidden.',
    ],
    [
      'GET',
      '/apis/apps/v1/namespaces/default/deployments/web',
      'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" in the namespace "default": Everything is forbidden.',
    ],
    [
      'GET',
      '/api/v1/nodes?watch=1',
      'nodes is forbidden: User "jane" cannot watch resource "nodes" in API group "" at the cluster scope: Everything is forbidden.',
    ],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/default/deployments/web/scale',
      'deployments.apps "web" is forbidden: User "jane" cannot patch resource "deployments/scale" in API group "apps" in the namespace "default": Everything is forbidden.',
    ],
    ['GET', '/metrics', 'forbidden: User "jane" cannot get path "/metrics": Everything is forbidden.'],
  ];
  for (const [method, path, message] of cases) {
    const answer = await client.request(method, path, { token: 'jane-token' });
    t.is(answer.status, 403, path);
    t.like(answer.json, { kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 });
  }
  t.is((await client.get('/api/v1/nodes', { token: 'root-token' })).status, 200);
  t.is((await client.get('/api/v1/nodes')).status, 200);
});
