// Calls of services outside, against real servers that do what services should not: hang, trickle, redirect, answer without
// end, show certificates of others, or change what they believe while we run.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { ServiceConnection } from '../../transport/outgoing/connection-file.ts';
import { ServiceCallFailed, ServiceClient, type ServiceRefused } from '../../transport/outgoing/service-client.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { certificateAuthority, certificateOf, intermediateAuthority } from '../server/credentials.ts';
import { testAuthority } from '../server/test-authority.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-service-client-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const PATIENT_MS = 240_000;
const AGAIN_MS = 11_000;
const AUTHORITY = testAuthority(folder, 'ours');
const OTHER = testAuthority(folder, 'theirs');
const PAIR = AUTHORITY.issue('hook', ['127.0.0.1', 'hook.test']);

/** Listens until the test is over, and then lets go of every connection. */
async function listening(t: ExecutionContext, server: Server): Promise<{ port: number; connections: () => number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

interface Asked {
  readonly client: ServiceClient;
  readonly refused: string[];
  readonly files: Map<string, string>;
  /** Time goes by until files are looked at again. */
  later(): void;
}

function asking(t: ExecutionContext, url: string, change: Partial<ServiceConnection> = {}): Asked {
  const files = new Map<string, string>();
  const refused: string[] = [];
  let nowMs = 0;
  const client = new ServiceClient({
    connection: {
      url,
      caPem: AUTHORITY.certPem,
      insecure: false,
      serverName: '',
      certPem: '',
      keyPem: '',
      files: { ca: '', cert: '', key: '' },
      credentials: { kind: 'none' },
      ...change,
    },
    readFile: async (path) => {
      const text = files.get(path);
      if (text === undefined) throw new Error(`no ${path}`);
      return Buffer.from(text);
    },
    nowMs: () => nowMs,
    onRefused: (problem) => refused.push(problem),
  });
  t.teardown(() => client.close());
  const later = (): void => {
    nowMs += AGAIN_MS;
  };
  return { client, refused, files, later };
}

async function hook(
  t: ExecutionContext,
  handler: RequestListener,
  options: ServerOptions = { cert: PAIR.certPem, key: PAIR.keyPem },
): Promise<{ url: string; connections: () => number }> {
  const server = createServer({ keepAliveTimeout: 60_000, ...options }, handler);
  server.on('tlsClientError', () => {});
  const { port, connections } = await listening(t, server);
  return { url: `https://127.0.0.1:${port}/ask`, connections };
}

async function failure(t: ExecutionContext, call: Promise<unknown>): Promise<ServiceCallFailed> {
  return (await t.throwsAsync(call, { instanceOf: ServiceCallFailed }))!;
}

/** Answers what it was sent, and as whom. */
const echo: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => response.end(JSON.stringify({ body, headers: request.headers, method: request.method })));
};

test('a document is posted, its answer read, and the connection kept for the next', async (t) => {
  const { url, connections } = await hook(t, echo);
  const { client } = asking(t, url);
  const answer = (await client.post('{"ask":1}', PATIENT_MS)) as { body: string; headers: Record<string, string> };
  t.is(answer.body, '{"ask":1}');
  t.like(answer.headers, {
    'content-type': 'application/json',
    accept: 'application/json, */*',
    'content-length': '9',
  });
  t.is(answer.headers.authorization, undefined);
  t.like(await client.get(url, PATIENT_MS), { method: 'GET', body: '' });
  t.is(connections(), 1);
});

const basic = `Basic ${Buffer.from('us:a:b').toString('base64')}`;
const CREDENTIALS: readonly (readonly [ServiceConnection['credentials'], string])[] = [
  [{ kind: 'token', token: 'abc' }, 'Bearer abc'],
  [{ kind: 'basic', name: 'us', password: 'a:b' }, basic],
];
for (const [credentials, expected] of CREDENTIALS) {
  test(`credentials of the kind ${credentials.kind} are shown`, async (t) => {
    const { url } = await hook(t, echo);
    const { client } = asking(t, url, { credentials });
    t.like(await client.post('{}', PATIENT_MS), { headers: { authorization: expected } });
  });
}

