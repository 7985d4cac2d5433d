// Each method of authentication on a real server, with all of them switched on: what lets in, as whom, and what does not.
// Credentials that are no good are 401, even where requests without any are let through.
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { type Answer, HttpsClient } from '../server/https-client.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';

interface World {
  readonly server: ServerProcess;
  readonly files: string;
  readonly issuer: string;
  readonly sign: (claims: object, changes?: SignChanges) => Promise<string>;
  /** Tokens that the webhook was asked about. */
  readonly asked: string[];
}

interface SignChanges {
  readonly issuer?: string;
  readonly audience?: string;
  readonly expires?: string;
  readonly notBefore?: string;
  readonly algorithm?: string;
  readonly key?: CryptoKey | Uint8Array;
  readonly keyId?: string;
}

let world: World;
const undo: (() => void | Promise<void>)[] = [];

/** A key and certificate signed by an authority, made with openssl as operators do. */
function signedBy(
  files: string,
  authority: string,
  name: string,
  subject: string,
  usage = 'clientAuth',
  days = '1',
): void {
  const quiet: ExecFileSyncOptions = { cwd: files, stdio: 'ignore' };
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, quiet);
  writeFileSync(join(files, `${name}.ext`), `extendedKeyUsage=${usage}\n`);
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    subject,
  );
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    `${authority}.crt`,
    '-CAkey',
    `${authority}.key`,
    '-CAcreateserial',
    '-out',
    `${name}.crt`,
    '-days',
    days,
    '-extfile',
    `${name}.ext`,
  );
}

function authority(files: string, name: string): void {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-subj',
      `/CN=${name}`,
      '-days',
      '2',
    ],
    { cwd: files, stdio: 'ignore' },
  );
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A provider of OpenID Connect as far as a server sees one: its documents. */
async function provider(files: string): Promise<{ issuer: string; key: CryptoKey; jwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  let issuer = '';
  const pair = await certificatePair(files, 'provider');
  const port = await listening(
    createServer(pair, (request, response) => {
      const document = request.url === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
    }),
  );
  issuer = `https://127.0.0.1:${port}`;
  return { issuer, key: privateKey, jwk };
}

/** A service that knows one token, and counts who asks. */
async function tokenService(files: string, asked: string[]): Promise<string> {
  const pair = await certificatePair(files, 'webhook');
  const port = await listening(
    createServer(pair, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as { apiVersion: string; spec: { token: string } };
        asked.push(review.spec.token);
        const isKnown = review.spec.token === 'known-outside';
        const user = { username: 'outsider', uid: '7', groups: ['guests'] };
        const status = isKnown ? { authenticated: true, user } : { authenticated: false };
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: 'TokenReview', status }));
      });
    }),
  );
  const config = {
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
    clusters: [
      { name: 's', cluster: { server: `https://127.0.0.1:${port}/review`, 'certificate-authority': 'webhook.crt' } },
    ],
    users: [{ name: 'u', user: { token: 'for-the-service' } }],
  };
  writeFileSync(join(files, 'webhook.conf'), JSON.stringify(config));
  return join(files, 'webhook.conf');
}

async function certificatePair(files: string, name: string): Promise<{ cert: string; key: string }> {
  const now = Date.now();
  const span = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 86_400_000) };
  const { certPem, keyPem } = await makeSelfSigned({ commonName: name, names: ['127.0.0.1'], ...span });
  writeFileSync(join(files, `${name}.crt`), certPem);
  return { cert: certPem, key: keyPem };
}

