// `orch store …` as an operator meets it: real servers, real folders, real damage.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { ORCH } from '../server/program.ts';
import { type FailedStart, ServerProcess, startServer } from '../server/server-process.ts';

// One after the other: each starts processes of its own.
const test = ava.serial;
const MAPS = '/api/v1/namespaces/default/configmaps';
const SINGLE = ['--placement', 'single'];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function store(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ORCH, 'store', ...args], { timeout: 240_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

function temporaryDirectory(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-store-tools-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function configMap(name: string, text: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } };
}

async function create(client: HttpsClient, name: string, text = name): Promise<string> {
  const answer = await client.request('POST', MAPS, { body: configMap(name, text) });
  return answer.json.metadata.resourceVersion ?? '';
}

/** Names and resource versions of the config maps there are. */
async function listed(client: HttpsClient): Promise<{ version: number; items: Map<string, string> }> {
  const { json } = await client.get(MAPS);
  const items = (json.items ?? []).map(
    ({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? ''] as const,
  );
  return { version: Number(json.metadata.resourceVersion), items: new Map(items) };
}

/** What a watch from a resource version is told first. */
async function firstWatched(client: HttpsClient, resourceVersion: string | number): Promise<unknown> {
  const watch = await client.watch(`${MAPS}?watch=1&resourceVersion=${resourceVersion}`);
  return await watch.next();
}

/** Flips a bit in the middle of what holds a text in the store's log. */
function damage(dataDirectory: string, text: string): void {
  const directory = join(dataDirectory, 'store');
  const name = readdirSync(directory)
    .filter((one) => one.endsWith('.log'))
    .find((one) => readFileSync(join(directory, one)).includes(text))!;
  const bytes = readFileSync(join(directory, name));
  bytes[bytes.lastIndexOf(text)]! ^= 1;
  writeFileSync(join(directory, name), bytes);
}

test('a damaged store is refused with one line that names the check; the check says what, the repair saves the rest', async (t) => {
  const server = await startServer(t, { args: SINGLE });
  const first = await create(server.client, 'first');
  await create(server.client, 'struck', 'a text that is only here');
  const last = await create(server.client, 'last');
  t.is(await server.stop(), 0);
  const { dataDirectory } = server;
  t.is((await store('check', dataDirectory)).code, 0);
  damage(dataDirectory, 'a text that is only here');

  for (let attempt = 1; attempt <= 2; attempt++) {
    const failure = (await server.start()) as FailedStart;
    t.is(failure.code, 1);
    t.regex(failure.stderr, /^orch: the store is damaged: events \d+ to \d+ .*missing; see orch store check \/.+\n$/);
    t.true(failure.stderr.includes(`orch store check ${dataDirectory}`));
  }
  const checked = await store('check', dataDirectory);
  t.is(checked.code, 1);
  t.regex(checked.stdout, /^damaged: \d+\.log: at byte \d+, a record does not match its checksum$/m);
  t.regex(checked.stdout, /^damaged: events (\d+) to \1 are missing$/m);
  t.regex(checked.stderr, /^orch: the store in \/.+ is damaged; orch store repair \/.+ saves .*\n$/);

  const repaired = await store('repair', dataDirectory);
  t.deepEqual([repaired.code, repaired.stderr], [0, '']);
  t.regex(repaired.stdout, /^lost: whatever else was written in revisions \d+ to \d+/m);
  t.regex(repaired.stdout, /^the damaged files are kept in \/.+\/damaged-1$/m);
  t.true(readdirSync(join(dataDirectory, 'damaged-1', 'store')).length > 2);
  const again = await store('check', dataDirectory);
  t.is(again.code, 0, again.stdout);
  t.regex((await store('repair', dataDirectory)).stdout, /^the store is sound: nothing was changed$/m);

  await server.restart();
  const { items, version } = await listed(server.client);
  t.like(Object.fromEntries(items), { first, last });
  t.false(items.has('struck'));
  t.true(version > Number(last));
  t.true(Number(await create(server.client, 'struck')) > version);
  t.like(await firstWatched(server.client, last), { type: 'ERROR', object: { code: 410 } });
});

test('objects that no history tells of any more are counted among what a repair has lost', async (t) => {
  const server = await startServer(t, { args: SINGLE });
  await create(server.client, 'struck', 'a text that is only here');
  const [file, folder] = [join(server.dataDirectory, 'snapshot'), join(server.dataDirectory, 'restored')];
  t.is((await store('snapshot', file, '--data-dir', server.dataDirectory)).code, 0);
  await server.stop();
  t.is((await store('restore', file, folder)).code, 0);
  damage(folder, 'a text that is only here');
  const missing = /^damaged: there must be (\d+) objects at revision \d+, (\d+) were found$/m;
  const { stdout } = await store('repair', folder);
  const [, expected, found] = missing.exec(stdout) ?? [];
  const lost = Number(expected) - Number(found);
  t.true(lost > 0, stdout);
  t.regex(stdout, new RegExp(`^lost: ${lost} objects? of which nothing is left, not even the name$`, 'm'));
  t.regex(stdout, new RegExp(`^repaired: ${found} objects; `, 'm'));
  t.is((await store('check', folder)).code, 0);
});

test('a store beside which nothing says up to where it was acknowledged is refused, and a repair loses nothing', async (t) => {
  const server = await startServer(t, { args: SINGLE });
  const version = await create(server.client, 'kept');
  const { dataDirectory } = server;
  await server.stop();
  writeFileSync(join(dataDirectory, 'head'), 'garbage');
  t.regex(
    ((await server.start()) as FailedStart).stderr,
    /is damaged: the file head cannot be read, .*; see orch store check/,
  );
  t.regex((await store('check', dataDirectory)).stdout, /^damaged: the file head cannot be read/m);
  t.regex((await store('repair', dataDirectory)).stdout, /^lost: no object, only the history of changes$/m);
  t.is((await store('check', dataDirectory)).code, 0);
  await server.restart();
  t.is((await listed(server.client)).items.get('kept'), version);
});

test('a store that has lost whose it is gets its dialect back from its objects, or as the operator says', async (t) => {
  const server = await startServer(t, { args: [...SINGLE, '--api-dialect', 'kubernetes'] });
  const version = await create(server.client, 'kept');
  const { dataDirectory } = server;
  await server.stop();
  damage(dataDirectory, '"dialect":"kubernetes"');
  t.regex(((await server.start()) as FailedStart).stderr, /is damaged: .*; see orch store check/);
  t.regex((await store('check', dataDirectory)).stdout, /^dialect unknown$/m);
  const refused = await store('repair', dataDirectory, '--api-dialect', 'klingon');
  t.regex(refused.stderr, /"klingon" is not one of orch, kubernetes/);
  const repaired = await store('repair', dataDirectory);
  t.regex(repaired.stdout, /^lost: no object, only the history of changes$/m);
  t.regex((await store('check', dataDirectory)).stdout, /^dialect kubernetes\nprefix \/registry$/m);
  await server.restart();
  t.is((await listed(server.client)).items.get('kept'), version);
});

test('a running server is saved into a file while it writes, and restored into a folder that serves the same', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'default'] });
  const { client, dataDirectory } = server;
  const before = new Map<string, string>();
  for (let number = 0; number < 60; number++) {
    before.set(`map-${number}`, await create(client, `map-${number}`, 'x'.repeat(20_000)));
  }
  let isSaving = true;
  const writer = (async () => {
    for (let number = 0; isSaving; number++) await create(client, `later-${number}`);
  })();
  const directory = temporaryDirectory(t);
  const file = join(directory, 'snapshot');
  const saved = await store('snapshot', file, '--data-dir', dataDirectory);
  isSaving = false;
  await writer;
  t.deepEqual([saved.code, saved.stderr], [0, '']);
  const revision = Number(/ of revision (\d+) in /.exec(saved.stdout)?.[1]);
  t.deepEqual(readdirSync(directory), ['snapshot']);
  const now = await listed(client);
  t.true(now.version >= revision);

  const target = join(directory, 'restored');
  const restored = await store('restore', file, target);
  t.deepEqual([restored.code, restored.stderr], [0, '']);
  t.is((await store('check', target)).code, 0);
  const second = new ServerProcess(target, await freePort(), { args: SINGLE });
  t.teardown(() => second.dispose());
  t.is(await second.start(), undefined);
  const { items, version } = await listed(second.client);
  // Exactly what had a revision up to the snapshot's, each at its own; but the authority is the new server's.
  const ofClients = (all: ReadonlyMap<string, string>) =>
    [...all].filter(([name]) => !name.endsWith('root-ca.crt')).sort();
  const expected = new Map([...now.items].filter(([, itemVersion]) => Number(itemVersion) <= revision));
  t.deepEqual(ofClients(items), ofClients(expected));
  t.true([...before].every(([name, itemVersion]) => items.get(name) === itemVersion));
  t.true(version > now.version);
  for (const old of [revision, now.version]) {
    t.like(await firstWatched(second.client, old), { type: 'ERROR', object: { code: 410 } });
  }
  t.true(Number(await create(second.client, 'new')) > version);
});