test('a token file is read again, and one of no use leaves the token that was there', async (t) => {
  const { url } = await hook(t, echo);
  const { client, files, later, refused } = asking(t, url, { credentials: { kind: 'tokenFile', path: '/token' } });
  const shown = async (): Promise<string | undefined> =>
    ((await client.post('{}', PATIENT_MS)) as { headers: Record<string, string> }).headers.authorization;
  const missing = await failure(t, client.post('{}', PATIENT_MS));
  t.is(missing.message, 'the token file cannot be used');
  t.true(missing.mayRepeat);
  files.set('/token', 'first\n');
  t.is(await shown(), 'Bearer first');
  files.set('/token', 'second');
  t.is(await shown(), 'Bearer first');
  later();
  t.is(await shown(), 'Bearer second');
  files.set('/token', 'two words');
  later();
  t.is(await shown(), 'Bearer second');
  later();
  t.is(await shown(), 'Bearer second');
  t.deepEqual(refused, ['/token holds no token']);
});

test('a client certificate is shown, and is another when its files are', async (t) => {
  const { url, connections } = await hook(
    t,
    (request, response) => {
      const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate();
      response.end(JSON.stringify({ commonName: subject?.CN }));
    },
    { cert: PAIR.certPem, key: PAIR.keyPem, ca: AUTHORITY.certPem, requestCert: true, rejectUnauthorized: true },
  );
  const [first, second] = [AUTHORITY.issue('first', [], 'clientAuth'), AUTHORITY.issue('second', [], 'clientAuth')];
  const { certPem, keyPem } = first;
  const { client, files, later, refused } = asking(t, url, {
    certPem,
    keyPem,
    files: { ca: '', cert: '/own.crt', key: '/own.key' },
  });
  t.like(await client.post('{}', PATIENT_MS), { commonName: 'first' });
  files.set('/own.crt', second.certPem).set('/own.key', first.keyPem);
  later();
  t.like(await client.post('{}', PATIENT_MS), { commonName: 'first' });
  t.is(refused.length, 1);
  t.regex(refused[0]!, /^\/own\.crt, \/own\.key cannot be used: the key does not belong to the certificate$/);
  t.is(connections(), 1);
  files.set('/own.key', second.keyPem);
  later();
  t.like(await client.post('{}', PATIENT_MS), { commonName: 'second' });
  t.is(connections(), 2);
  const nobody = asking(t, url);
  t.false((await failure(t, nobody.client.post('{}', PATIENT_MS))).message.includes('BEGIN'));
});

test('the authorities are others when their file is, and a call in progress goes on', async (t) => {
  let release = (): void => {};
  let isAsked = (): void => {};
  const begun = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const { url } = await hook(t, (request, response) => {
    if (request.url !== '/slow') {
      response.end('{}');
      return;
    }
    release = () => response.end('{"slow":true}');
    isAsked();
  });
  const { client, files, later } = asking(t, url, { files: { ca: '/ca.crt', cert: '', key: '' } });
  files.set('/ca.crt', AUTHORITY.certPem);
  const slow = client.get(url.replace('/ask', '/slow'), PATIENT_MS);
  await begun;
  await client.post('{}', PATIENT_MS);
  files.set('/ca.crt', OTHER.certPem);
  later();
  const refused = await failure(t, client.post('{}', PATIENT_MS));
  t.regex(refused.message, /^x509: certificate signed by unknown authority$/);
  t.false(refused.mayRepeat);
  release();
  t.deepEqual(await slow, { slow: true });
});

test('an authority is believed by itself, whether or not the one that vouches for it is known', async (t) => {
  certificateAuthority(folder, 'root');
  intermediateAuthority(folder, 'root', 'branch');
  certificateOf(folder, 'branch', 'hooked', '/CN=hooked', { usage: 'serverAuth', names: ['IP:127.0.0.1'] });
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const { url } = await hook(t, echo, { cert: read('hooked.crt'), key: read('hooked.key') });
  const { client } = asking(t, url, { caPem: read('branch.crt') });
  t.like(await client.post('{}', PATIENT_MS), { body: '{}' });
});

const now = Date.now();
const day = 86_400_000;
const selfSigned = (names: readonly string[], fromMs: number, toMs: number) =>
  makeSelfSigned({ commonName: 'x', names, notBefore: new Date(now + fromMs), notAfter: new Date(now + toMs) });
const UNTRUSTED: readonly (readonly [
  title: string,
  pair: Promise<{ certPem: string; keyPem: string }>,
  code: RegExp,
])[] = [
  ['has expired', selfSigned(['127.0.0.1'], -2 * day, -day), /^x509: certificate has expired or is not yet valid$/],
  ['is not valid yet', selfSigned(['127.0.0.1'], day, 2 * day), /^x509: certificate has expired or is not yet valid$/],
  ['is for another name', selfSigned(['elsewhere.test'], -day, day), /^x509: .* 127\.0\.0\.1/],
];