test.before(async () => {
  const files = mkdtempSync(join(tmpdir(), 'orch-authentication-'));
  undo.push(() => rmSync(files, { recursive: true, force: true }));
  for (const name of ['people', 'proxies', 'strangers']) authority(files, name);
  signedBy(files, 'people', 'jane', '/CN=jane/O=dev/O=ops');
  signedBy(files, 'people', 'root', '/CN=root/O=system:masters');
  signedBy(files, 'people', 'wrong-use', '/CN=jane', 'serverAuth');
  signedBy(files, 'people', 'late', '/CN=jane', 'clientAuth', '-1');
  signedBy(files, 'strangers', 'forged', '/CN=jane/O=system:masters');
  signedBy(files, 'proxies', 'front', '/CN=front');
  signedBy(files, 'proxies', 'other-proxy', '/CN=other-proxy');
  const { issuer, key } = await provider(files);
  const asked: string[] = [];
  const webhook = await tokenService(files, asked);
  writeFileSync(join(files, 'passwords.csv'), 'open sesame,ali,1,"thieves"\n');
  const file = (name: string): string => join(files, name);
  const server = await startServer(
    { teardown: (action) => undo.push(action) },
    {
      args: [
        '--authorization-mode=AlwaysDeny',
        `--client-ca-file=${file('people.crt')}`,
        `--requestheader-client-ca-file=${file('proxies.crt')}`,
        '--requestheader-allowed-names=front',
        '--requestheader-username-headers=X-Remote-User',
        '--requestheader-group-headers=X-Remote-Group',
        '--requestheader-extra-headers-prefix=X-Remote-Extra-',
        `--basic-auth-file=${file('passwords.csv')}`,
        '--enable-bootstrap-token-auth',
        `--oidc-issuer-url=${issuer}`,
        '--oidc-client-id=orch',
        '--oidc-groups-claim=groups',
        '--oidc-groups-prefix=oidc:',
        '--oidc-required-claim=tenant=blue',
        `--oidc-ca-file=${file('provider.crt')}`,
        '--oidc-signing-algs=ES256',
        `--authentication-token-webhook-config-file=${webhook}`,
        '--authentication-token-webhook-version=v1',
      ],
    },
  );
  const sign = (claims: object, changes: SignChanges = {}): Promise<string> => {
    const { audience = 'orch', expires = '1h', notBefore, algorithm = 'ES256', keyId = 'k1' } = changes;
    const token = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, kid: keyId })
      .setIssuer(changes.issuer ?? issuer)
      .setAudience(audience)
      .setExpirationTime(expires);
    return (notBefore === undefined ? token : token.setNotBefore(notBefore)).sign(changes.key ?? key);
  };
  world = { server, files, issuer, sign, asked };
});

test.after.always(async () => {
  for (const action of undo.reverse()) await action();
});

/** 200, 401, or the name of whom the 403 is for. */
function outcomeOf({ status, json }: Answer): number | string {
  if (status !== 403) return status;
  return /User "([^"]*)"/.exec(json.message ?? '')?.[1] ?? status;
}

async function withCertificate(name: string, headers: Readonly<Record<string, string>> = {}): Promise<number | string> {
  const { server, files } = world;
  const read = (ending: string): string => readFileSync(join(files, `${name}.${ending}`), 'utf8');
  const client = new HttpsClient(server.url, server.caPem, '', { cert: read('crt'), key: read('key') });
  try {
    return outcomeOf(await client.get('/api', { headers }));
  } finally {
    client.close();
  }
}

async function withToken(token: string): Promise<number | string> {
  return outcomeOf(await world.server.client.get('/api', { token }));
}

const CERTIFICATES: readonly (readonly [name: string, outcome: number | string])[] = [
  ['jane', 'jane'],
  ['root', 200],
  ['wrong-use', 401],
  ['late', 401],
  ['forged', 401],
];

for (const [name, outcome] of CERTIFICATES) {
  test(`the client certificate ${name} is ${outcome}`, async (t) => {
    t.is(await withCertificate(name), outcome);
  });
}

test('a proxy with the right certificate speaks for others, and nobody else does', async (t) => {
  const headers = { 'X-Remote-User': 'remy', 'X-Remote-Group': 'chefs' };
  t.is(await withCertificate('front', headers), 'remy');
  t.is(await withCertificate('front', { ...headers, 'X-Remote-Group': 'system:masters' }), 200);
  t.is(await withCertificate('front'), 401, 'a proxy by itself is nobody');
  t.is(await withCertificate('other-proxy', headers), 401);
  t.is(await withCertificate('jane', headers), 'jane', 'a user is themself, whatever their headers say');
  const bare = await world.server.client.get('/api', { token: '', headers });
  t.is(outcomeOf(bare), 'system:anonymous', 'headers without a certificate say nothing');
});

test('a name and its password let in', async (t) => {
  const withPassword = async (text: string): Promise<number | string> => {
    const headers = { Authorization: `Basic ${Buffer.from(text).toString('base64')}` };
    return outcomeOf(await world.server.client.get('/api', { token: '', headers }));
  };
  t.is(await withPassword('ali:open sesame'), 'ali');
  for (const wrong of ['ali:open', 'ali', 'ali:', ':open sesame', 'bob:open sesame'])
    t.is(await withPassword(wrong), 401, wrong);
});

