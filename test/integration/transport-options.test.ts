// The options of the secure listener on running servers: each with a good value as TLS clients see it, and with a bad one,
// which ends the start in one line. `fast` is served by uws and `full` by Node's listener, as --ingress auto chooses.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { type RequestOptions, request as startRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { type ConnectionOptions, connect } from 'node:tls';
import test from 'ava';
import { sharesPorts } from '../../transport/node/port-sharing.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type FailedStart, newServer, type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { type IssuedPair, type TestAuthority, testAuthority } from '../server/test-authority.ts';
import { eventually } from './objects.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-transport-options-'));
const undo: (() => void | Promise<void>)[] = [() => rmSync(folder, { recursive: true, force: true })];
const scope: Scope = { teardown: (step) => undo.push(step) };
const path = (name: string): string => join(folder, name);

const BROWSER_ARGS = [
  ...['--strict-transport-security-directives', 'preload,max-age=31536000'],
  ...[
    '--cors-allowed-origins',
    '^https://(.+\\.)?example\\.com$',
    '--cors-allowed-origins',
    '^http://localhost(:[0-9]+)?$',
  ],
];

let authority!: TestAuthority;
let fast!: ServerProcess;
let full!: ServerProcess;

/** Puts the pair where a server looks for it. */
function install({ certFile, keyFile }: IssuedPair, name: string): void {
  copyFileSync(keyFile, path(`${name}.key`));
  copyFileSync(certFile, path(`${name}.crt`));
}

/** One after the other: some replace the files that others look at. */
const declare = test.serial;

test.before(async () => {
  authority = testAuthority(folder);
  for (const name of ['fast', 'full', 'sni', 'address'])
    install(authority.issue(name, ['localhost', `${name}.test`]), name);
  install(authority.issue('wild', ['*.wild.test']), 'wild');
  for (const name of ['clients.crt', 'proxies.crt']) copyFileSync(authority.certFile, path(name));
  const pairArgs = (name: string) => [
    '--tls-cert-file',
    path(`${name}.crt`),
    '--tls-private-key-file',
    path(`${name}.key`),
  ];
  const sni = (name: string, ...patterns: string[]) => [
    '--tls-sni-cert-key',
    [`${path(`${name}.crt`)},${path(`${name}.key`)}`, ...patterns].join(':'),
  ];
  [fast, full] = await Promise.all([
    startServer(scope, {
      args: [
        ...[...pairArgs('fast'), ...BROWSER_ARGS, '--placement', 'single', '--permit-address-sharing'],
        ...['--tls-cipher-suites', 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA'],
      ],
    }),
    startServer(scope, {
      args: [
        ...[...pairArgs('full'), ...BROWSER_ARGS, '--placement', 'single', '--bind-address', '0.0.0.0'],
        ...[...sni('sni', 'sni.test,*.said.test'), ...sni('wild'), ...sni('address', '127.0.0.2')],
        ...['--tls-min-version', 'VersionTLS11', '--client-ca-file', path('clients.crt')],
        ...['--requestheader-client-ca-file', path('proxies.crt'), '--requestheader-username-headers', 'X-Remote-User'],
      ],
    }),
  ]);
});

test.after.always(async () => {
  for (const step of undo.reverse()) await step();
});

interface Seen {
  readonly commonName: string;
  readonly version: string | null;
  readonly suite: string;
}

/** What a client agrees on with the server; undefined where it comes to nothing. */
function seen({ port }: ServerProcess, options: ConnectionOptions = {}): Promise<Seen | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      ca: authority.certPem,
      checkServerIdentity: () => undefined,
      ...options,
    });
    socket.once('secureConnect', () => {
      const { standardName } = socket.getCipher();
      const commonName = String(socket.getPeerCertificate().subject.CN);
      resolve({ commonName, version: socket.getProtocol(), suite: standardName });
      socket.destroy();
    });
    socket.once('error', () => resolve(undefined));
  });
}

const commonName = async (server: ServerProcess, options?: ConnectionOptions): Promise<string | undefined> =>
  (await seen(server, options))?.commonName;

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request on a connection of its own. */
function sent({ port }: ServerProcess, options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port, path: '/version', servername: 'localhost', ca: authority.certPem };
    const request = startRequest({ ...target, agent: false, ...options }, (answer) => {
      const { statusCode: status, headers } = answer;
      readText(answer).then((text) => resolve({ status, headers, text }), reject);
    });
    request.once('error', reject).end();
  });
}

/** A request as a browser sends it for a script. */
function asked(server: ServerProcess, method: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const authorization = method === 'OPTIONS' ? {} : { authorization: `Bearer ${server.token}` };
  return sent(server, { method, headers: { ...headers, ...authorization } });
}