for (const [title, made, code] of UNTRUSTED) {
  test(`a service whose certificate ${title} is told nothing, and is not asked again`, async (t) => {
    const pair = await made;
    let asked = 0;
    const { url } = await hook(
      t,
      (_, response) => {
        asked++;
        response.end('{}');
      },
      { cert: pair.certPem, key: pair.keyPem },
    );
    const { client } = asking(t, url, { caPem: pair.certPem, credentials: { kind: 'token', token: 'secret' } });
    const failed = await failure(t, client.post('{}', PATIENT_MS));
    t.regex(failed.message, code);
    t.false(failed.mayRepeat);
    t.is(asked, 0);
  });
}

test('a service of an unknown authority is told nothing, unless nothing is verified', async (t) => {
  const { url } = await hook(t, echo);
  t.false((await failure(t, asking(t, url, { caPem: OTHER.certPem }).client.post('{}', PATIENT_MS))).mayRepeat);
  t.false((await failure(t, asking(t, url, { caPem: '' }).client.post('{}', PATIENT_MS))).mayRepeat);
  t.like(await asking(t, url, { caPem: '', insecure: true }).client.post('{}', PATIENT_MS), { method: 'POST' });
});

test('the name that a certificate must be for can be another than that of the address', async (t) => {
  const { url } = await hook(t, echo);
  t.like(await asking(t, url, { serverName: 'hook.test' }).client.post('{}', PATIENT_MS), { method: 'POST' });
  const failed = await failure(t, asking(t, url, { serverName: 'other.test' }).client.post('{}', PATIENT_MS));
  t.regex(failed.message, /^x509: certificate is/);
});

/** What a service may do instead of answering in time. */
const SLOW: Readonly<Record<string, RequestListener>> = {
  'answers nothing': () => {},
  'sends headers and no more': (_, response) => void response.writeHead(200).write('{'),
  'sends a little again and again': (_, response) => {
    const timer = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(timer));
  },
};
for (const [title, handler] of Object.entries(SLOW)) {
  test(`a service that ${title} is given up at the deadline`, async (t) => {
    const { url } = await hook(t, handler);
    const failed = await failure(t, asking(t, url).client.post('{}', 100));
    t.is(failed.message, 'the service did not answer in time');
    t.true(failed.mayRepeat);
  });
}

test('a service that takes connections and says nothing, not even in TLS, is given up at the deadline', async (t) => {
  const { port } = await listening(
    t,
    createTcpServer(() => {}),
  );
  const failed = await failure(t, asking(t, `https://127.0.0.1:${port}`).client.post('{}', 100));
  t.is(failed.message, 'the service did not answer in time');
});

test('a service that speaks no TLS is not asked again, and one that is gone may be', async (t) => {
  const plain = await listening(t, createPlainServer(echo));
  t.false((await failure(t, asking(t, `https://127.0.0.1:${plain.port}`).client.post('{}', PATIENT_MS))).mayRepeat);
  const gone = createTcpServer();
  const { port } = await listening(t, gone);
  await new Promise((resolve) => gone.close(resolve));
  const failed = await failure(t, asking(t, `https://127.0.0.1:${port}`).client.post('{}', PATIENT_MS));
  t.is(failed.message, `dial tcp 127.0.0.1:${port}: connect: connection refused`);
  t.true(failed.mayRepeat);
});

test('a redirection is followed to another path of the service, and to no other place', async (t) => {
  let asked = 0;
  const { url } = await hook(t, ({ url: path }, response) => {
    asked++;
    if (path === '/within') response.end('"within"');
    else response.writeHead(307, { location: path === '/inside' ? 'within' : 'https://localhost:1/elsewhere' }).end();
  });
  t.is(await asking(t, new URL('/inside', url).href).client.post('{}', PATIENT_MS), 'within');
  asked = 0;
  const failed = await failure(t, asking(t, url).client.post('{}', PATIENT_MS));
  t.is(failed.message, 'the service answered 307');
  t.false(failed.mayRepeat);
  t.is(asked, 1);
});

for (const [status, mayRepeat] of [
  [400, false],
  [401, false],
  [404, false],
  [429, true],
  [500, true],
  [503, false],
  [504, true],
] as const) {
  test(`an answer ${status} ${mayRepeat ? 'may be asked for again' : 'is final'}`, async (t) => {
    const { url } = await hook(t, (_, response) => response.writeHead(status).end('{"secret":1}'));
    const failed = await failure(t, asking(t, url).client.post('{}', PATIENT_MS));
    t.is(failed.message, `the service answered ${status}`);
    t.is(failed.mayRepeat, mayRepeat);
  });
}

