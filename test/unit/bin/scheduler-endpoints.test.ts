// What a scheduler of its own shows of itself in TLS, and whom it believes, while files are replaced under it.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, createServer, get } from 'node:http';
import { get as getSecurely } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { connect } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { freePort } from '../../../bench/server/free-port.ts';
import { schedulerConfiguration } from '../../../bin/files/scheduler-configuration.ts';
import { SchedulerEndpoints } from '../../../bin/scheduler/scheduler-endpoints.ts';
import { schedulerTls } from '../../../bin/scheduler/scheduler-tls.ts';
import type { SchedulerOptions } from '../../../config/options.ts';
import { parseArguments } from '../../../config/parse.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { OTHER, PAIR } from '../transport/outgoing/made-pairs.ts';

const LOOK_MS = 100;

/** Whose certificate a client is shown that asks for `servername`, if it is shown one. */
function shownAt(port: number, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.end();
    });
    socket.on('error', reject);
  });
}

/** The same, asked for until it is told: other tests keep this thread for longer than a handshake may take. */
async function nameAt(port: number, servername: string): Promise<string> {
  for (;;) {
    const name = await shownAt(port, servername).catch(() => undefined);
    if (name !== undefined) return name;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** What is answered at `path`, asked for in the same way. */
async function answerAt(port: number, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const options = { port, path, rejectUnauthorized: false, agent: false };
  for (;;) {
    try {
      return await new Promise((resolve, reject) => {
        getSecurely(options, (answer) => {
          const text = readText(answer);
          text.then((said) => resolve({ status: answer.statusCode ?? 0, text: said }), reject);
        }).on('error', reject);
      });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

async function nameBecomes(t: ExecutionContext, port: number, servername: string, name: string): Promise<void> {
  while ((await nameAt(port, servername)) !== name) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  t.pass();
}

async function opened(
  t: ExecutionContext,
  files: Record<string, string>,
  args: (at: (name: string) => string) => string[],
  health = '',
) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-scheduler-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const at = (name: string): string => join(directory, name);
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  const port = await freePort();
  const argv = ['--secure-port', String(port), '--port', '0', '--bind-address', '127.0.0.1', ...args(at)];
  const { options } = parseArguments('scheduler', argv) as { options: SchedulerOptions };
  const told: string[] = [];
  const write = (line: string): void => {
    const { err, msg } = JSON.parse(line) as { readonly err?: { readonly message: string }; readonly msg: string };
    told.push(err?.message ?? msg);
  };
  const endpoints = new SchedulerEndpoints({
    options,
    configuration: schedulerConfiguration(options),
    written: {},
    metrics: new MetricsRegistry(),
    log: pino({}, { write }),
    health: () => health,
    podResources: async () => '',
  });
  await endpoints.open();
  t.teardown(() => endpoints.close());
  return { at, port, told };
}

test('a scheduler serves a pair, and believes authorities of clients, that are replaced while the one for a name, and authorities of proxies, are of no use', async (t) => {
  const files = {
    cert: PAIR.certPem,
    key: PAIR.keyPem,
    'sni.cert': PAIR.certPem,
    'sni.key': PAIR.keyPem,
    proxies: PAIR.certPem,
  };
  const { at, port, told } = await opened(t, { ...files, clients: OTHER.certPem }, (at) => [
    ...['--tls-cert-file', at('cert'), '--tls-private-key-file', at('key')],
    ...['--tls-sni-cert-key', `${at('sni.cert')},${at('sni.key')}:a.test`],
    ...['--client-ca-file', at('clients'), '--requestheader-client-ca-file', at('proxies')],
    ...['--authorization-always-allow-paths', '/healthz'],
  ]);
  t.is(await nameAt(port, 'b.test'), 'x');
  rmSync(at('sni.key'));
  writeFileSync(at('proxies'), 'half of a cert');
  writeFileSync(at('clients'), PAIR.certPem);
  writeFileSync(at('cert'), OTHER.certPem);
  writeFileSync(at('key'), OTHER.keyPem);
  await nameBecomes(t, port, 'b.test', 'y');
  while (!told.includes('clients are believed by other authorities'))
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  t.is(await nameAt(port, 'a.test'), 'x');
  const problems = [`${at('proxies')} holds no certificates`, `${at('sni.key')} cannot be read (ENOENT)`];
  while (!problems.every((one) => told.includes(one))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  writeFileSync(at('sni.cert'), OTHER.certPem);
  writeFileSync(at('sni.key'), OTHER.keyPem);
  await nameBecomes(t, port, 'a.test', 'y');
});

test('a scheduler that believes other authorities keeps no connection to whom it asked about clients before', async (t) => {
  const server = createServer({ keepAliveTimeout: 0 }, (_, response) => response.end('{"status":{"allowed":false}}'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close().closeAllConnections());
  const asked = new Promise<Socket>((resolve) => void server.once('connection', resolve));
  const file = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
    users: [{ name: 'u', user: {} }],
  });
  const files = { cert: PAIR.certPem, key: PAIR.keyPem, clients: OTHER.certPem, file };
  const { at, port, told } = await opened(t, files, (at) => [
    ...['--tls-cert-file', at('cert'), '--tls-private-key-file', at('key'), '--client-ca-file', at('clients')],
    ...['--authorization-orchconfig', at('file'), '--authentication-skip-lookup'],
  ]);
  t.is((await answerAt(port, '/metrics')).status, 403);
  const ended = once(await asked, 'close');
  writeFileSync(at('clients'), PAIR.certPem);
  await ended;
  while (!told.includes('clients are believed by other authorities'))
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  t.pass();
});

test('a scheduler whose own pair is made for its process serves a pair for a name that is replaced', async (t) => {
  const { at, port } = await opened(t, { 'sni.cert': PAIR.certPem, 'sni.key': PAIR.keyPem }, (at) => [
    ...['--cert-dir', '', '--tls-sni-cert-key', `${at('sni.cert')},${at('sni.key')}:a.test`],
  ]);
  await nameBecomes(t, port, 'a.test', 'x');
  const name = await nameAt(port, 'b.test');
  writeFileSync(at('sni.cert'), OTHER.certPem);
  writeFileSync(at('sni.key'), OTHER.keyPem);
  await nameBecomes(t, port, 'a.test', 'y');
  t.is(await nameAt(port, 'b.test'), name);
});

test('the certificate that a scheduler makes for a blank address to listen on has no blank name', async (t) => {
  const { options } = parseArguments('scheduler', ['--bind-address', '']) as { options: SchedulerOptions };
  const { tls } = await schedulerTls(options, '');
  const names = new X509Certificate(tls.certPem).subjectAltName?.split(', ') ?? [];
  t.true(names.includes('DNS:localhost'));
  t.deepEqual(
    names.filter((name) => name === 'DNS:'),
    [],
  );
});

test('a scheduler that is not well says so by the name of the endpoint that was asked', async (t) => {
  const { port } = await opened(t, {}, () => [], 'the lock is not held');
  for (const endpoint of ['healthz', 'livez', 'readyz']) {
    t.is(
      (await answerAt(port, `/${endpoint}`)).text,
      `[+]ping ok\n[-]leaderElection failed: reason withheld\n${endpoint} check failed\n`,
    );
  }
});

/** A scheduler that shows its profiles to everyone, over HTTPS and in plain HTTP: the two addresses. */
async function profiled(t: ExecutionContext): Promise<readonly [secure: string, plain: string]> {
  const plain = await freePort();
  const { port } = await opened(t, {}, () => [
    ...['--port', String(plain), '--address', '127.0.0.1', '--profiling'],
    ...['--authorization-always-allow-paths', '/debug/pprof/*'],
  ]);
  return [`https://127.0.0.1:${port}/debug/pprof`, `http://127.0.0.1:${plain}/debug/pprof`];
}

function ask(url: string): { readonly request: ClientRequest; readonly status: Promise<number | undefined> } {
  const request = url.startsWith('https:') ? getSecurely(url, { rejectUnauthorized: false }) : get(url);
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  return { request, status };
}

test.serial(
  'of a scheduler one profile is taken at a time, on whichever of its ports, and it ends when its client leaves',
  async (t) => {
    const [secure, plain] = await profiled(t);
    const long = `${plain}/profile?seconds=300`;
    const look = (): Promise<number | undefined> => ask(`${secure}/heap?seconds=1`).status;
    let left = ask(long);
    for (let isTaken = false; !isTaken; ) {
      const looked = look();
      // A look that was before it had it refused.
      const wasRefused = await Promise.race([left.status.then(() => true), looked.then(() => false)]);
      isTaken = (await looked) === 409;
      if (wasRefused) left = ask(long);
    }
    left.request.destroy();
    await t.throwsAsync(left.status);
    while ((await look()) !== 200);
  },
);

test('a check that a scheduler is to leave out and does not have is told, as a server tells it', async (t) => {
  const plain = await freePort();
  await opened(t, {}, () => ['--port', String(plain), '--address', '127.0.0.1']);
  const text = (query: string): Promise<string> =>
    fetch(`http://127.0.0.1:${plain}/healthz?${query}`).then((answer) => answer.text());
  t.is(
    await text('verbose&exclude=ping&exclude=other&exclude=nothing'),
    '[+]ping excluded: ok\n[+]leaderElection ok\n' +
      'warn: some health checks cannot be excluded: no matches for "nothing","other"\nhealthz check passed\n',
  );
  t.is(await text('exclude=nothing'), 'ok');
});