/** What a program prints, and how it ends. */
function run(program: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, args, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: `${stdout}${stderr}` }),
    );
    child.stdin?.end();
  });
}

declare('--tls-cert-file and --tls-private-key-file are read again when they change, on either listener', async (t) => {
  for (const [name, server] of [
    ['fast', fast],
    ['full', full],
  ] as const) {
    t.is(await commonName(server), name);
    writeFileSync(path(`${name}.crt`), 'half a certificate');
    await eventually(
      async () => server.stderr,
      (text) => text.includes('the certificates that were replaced are not served'),
    );
    t.is(await commonName(server), name);
    install(authority.issue(`${name} renewed`, ['localhost']), name);
    await eventually(
      () => commonName(server),
      (seenName) => seenName === `${name} renewed`,
    );
    t.is((await asked(server, 'GET')).status, 200);
  }
});

declare('--tls-sni-cert-key is the certificate of its names, and is read again when it changes', async (t) => {
  const names: Readonly<Record<string, string>> = {
    'sni.test': 'sni',
    'a.said.test': 'sni',
    'b.a.said.test': 'full',
    'a.wild.test': 'wild',
    'elsewhere.test': 'full',
  };
  for (const [servername, expected] of Object.entries(names))
    t.regex((await commonName(full, { servername })) ?? '', new RegExp(`^${expected}`), servername);
  t.is(await commonName(full, { host: '127.0.0.2' }), 'address');
  t.is(await commonName(full, { host: '127.0.0.2', servername: 'sni.test' }), 'sni');
  install(authority.issue('wild renewed', ['*.rewild.test']), 'wild');
  await eventually(
    () => commonName(full, { servername: 'a.rewild.test' }),
    (name) => name === 'wild renewed',
  );
});

declare('--client-ca-file and --requestheader-client-ca-file are read again when they change', async (t) => {
  const next = testAuthority(folder, 'next');
  const statusOf = async ({ certPem, keyPem }: IssuedPair, headers = {}): Promise<number | undefined> =>
    (await sent(full, { cert: certPem, key: keyPem, headers })).status;
  const isKnown = (status: number | undefined): boolean => status === 200 || status === 403;
  for (const [file, headers] of [
    ['clients.crt', {}],
    ['proxies.crt', { 'x-remote-user': 'jane' }],
  ] as const) {
    const [before, after] = [authority.issue('someone', [], 'clientAuth'), next.issue('someone', [], 'clientAuth')];
    t.true(isKnown(await statusOf(before, headers)), file);
    copyFileSync(next.certFile, path(file));
    await eventually(() => statusOf(after, headers), isKnown);
    writeFileSync(path(file), 'no certificates');
    await eventually(
      async () => full.stderr,
      (text) => text.includes('the authorities that were replaced are not believed'),
    );
    t.true(isKnown(await statusOf(after, headers)), file);
    copyFileSync(next.certFile, path(file));
  }
  // Nobody is left who believes the first authority.
  await eventually(
    () => statusOf(authority.issue('someone', [], 'clientAuth')),
    (status) => status === 401,
  );
  const published = '/api/v1/namespaces/orch-system/configmaps/extension-apiserver-authentication';
  const tokenHeaders = { authorization: `Bearer ${full.token}` };
  const authorityText = JSON.stringify(next.certPem).slice(1, -1).trim().slice(0, -2);
  await eventually(
    () => sent(full, { path: published, headers: tokenHeaders }),
    ({ text }) => text.includes(authorityText),
  );
});

declare('--tls-min-version is the oldest version that is spoken', async (t) => {
  const old: ConnectionOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };
  t.is((await seen(full, old))?.version, 'TLSv1.1');
  t.is(await seen(full, { ...old, maxVersion: 'TLSv1' }), undefined);
  t.is(await seen(fast, old), undefined);
  t.regex(full.stderr, /warning: --tls-min-version VersionTLS11 is insecure\n/);
});

