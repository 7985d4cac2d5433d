// Certificates, a trusted proxy, passwords, static tokens, bootstrap tokens and a token webhook on a real server, with all of them
// switched on: what lets in, as whom, and what does not. Credentials that are no good are 401, even where requests without any
// are let through.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  certificateAuthority,
  certificateOf,
  connectionFile,
  httpsService,
  intermediateAuthority,
  jsonOf,
  outcomeOf,
  sendJson,
} from '../server/credentials.ts';
import { HttpsClient } from '../server/https-client.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';

interface World {
  readonly server: ServerProcess;
  readonly files: string;
  /** Tokens that the webhook was asked about. */
  readonly asked: string[];
}

let world: World;
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (action: () => void | Promise<void>) => void undo.push(action) };

/** A service that knows one token, and notes what it is asked about. */
async function tokenService(files: string, asked: string[], name = 'webhook'): Promise<string> {
  const answers: Readonly<Record<string, object>> = {
    'known-outside': { authenticated: true, user: { username: 'outsider', uid: '7', groups: ['guests'] } },
    'of-others': { authenticated: true, user: { username: 'outsider' }, audiences: ['elsewhere'] },
  };
  const url = await httpsService(scope, files, name, (request, response) => {
    void jsonOf<{ apiVersion: string; spec: { token: string } }>(request).then(({ apiVersion, spec: { token } }) => {
      asked.push(token);
      const version = token === 'answered-in-another-version' ? 'v9' : apiVersion;
      const status = answers[token] ?? { authenticated: false };
      if (token === 'answered-with-nonsense') response.end('{');
      else if (token === 'answered-400') response.writeHead(400).end();
      else sendJson(response, { apiVersion: version, kind: 'TokenReview', status });
    });
  });
  return connectionFile(files, name, `${url}/review`, 'for-the-service');
}