test('a snapshot is for superusers, and its refusals leave no file', async (t) => {
  const directory = temporaryDirectory(t);
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, 'jane-token,jane,1001,developers\n');
  const server = await startServer(t, { args: [...SINGLE, '--token-auth-file', tokens] });
  const refused = await server.client.get('/store/snapshot', { token: 'jane-token' });
  t.is(refused.status, 403);
  t.like(refused.json, { kind: 'Status', reason: 'Forbidden', code: 403 });
  t.is((await server.client.request('POST', '/store/snapshot')).status, 405);

  const inUse = new RegExp(`is in use by process ${server.pid}\\n$`);
  for (const command of ['check', 'repair']) {
    const ended = await store(command, server.dataDirectory);
    t.is(ended.code, 1);
    t.regex(ended.stderr, inUse);
  }
  const file = join(directory, 'snapshot');
  await server.stop();
  const unreachable = await store('snapshot', file, '--data-dir', server.dataDirectory);
  t.is(unreachable.code, 1);
  t.regex(unreachable.stderr, /^orch: the server at \S+ does not answer: .*\n$/);
  t.deepEqual(readdirSync(directory), ['tokens.csv']);
});

test('a snapshot takes the place of a file alone: a link leads to it, and a folder or a socket stays what it is', async (t) => {
  const directory = temporaryDirectory(t);
  const server = await startServer(t, { args: SINGLE });
  // In place of a device, which no test ought to put at risk.
  const sockets = temporaryDirectory(t);
  const socket = createServer().listen(join(sockets, 'socket'));
  t.teardown(() => void socket.close());
  await once(socket, 'listening');
  const saved = (file: string) => store('snapshot', file, '--data-dir', server.dataDirectory);
  for (const [file, problem] of [
    [directory, 'it is a folder'],
    [join(sockets, 'socket'), 'it is no file'],
    [join(directory, 'none', 'file'), '(ENOENT)'],
  ] as const) {
    const ended = await saved(file);
    t.is(ended.code, 1);
    t.regex(ended.stderr, /^orch: [^\n]+\n$/);
    t.true(ended.stderr.includes(`${file} cannot be written`) && ended.stderr.includes(problem), ended.stderr);
  }
  t.true(lstatSync(join(sockets, 'socket')).isSocket());
  t.deepEqual(readdirSync(sockets), ['socket']);
  t.deepEqual(readdirSync(directory), []);
  writeFileSync(join(directory, 'old'), 'old');
  symlinkSync('old', join(directory, 'link'));
  t.is((await saved(join(directory, 'link'))).code, 0);
  t.true(lstatSync(join(directory, 'link')).isSymbolicLink());
  t.true(readFileSync(join(directory, 'old')).length > 1000);
  t.deepEqual(readdirSync(directory).sort(), ['link', 'old']);
});