test('an answer that says when to come again may be asked for again then, where that can help', async (t) => {
  let status = 503;
  const { url } = await hook(t, (_, response) => response.writeHead(status, { 'Retry-After': '7' }).end());
  const failed = (await failure(t, asking(t, url).client.post('{}', PATIENT_MS))) as ServiceRefused;
  t.deepEqual([failed.mayRepeat, failed.retryAfterMs], [true, 7000]);
  status = 400;
  const final = (await failure(t, asking(t, url).client.post('{}', PATIENT_MS))) as ServiceRefused;
  t.deepEqual([final.mayRepeat, final.retryAfterMs], [false, undefined]);
});

test('an answer without end is cut off', async (t) => {
  let isClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    isClosed = resolve;
  });
  const { url } = await hook(t, (_, response) => {
    const chunk = Buffer.alloc(256 * 1024, 0x20);
    const send = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', send).on('close', isClosed);
    send();
  });
  const failed = await failure(t, asking(t, url).client.post('{}', PATIENT_MS));
  t.is(failed.message, 'the service answered more than it may');
  t.false(failed.mayRepeat);
  await closed;
});

test('an answer that breaks off, one that is no JSON, and one that nests too deep to be copied, are failures', async (t) => {
  const { url } = await hook(t, (request, response) => {
    if (request.url === '/text') response.end('no JSON');
    else if (request.url === '/deep') response.end(`${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`);
    else {
      response.writeHead(200, { 'content-length': '10' }).write('{');
      setImmediate(() => response.destroy());
    }
  });
  const { client } = asking(t, url);
  t.true((await failure(t, client.post('{}', PATIENT_MS))).mayRepeat);
  const failed = await failure(t, client.get(url.replace('/ask', '/text'), PATIENT_MS));
  t.is(failed.message, 'the service answered what is no JSON');
  const deep = await failure(t, client.get(url.replace('/ask', '/deep'), PATIENT_MS));
  t.is(deep.message, 'the service answered JSON that nests deeper than 1000 levels');
});

test('halves of characters in an answer are U+FFFD, and one with a field that no object may have is a failure', async (t) => {
  const { url } = await hook(t, (request, response) =>
    response.end(request.url === '/proto' ? '{"a":{"__proto__":1}}' : '{"a":"x\\ud800y"}'),
  );
  const { client } = asking(t, url);
  t.deepEqual(await client.post('{}', PATIENT_MS), { a: 'x\ufffdy' });
  const failed = await failure(t, client.get(url.replace('/ask', '/proto'), PATIENT_MS));
  t.is(failed.message, 'the service answered what cannot be read: the body has a field named "__proto__"');
});

test('a request that does no harm twice is repeated when its kept connection turns out to be closed', async (t) => {
  const served = new WeakSet<object>();
  const { url, connections } = await hook(t, (request, response) => {
    const { socket } = request;
    // Without a word, as after an idle time: the client finds out when it sends.
    if (served.has(socket)) socket.destroy();
    else response.end('{}');
    served.add(socket);
  });
  const { client } = asking(t, url);
  for (let round = 1; round <= 5; round++) {
    t.deepEqual(await client.get(url, PATIENT_MS), {});
    t.is(connections(), round);
  }
});

test('what the service has read is not asked for twice, though its kept connection was closed without an answer', async (t) => {
  const served = new WeakSet<object>();
  let asked = 0;
  const { url } = await hook(t, (request, response) => {
    asked++;
    const { socket } = request;
    request.resume().on('end', () => {
      if (served.has(socket)) socket.destroy();
      else response.end('{}');
      served.add(socket);
    });
  });
  const { client } = asking(t, url);
  t.deepEqual(await client.post('{}', PATIENT_MS), {});
  const failed = await failure(t, client.post('{}', PATIENT_MS));
  t.true(failed.isOpen);
  t.true(failed.mayRepeat);
  t.is(asked, 2);
  t.deepEqual(await client.post('{}', PATIENT_MS), {});
  const read = await client.postUnread('{}', PATIENT_MS);
  t.deepEqual(read(), {}, 'but for what only asks');
  t.is(asked, 5);
});

test('an address of another protocol is a failure like others', async (t) => {
  const { url } = await hook(t, echo);
  const failed = await failure(t, asking(t, url).client.get('ftp://127.0.0.1/x', PATIENT_MS));
  t.false(failed.mayRepeat);
});