test('a token of the provider stands for its subject', async (t) => {
  const { sign, issuer } = world;
  const claims = { sub: 'sue', tenant: 'blue', groups: ['a'] };
  t.is(await withToken(await sign(claims)), `${issuer}#sue`);
  t.is(await withToken(await sign({ ...claims, groups: 'one' })), `${issuer}#sue`);
  const other = await generateKeyPair('ES256');
  const refused: readonly (readonly [why: string, token: string])[] = [
    ['expired', await sign(claims, { expires: '1s ago' })],
    ['not valid yet', await sign(claims, { notBefore: '1h' })],
    ['for another audience', await sign(claims, { audience: 'elsewhere' })],
    ['of another issuer', await sign(claims, { issuer: 'https://elsewhere' })],
    ['signed with another key', await sign(claims, { key: other.privateKey })],
    ['signed with another key of another name', await sign(claims, { key: other.privateKey, keyId: 'k2' })],
    ['without the required claim', await sign({ ...claims, tenant: undefined })],
    ['with another value of it', await sign({ ...claims, tenant: 'red' })],
    ['without a subject', await sign({ ...claims, sub: undefined })],
    ['with groups that are no texts', await sign({ ...claims, groups: [1] })],
    ['signed with a secret', await sign(claims, { algorithm: 'HS256', key: Buffer.from('k'.repeat(32)) })],
    ['unsigned', unsigned({ ...claims, iss: issuer, aud: 'orch', exp: 9_999_999_999 })],
    ['cut short', (await sign(claims)).slice(0, -10)],
    ['too long', `${await sign(claims)}${'x'.repeat(20_000)}`],
  ];
  for (const [why, token] of refused) t.is(await withToken(token), 401, why);
});

function unsigned(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.`;
}

test('a token that a service outside knows is asked about once', async (t) => {
  t.is(await withToken('known-outside'), 'outsider');
  t.is(await withToken('known-outside'), 'outsider');
  t.is(await withToken('not-known-outside'), 401);
  t.is(world.asked.filter((token) => token === 'known-outside').length, 1);
});

test('a bootstrap token lets in while its secret says so', async (t) => {
  const { client } = world.server;
  const path = '/api/v1/namespaces/orch-system/secrets';
  const secret = (id: string, changes: Readonly<Record<string, string>> = {}): object => ({
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.orch.io/token',
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': 'system:bootstrappers:workers',
      ...changes,
    },
  });
  const secrets: readonly (readonly [id: string, changes: Readonly<Record<string, string>>, lets: boolean])[] = [
    ['aaaaaa', {}, true],
    ['bbbbbb', { expiration: '2999-01-01T00:00:00Z' }, true],
    ['cccccc', { expiration: '2001-01-01T00:00:00Z' }, false],
    ['dddddd', { 'usage-bootstrap-authentication': 'false' }, false],
    ['eeeeee', { 'auth-extra-groups': 'system:masters' }, false],
    ['ffffff', { 'token-id': 'gggggg' }, false],
  ];
  for (const [id, changes] of secrets) {
    const { status, text } = await client.request('POST', path, { body: secret(id, changes) });
    t.is(status, 201, text);
  }
  // Secrets are followed in their order: when the last good one is known, so are all before it.
  await client.request('POST', path, { body: secret('zzzzzz') });
  while ((await withToken('zzzzzz.0123456789abcdef')) === 401) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const [id, , lets] of secrets)
    t.is(await withToken(`${id}.0123456789abcdef`), lets ? `system:bootstrap:${id}` : 401, id);
  t.is(await withToken('aaaaaa.0123456789abcdeX'), 401);
  await client.request('DELETE', `${path}/bootstrap-token-zzzzzz`);
  while ((await withToken('zzzzzz.0123456789abcdef')) !== 401) await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass();
});

test('nothing that was shown stands in the log, the metrics or an error', async (t) => {
  const { server } = world;
  const metrics = (await server.client.get('/metrics')).text;
  for (const secret of ['open sesame', 'known-outside', '0123456789abcdef', 'for-the-service', server.token]) {
    t.false(metrics.includes(secret), secret);
    t.false((server.stdout + server.stderr).includes(secret), secret);
  }
});