declare('--tls-cipher-suites are those that can be agreed on, and what is missing of them is said', async (t) => {
  const older = { maxVersion: 'TLSv1.2' as const };
  t.is((await seen(fast, older))?.suite, 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
  t.is(await seen(fast, { ...older, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), undefined);
  t.is((await seen(full, { ...older, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }))?.version, 'TLSv1.2');
  t.regex(fast.stderr, /warning: --tls-cipher-suites TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: the TLS library/);
});

declare('--strict-transport-security-directives are in every answer', async (t) => {
  for (const server of [fast, full]) {
    const { headers } = await asked(server, 'GET');
    t.is(headers['strict-transport-security'], 'max-age=31536000; preload');
    const refused = await server.client.request('GET', '/api/v1/pods', { token: 'nobody' }).catch(() => undefined);
    if (refused !== undefined) t.is(refused.headers['strict-transport-security'], 'max-age=31536000; preload');
  }
});

/** What the server answers to bytes that are no HTTP. */
function answerToNonsense({ port }: ServerProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certPem, checkServerIdentity: () => undefined });
    socket.once('secureConnect', () => socket.write('no such thing\r\n\r\n'));
    socket.once('error', reject);
    readText(socket).then(resolve, reject);
  });
}

declare('what the listener of Node refuses by itself says to come by HTTPS alone, too', async (t) => {
  const answer = await answerToNonsense(full);
  t.regex(answer, /^HTTP\/1\.1 400 /);
  t.regex(answer, /\r\nStrict-Transport-Security: max-age=31536000; preload\r\n/);
});

declare('--cors-allowed-origins may call from scripts, and no others', async (t) => {
  const allowed = ['https://example.com', 'https://a.b.example.com', 'http://localhost:8080'];
  const others = [
    'https://example.com.evil.test',
    'https://evilexample.com',
    'null',
    `https://${'a'.repeat(2000)}.example.com`,
  ];
  for (const server of [fast, full]) {
    for (const origin of allowed) {
      const { status, headers } = await asked(server, 'GET', { origin });
      t.is(status, 200);
      t.is(headers['access-control-allow-origin'], origin);
      t.is(headers['access-control-allow-credentials'], 'true');
      t.is(headers['access-control-expose-headers'], 'Date');
      const preflight = await asked(server, 'OPTIONS', { origin, 'access-control-request-method': 'DELETE' });
      t.is(preflight.status, 204);
      t.is(preflight.headers['access-control-allow-origin'], origin);
      t.is(preflight.headers['access-control-allow-methods'], 'POST, GET, OPTIONS, PUT, DELETE, PATCH');
      t.regex(preflight.headers['access-control-allow-headers'] ?? '', /^Content-Type, .*, Authorization, /);
    }
    for (const origin of others) {
      const { status, headers } = await asked(server, 'GET', { origin });
      t.is(status, 200);
      t.is(headers['access-control-allow-origin'], undefined, origin);
      t.not((await asked(server, 'OPTIONS', { origin })).status, 204);
    }
  }
});

declare('--bind-address is where clients reach the server, and --secure-port the port', async (t) => {
  t.is(await commonName(fast, { host: '127.0.0.2' }), undefined);
  t.not(await commonName(full, { host: '127.0.0.3' }), undefined);
  const six = await startServer(t, { args: ['--bind-address', '::1', '--placement', 'single'] });
  t.regex(six.stdout, new RegExp(`^address https://\\[::1\\]:${six.port}$`, 'm'));
  t.is((await seen(six, { host: '::1', rejectUnauthorized: false }))?.version, 'TLSv1.3');
});

declare('--permit-address-sharing: an address is taken over from connections that are closing', async (t) => {
  await asked(fast, 'GET');
  await fast.stop();
  await fast.restart();
  t.is((await asked(fast, 'GET')).status, 200);
});

declare('--cert-dir holds the pair that is made, for its owner alone, and it is used again', async (t) => {
  const args = ['--cert-dir', path('made'), '--placement', 'single'];
  const server = await startServer(t, { args });
  const before = server.caPem;
  t.is(statSync(path('made/apiserver.key')).mode & 0o777, 0o600);
  await server.stop();
  await server.restart();
  t.is(server.caPem, before);
  writeFileSync(path('made/apiserver.crt'), 'nonsense');
  await server.stop();
  await server.restart();
  t.not(server.caPem, before);
});

const needsOpenssl = testNeeding(test, ['openssl']);
needsOpenssl.serial('openssl sees the certificates, versions and suites that are served', async (t) => {
  const client = (server: ServerProcess, ...args: readonly string[]) =>
    run('openssl', 's_client', '-connect', `127.0.0.1:${server.port}`, '-CAfile', authority.certFile, ...args);
  t.regex(
    (await client(full, '-servername', 'sni.test', '-verify_return_error')).text,
    /subject=CN ?= ?sni\n[\s\S]*Verify return code: 0 \(ok\)/,
  );
  t.regex((await client(fast, '-tls1_2')).text, /Cipher +: ECDHE-ECDSA-AES256-GCM-SHA384/);
  t.not((await client(fast, '-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256')).code, 0);
  t.regex((await client(fast, '-tls1_3')).text, /TLSv1\.3/);
});