test.before(async () => {
  const files = mkdtempSync(join(tmpdir(), 'orch-authentication-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  for (const name of ['people', 'proxies', 'strangers']) certificateAuthority(files, name);
  certificateOf(files, 'people', 'jane', '/CN=jane/O=dev/O=ops');
  certificateOf(files, 'people', 'root', '/CN=root/O=system:masters');
  certificateOf(files, 'people', 'nameless', '/O=dev');
  certificateOf(files, 'people', 'wrong-use', '/CN=jane', { usage: 'serverAuth' });
  certificateOf(files, 'people', 'expired', '/CN=jane', { until: '20240101000000Z' });
  certificateOf(files, 'people', 'not-yet-valid', '/CN=jane', { from: '20480101000000Z' });
  certificateOf(files, 'strangers', 'unknown-authority', '/CN=jane/O=system:masters');
  certificateOf(files, 'proxies', 'front', '/CN=front');
  certificateOf(files, 'proxies', 'other-proxy', '/CN=other-proxy');
  certificateOf(files, 'strangers', 'false-front', '/CN=front');
  intermediateAuthority(files, 'people', 'department');
  certificateOf(files, 'department', 'june', '/CN=june');
  intermediateAuthority(files, 'strangers', 'branch');
  certificateOf(files, 'branch', 'joan', '/CN=joan');
  certificateOf(files, 'department', 'alone', '/CN=june');
  const append = (to: string, more: string): void =>
    appendFileSync(join(files, to), readFileSync(join(files, more), 'utf8'));
  append('june.crt', 'department.crt');
  append('people.crt', 'branch.crt');
  const asked: string[] = [];
  const webhook = await tokenService(files, asked);
  const file = (name: string): string => join(files, name);
  writeFileSync(file('passwords.csv'), 'open sesame,ali,1,"thieves"\n"a:b,c",bob,2\n');
  writeFileSync(file('tokens.csv'), 'static-token,tom,1,"a,b"\nroot-token,tess,2,system:masters\n');
  const server = await startServer(scope, {
    args: [
      '--authorization-mode=AlwaysDeny',
      `--client-ca-file=${file('people.crt')}`,
      `--requestheader-client-ca-file=${file('proxies.crt')}`,
      '--requestheader-allowed-names=front',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--basic-auth-file=${file('passwords.csv')}`,
      `--token-auth-file=${file('tokens.csv')}`,
      '--enable-bootstrap-token-auth',
      `--authentication-token-webhook-config-file=${webhook}`,
      '--authentication-token-webhook-version=v1',
    ],
  });
  world = { server, files, asked };
});

test.after.always(async () => {
  for (const action of undo.reverse()) await action();
});

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

async function withHeader(authorization: string): Promise<number | string> {
  return outcomeOf(await world.server.client.get('/api', { token: '', headers: { Authorization: authorization } }));
}

const CERTIFICATES: readonly (readonly [name: string, outcome: number | string])[] = [
  ['jane', 'jane'],
  ['root', 200],
  // Nobody for the one authority, and unknown to the other.
  ['nameless', 401],
  ['wrong-use', 401],
  ['expired', 401],
  ['not-yet-valid', 401],
  ['unknown-authority', 401],
  // With that of the department that signed it, which an authority vouches for; and without.
  ['june', 'june'],
  ['alone', 401],
  // Of an authority that is believed, though not the one that vouches for it.
  ['joan', 'joan'],
];

for (const [name, outcome] of CERTIFICATES) {
  test(`the client certificate ${name} is ${outcome}`, async (t) => {
    t.is(await withCertificate(name), outcome);
  });
}

test('/metrics says how long the certificates that requests come with are still valid', async (t) => {
  const name = 'apiserver_client_certificate_expiration_seconds';
  const metrics = async (): Promise<MetricsText> =>
    new MetricsText((await world.server.client.get('/metrics', { token: 'root-token' })).text);
  const before = await metrics();
  t.is(await withCertificate('jane'), 'jane');
  const after = await metrics();
  t.is(after.sum(`${name}_count`) - before.sum(`${name}_count`), 1);
  t.true(after.sum(`${name}_sum`) > before.sum(`${name}_sum`));
  t.is(after.matching(`${name}_bucket`, { le: '2592000' }).length, 1);
});

test('a certificate that is no good does not keep a good token from letting in', async (t) => {
  t.is(await withCertificate('expired', { Authorization: 'Bearer static-token' }), 'tom');
  t.is(await withCertificate('expired', { Authorization: 'Bearer wrong' }), 401);
});

test('a proxy with the right certificate speaks for others, and nobody else does', async (t) => {
  const headers = { 'X-Remote-User': 'remy', 'X-Remote-Group': 'chefs' };
  t.is(await withCertificate('front', headers), 'remy');
  t.is(await withCertificate('front', { ...headers, 'X-Remote-Group': 'system:masters' }), 200);
  t.is(await withCertificate('front', { 'X-Remote-Group': 'system:masters' }), 401, 'groups of nobody');
  t.is(await withCertificate('front'), 401, 'a proxy by itself is nobody');
  t.is(await withCertificate('other-proxy', headers), 401, 'not among the allowed names');
  t.is(await withCertificate('false-front', headers), 401, 'of another authority');
  t.is(await withCertificate('jane', headers), 'jane', 'a user is themself, whatever their headers say');
  const bare = await world.server.client.get('/api', { token: '', headers });
  t.is(outcomeOf(bare), 'system:anonymous', 'headers without a certificate say nothing');
});

test('a name and its password let in', async (t) => {
  const withPassword = (text: string): Promise<number | string> =>
    withHeader(`Basic ${Buffer.from(text).toString('base64')}`);
  t.is(await withPassword('ali:open sesame'), 'ali');
  t.is(await withPassword('bob:a:b,c'), 'bob', 'the first colon alone divides');
  for (const wrong of ['ali:open', 'ali', 'ali:', ':open sesame', 'bob:open sesame', 'ali:open sesame ', ':'])
    t.is(await withPassword(wrong), 401, wrong);
  t.is(await withPassword(`ali:${'x'.repeat(9_000)}`), 401, 'oversized');
});

const TOKENS: readonly (readonly [why: string, token: string, outcome: number | string])[] = [
  ['a token of the file', 'static-token', 'tom'],
  ['a token of a superuser', 'root-token', 200],
  ['the beginning of a token', 'static-toke', 401],
  ['more than a token', 'static-token2', 401],
  ['a token in other letters', 'Static-Token', 401],
  ['a name of the prototype', '__proto__', 401],
  ['oversized', 'x'.repeat(15_000), 401],
  ['three parts that are nothing', 'a.b.c', 401],
  // Of no secret that another test makes.
  ['two parts that are nothing', 'nobody.0123456789abcdef', 401],
  ['a token the webhook knows', 'known-outside', 'outsider'],
  ['a token the webhook does not know', 'not-known-outside', 401],
  ['a token that is for others, says the webhook', 'of-others', 401],
  ['a webhook that answers in another version', 'answered-in-another-version', 401],
  ['a webhook that answers nonsense', 'answered-with-nonsense', 401],
  ['a webhook that refuses the question', 'answered-400', 401],
];

for (const [why, token, outcome] of TOKENS) {
  test(`a bearer token: ${why} is ${outcome}`, async (t) => {
    t.is(await withToken(token), outcome);
  });
}

test('a token that a service outside knows is asked about once, whatever it says', async (t) => {
  for (const token of ['known-outside', 'no-friend-of-the-service']) {
    await withToken(token);
    await withToken(token);
    t.is(world.asked.filter((one) => one === token).length, 1, token);
  }
});

test('a service that is to be asked each time is, in the version that it knows', async (t) => {
  const { files } = world;
  const asked: string[] = [];
  const webhook = await tokenService(files, asked, 'asked-often');
  const server = await startServer(scope, {
    args: [
      '--authorization-mode=AlwaysDeny',
      `--authentication-token-webhook-config-file=${webhook}`,
      '--authentication-token-webhook-cache-ttl=0s',
    ],
  });
  const ask = async (token: string): Promise<number | string> => outcomeOf(await server.client.get('/api', { token }));
  t.is(await ask('known-outside'), 'outsider');
  t.is(await ask('known-outside'), 'outsider');
  t.is(await ask('not-known-outside'), 401);
  t.is(asked.length, 3);
});

test('a bootstrap token lets in while its secret says so', async (t) => {
  const { client } = world.server;
  const path = '/api/v1/namespaces/orch-system/secrets';
  const secret = (id: string, changes: Readonly<Record<string, string>> = {}, type = 'token'): object => ({
    metadata: { name: `bootstrap-token-${id}` },
    type: `bootstrap.orch.io/${type}`,
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': 'system:bootstrappers:workers',
      ...changes,
    },
  });
  const secrets: readonly (readonly [id: string, secret: object, lets: boolean])[] = [
    ['aaaaaa', secret('aaaaaa'), true],
    ['bbbbbb', secret('bbbbbb', { expiration: '2999-01-01T00:00:00Z' }), true],
    ['cccccc', secret('cccccc', { expiration: '2001-01-01T00:00:00Z' }), false],
    ['dddddd', secret('dddddd', { 'usage-bootstrap-authentication': 'false' }), false],
    ['eeeeee', secret('eeeeee', { 'auth-extra-groups': 'system:masters' }), false],
    ['ffffff', secret('ffffff', { 'token-id': 'gggggg' }), false],
    ['hhhhhh', secret('hhhhhh', {}, 'other'), false],
    ['iiiiii', secret('iiiiii', { expiration: 'some day' }), false],
  ];
  for (const [, body] of secrets) {
    const { status, text } = await client.request('POST', path, { body });
    t.is(status, 201, text);
  }
  // Secrets are followed in their order: when the last good one is known, so are all before it.
  await client.request('POST', path, { body: secret('zzzzzz') });
  while ((await withToken('zzzzzz.0123456789abcdef')) === 401) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const [id, , lets] of secrets)
    t.is(await withToken(`${id}.0123456789abcdef`), lets ? `system:bootstrap:${id}` : 401, id);
  for (const wrong of ['aaaaaa.0123456789abcdeX', 'aaaaaa.0123456789abcdee', 'aaaaaa.', 'AAAAAA.0123456789abcdef'])
    t.is(await withToken(wrong), 401, wrong);
  await client.request('DELETE', `${path}/bootstrap-token-zzzzzz`);
  while ((await withToken('zzzzzz.0123456789abcdef')) !== 401) await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass();
});

test('a method that is tried and fails is 401, and a scheme that nobody knows counts as nothing', async (t) => {
  t.is(await withHeader(''), 'system:anonymous');
  t.is(await withHeader('Digest username="ali"'), 'system:anonymous');
  t.is(await withHeader('Bearer'), 'system:anonymous');
  t.is(await withHeader('Bearer nobody'), 401);
  t.is(await withHeader('Basic !!!'), 'system:anonymous');
});

test('who is refused is told that a name and a password will do, where they do', async (t) => {
  const refused = await world.server.client.get('/api', { token: '', headers: { Authorization: 'Bearer wrong' } });
  t.is(refused.status, 401);
  t.is(refused.headers['www-authenticate'], 'Basic realm="orch-master"');
});

test('/metrics counts attempts by what came of them, users by kinds of names, and tokens by whether they were known', async (t) => {
  const metrics = async (): Promise<MetricsText> =>
    new MetricsText((await world.server.client.get('/metrics', { token: 'root-token' })).text);
  const before = await metrics();
  t.is(await withToken('static-token'), 'tom');
  t.is(await withToken('wrong'), 401);
  const after = await metrics();
  const grown = (name: string, labels: Readonly<Record<string, string>>): number =>
    after.sum(name, labels) - before.sum(name, labels);
  t.true(grown('authentication_attempts', { result: 'success' }) >= 1);
  t.true(grown('authentication_attempts', { result: 'error' }) >= 1);
  t.true(grown('authentication_duration_seconds_count', { result: 'error' }) >= 1);
  t.true(grown('authenticated_user_requests', { username: 'other' }) >= 1);
  t.true(grown('authentication_token_cache_request_total', { status: 'hit' }) >= 1);
  t.true(grown('authentication_token_cache_fetch_total', { status: 'error' }) >= 1);
  t.true(grown('authentication_token_cache_request_duration_seconds_count', { status: 'miss' }) >= 1);
  t.true(grown('rest_client_requests_total', { code: '200', method: 'POST' }) >= 1, 'the service outside was asked');
  t.is(after.sum('authentication_attempts', { result: 'failure' }), 0, 'everybody without credentials is anonymous');
});