const REFUSALS: readonly (readonly [args: readonly string[], reason: RegExp])[] = [
  [[], /usage: orch store check\|reencrypt\|repair\|snapshot\|move\|restore ARGUMENTS$/],
  [['nonsense'], /usage: orch store check\|reencrypt\|repair\|snapshot\|move\|restore ARGUMENTS$/],
  [['__proto__'], /usage: orch store check\|reencrypt\|repair\|snapshot\|move\|restore ARGUMENTS$/],
  [['check'], /usage: orch store check DIR, or orch store check --store-servers URLS/],
  [['check', '/nonexistent'], /there is no store in \/nonexistent$/],
  [['check', '/a', '/b'], /usage: /],
  [['repair'], /usage: orch store repair DIR \[--api-dialect NAME\], or orch store repair --store-servers URLS/],
  [['repair', '/nonexistent'], /there is no store in \/nonexistent$/],
  [['snapshot'], /usage: orch store snapshot FILE/],
  [['snapshot', '/tmp/x', '--data-dir', '/nonexistent'], /no server was started on \/nonexistent$/],
  [['restore', '/nonexistent'], /usage: orch store restore FILE DIR$/],
  [['restore', '/nonexistent', '/nonexistent-too'], /there is no file \/nonexistent$/],
  [['restore', '/tmp', '/nonexistent-too'], /\/tmp cannot be read \(it is no file\)$/],
  [['restore', ORCH, join(ORCH, 'below')], /the directory .*below cannot be written to \(ENOTDIR\)$/],
];