const needsCurl = testNeeding(test, ['curl']);
needsCurl.serial('curl believes the certificate, and sees what browsers are told', async (t) => {
  const curl = (server: ServerProcess, ...args: readonly string[]) =>
    run('curl', '-sSi', '--cacert', authority.certFile, ...args, `https://localhost:${server.port}/version`);
  const { text } = await curl(full, '-H', 'Origin: https://example.com', '-H', `Authorization: Bearer ${full.token}`);
  t.regex(text, /^HTTP\/2 200/);
  t.regex(text, /access-control-allow-origin: https:\/\/example\.com/i);
  t.regex(text, /strict-transport-security: max-age=31536000; preload/i);
  t.regex((await curl(fast, '--tls-max', '1.1')).text, /^curl: \(35\)/);
});

/** Arguments of no use, and the line that ends the start. */
const BAD: readonly (readonly [args: readonly string[], line: RegExp])[] = [
  [
    ['--tls-cert-file', '/nowhere.crt', '--tls-private-key-file', '/nowhere.key'],
    /\/nowhere\.crt cannot be read \(ENOENT\)/,
  ],
  [['--tls-cert-file', '/nowhere.crt'], /--tls-cert-file needs --tls-private-key-file beside it/],
  [['--tls-sni-cert-key', 'only-one'], /--tls-sni-cert-key: "only-one" is not of the form certificate,key/],
  [['--tls-sni-cert-key', '/nowhere.crt,/nowhere.key'], /\/nowhere\.crt cannot be read \(ENOENT\)/],
  [
    ['--tls-sni-cert-key', '/a.crt,/a.key:*a.test'],
    /"\*a\.test" is neither a host name, nor one that begins with \*\./,
  ],
  [['--tls-min-version', 'VersionSSL3'], /for --tls-min-version: "VersionSSL3" is not one of /],
  [
    ['--tls-cipher-suites', 'TLS_NULL_WITH_NULL_NULL'],
    /for --tls-cipher-suites: "TLS_NULL_WITH_NULL_NULL" is not one of /,
  ],
  [['--tls-cipher-suites', 'TLS_RSA_WITH_RC4_128_SHA'], /--tls-cipher-suites names none that the TLS library/],
  [
    ['--strict-transport-security-directives', 'max-age'],
    /is not of the form max-age=SECONDS, includeSubDomains or preload/,
  ],
  [
    ['--cors-allowed-origins', '('],
    /--cors-allowed-origins "\(" cannot be used: error parsing regexp: missing closing \)/,
  ],
  [['--bind-address', 'localhost'], /for --bind-address: not an IPv4 or IPv6 address/],
  [['--bind-address', '203.0.113.7'], /address 203\.0\.113\.7:\d+ cannot be listened on \(EADDRNOTAVAIL\)/],
  [['--secure-port', '0'], /--secure-port/],
  [['--secure-port', '65536'], /--secure-port/],
  [['--goaway-chance', '0.5'], /--goaway-chance/],
  [['--http2-max-streams-per-connection', '-1'], /--http2-max-streams-per-connection/],
  [['--client-ca-file', '/dev/null'], /\/dev\/null holds no certificates/],
  [
    ['--requestheader-client-ca-file', '/nowhere.crt', '--requestheader-username-headers', 'X-User'],
    /\/nowhere\.crt cannot be read \(ENOENT\)/,
  ],
];

/** Where Node's own listener cannot listen beside others. */
const UNSHARED: typeof BAD = sharesPorts()
  ? []
  : [
      [
        ['--permit-port-sharing', '--ingress', 'node'],
        /--ingress node cannot share a port on Node v.* as --permit-port-sharing needs/,
      ],
      [
        ['--permit-port-sharing', '--tls-min-version', 'VersionTLS13'],
        /the node listener, which must serve since TLS 1\.2 is ruled out, cannot share a port/,
      ],
      [
        ['--placement', 'wide', '--goaway-chance', '0.01'],
        /HTTP\/2 is asked for, cannot share .* as the placement wide, with \d+ ingresses,/,
      ],
    ];

for (const [args, line] of [...BAD, ...UNSHARED]) {
  declare(`up ${args.join(' ')} ends in a line`, async (t) => {
    const failure = (await (await newServer(t)).start(args)) as FailedStart;
    t.is(failure.code, 1);
    const errors = failure.stderr.split('\n').filter((text) => text.startsWith('orch: '));
    t.is(errors.length, 1, failure.stderr);
    t.regex(errors[0]!, line);
    t.true(failure.stderr.trimEnd().endsWith(errors[0]!));
  });
}