test('what a store command cannot use is refused with one line', async (t) => {
  for (const [args, reason] of REFUSALS) {
    const { code, stdout, stderr } = await store(...args);
    t.deepEqual([code, stdout], [1, ''], args.join(' '));
    t.regex(stderr.trimEnd(), reason);
    t.regex(stderr, /^orch: [^\n]+\n$/);
  }
});

test('a kubeconfig of the folder that is damaged is told of by its name', async (t) => {
  const directory = temporaryDirectory(t);
  for (const text of ['', 'text', '[', 'clusters: [{}]\nusers: [{}]', 'clusters: {}']) {
    writeFileSync(join(directory, 'admin.conf'), text);
    const { code, stderr } = await store('snapshot', join(directory, 'file'), '--data-dir', directory);
    t.is(code, 1);
    t.regex(stderr, /^orch: \/.+\/admin\.conf(?:: line \d+: .*| names no server and user)\n$/, text);
  }
  t.deepEqual(readdirSync(directory), ['admin.conf']);
});

test('a folder that cannot be read is not told to be empty', async (t) => {
  const directory = temporaryDirectory(t);
  // A link to itself: what may not be read root may read.
  const path = join(directory, 'data');
  symlinkSync('data', path);
  for (const args of [['check'], ['repair'], ['snapshot', join(directory, 'file'), '--data-dir']]) {
    const { code, stderr } = await store(...args, path);
    t.deepEqual([code, stderr], [1, `orch: the data directory ${path} cannot be read (ELOOP)\n`]);
  }
});

test('metrics say how many objects there are of each resource, and how much room they take', async (t) => {
  const server = await startServer(t, { args: [...SINGLE, '--store-count-metric-poll-period', '100ms'] });
  await create(server.client, 'counted');
  for (;;) {
    const { text } = await server.client.get('/metrics');
    const configMaps = Number(
      /^apiserver_storage_objects\{[^}]*resource="configmaps"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0,
    );
    if (configMaps === 0) continue;
    t.regex(text, /^apiserver_storage_objects\{[^}]*resource="namespaces"[^}]*\} \d+$/m);
    t.regex(text, /^apiserver_storage_db_total_size_in_bytes(?:\{[^}]*\})? [1-9]/m);
    return;
  }
});
