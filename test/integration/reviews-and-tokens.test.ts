// What is asked of a server and not stored: token requests, reviews of tokens and of access, component statuses; with the
// tokens that were issued used as tokens.
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { isSignedBy, readJwt, tokenKey } from '../../api/tokens/jwt.ts';
import { agentPair } from '../server/fake-agent.ts';
import type { Answer, ApiObject } from '../server/https-client.ts';
import { newServer, type ServerProcess, sharedServer, startServer } from '../server/server-process.ts';
import { accountIn, eventually } from './objects.ts';

// Whoever is let in may do everything, so that 200 says whose token it was.
const OPEN = ['--authorization-mode', 'AlwaysAllow'];
const server = sharedServer(test, { args: OPEN });
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const AUTHENTICATION = '/apis/authentication.orch.io/v1';
const AUTHORIZATION = '/apis/authorization.orch.io/v1';

interface TokenStatus {
  readonly token: string;
  readonly expirationTimestamp: string;
}

const tokenOf = ({ json }: Answer): string => (json.status as TokenStatus).token;

function request(
  { client }: ServerProcess,
  account: string,
  spec: object = {},
  metadata: object = {},
): Promise<Answer> {
  return client.request('POST', `${ACCOUNTS}/${account}/token`, { body: { metadata, spec } });
}

/** An account of a test's own. */
async function account(at: ServerProcess, name: string): Promise<string> {
  const { status } = await at.client.request('POST', ACCOUNTS, { body: { metadata: { name } } });
  if (status !== 201) throw new Error(`${name} could not be made`);
  return name;
}

async function object({ client }: ServerProcess, resource: string, body: object): Promise<ApiObject> {
  const { status, json, text } = await client.request('POST', `/api/v1/namespaces/default/${resource}`, { body });
  if (status !== 201) throw new Error(text);
  return json;
}

async function codeWith(at: ServerProcess, token: string): Promise<number> {
  return (await at.client.get('/api/v1/namespaces/default/configmaps', { token })).status;
}

test('a token is issued for an account, and is let in as that account until it is gone', async (t) => {
  const at = server();
  const name = await account(at, 'robot');
  const answer = await request(at, name);
  t.is(answer.status, 201, answer.text);
  t.is(answer.json.kind, 'TokenRequest');
  t.is(answer.json.apiVersion, 'authentication.orch.io/v1');
  t.like(answer.json.spec, { expirationSeconds: 3600, audiences: ['https://orch.default.svc'] });
  t.is(await codeWith(at, tokenOf(answer)), 200);
  t.is(await codeWith(at, `${tokenOf(answer)}x`), 401);
  const review = await at.client.request('POST', `${AUTHORIZATION}/selfsubjectaccessreviews`, {
    token: tokenOf(answer),
    body: { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  });
  t.is(review.status, 201);
  await at.client.request('DELETE', `${ACCOUNTS}/${name}`);
  t.is(await codeWith(at, tokenOf(answer)), 401);
});

test('a token that is bound to a pod or a secret dies with it', async (t) => {
  const at = server();
  const name = await account(at, 'bound');
  const pod = await object(at, 'pods', {
    metadata: { name: 'bound' },
    spec: { serviceAccountName: name, schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] },
  });
  await object(at, 'secrets', { metadata: { name: 'bound' } });
  for (const [kind, resource, uid] of [
    ['Pod', 'pods', pod.metadata.uid],
    ['Secret', 'secrets', ''],
  ] as const) {
    const answer = await request(at, name, { boundObjectRef: { apiVersion: 'v1', kind, name: 'bound', uid } });
    t.is(answer.status, 201, answer.text);
    t.is(await codeWith(at, tokenOf(answer)), 200);
    await at.client.request('DELETE', `/api/v1/namespaces/default/${resource}/bound`);
    t.is(await codeWith(at, tokenOf(answer)), 401);
  }
});

test('token requests that make no sense are refused', async (t) => {
  const at = server();
  const name = await account(at, 'asked');
  await accountIn(at.client);
  await object(at, 'pods', {
    metadata: { name: 'other' },
    spec: { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] },
  });
  await object(at, 'secrets', { metadata: { name: 'mine' } });
  const ref = (kind: string, of: string, more: object = {}) => ({
    boundObjectRef: { apiVersion: 'v1', kind, name: of, ...more },
  });
  const cases: readonly (readonly [what: string, account: string, spec: object, metadata: object, code: number])[] = [
    ['no such account', 'none', {}, {}, 404],
    ['too short, of no such account', 'none', { expirationSeconds: 599 }, {}, 422],
    ['too short', name, { expirationSeconds: 599 }, {}, 422],
    ['too long', name, { expirationSeconds: 2 ** 32 + 1 }, {}, 422],
    ['no number', name, { expirationSeconds: 'x' }, {}, 400],
    ['another kind of object', name, ref('ConfigMap', 'x'), {}, 400],
    ['another group', name, ref('Pod', 'other', { apiVersion: 'apps/v1' }), {}, 400],
    ['a kind of the prototype', name, ref('__proto__', 'x'), {}, 400],
    ['no such pod', name, ref('Pod', 'none'), {}, 404],
    ['no name of a pod', name, ref('Pod', ''), {}, 400],
    ['a pod of another account', name, ref('Pod', 'other'), {}, 400],
    ['another uid', name, ref('Secret', 'mine', { uid: 'x' }), {}, 409],
  ];
  for (const [what, of, spec, metadata, code] of cases) {
    const answer = await request(at, of, spec, metadata);
    t.is(answer.status, code, `${what}: ${answer.text}`);
    t.is(answer.json.kind, 'Status');
  }
  const said: readonly (readonly [spec: object, message: string])[] = [
    [
      { expirationSeconds: 599 },
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      { expirationSeconds: 2 ** 32 + 1 },
      'spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
    [ref('ConfigMap', 'x'), 'cannot bind token to object of type /v1, Kind=ConfigMap'],
    [ref('Pod', ''), 'Name parameter required.'],
    [
      ref('Pod', 'other'),
      'cannot bind token for serviceaccount "asked" to pod running with different serviceaccount name.',
    ],
    [
      ref('Secret', 'mine', { uid: 'x' }),
      'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ];
  for (const [spec, message] of said) {
    const { json } = await request(at, name, spec);
    t.true(json.message?.endsWith(message), json.message);
  }
});

test('what a token request says of its own name says nothing of the account, and is given back', async (t) => {
  const at = server();
  const name = await account(at, 'named');
  const metadata = { name: 'mine', namespace: 'elsewhere', labels: { a: 'b' } };
  const { status, json } = await request(at, name, {}, metadata);
  t.is(status, 201);
  const { managedFields: _, ...shown } = json.metadata as { managedFields: unknown };
  t.deepEqual(shown as unknown, { ...metadata, creationTimestamp: null });
  t.like(json.spec, { boundObjectRef: null });
  const { claims } = (await readJwt((json.status as { token: string }).token))!;
  t.is(claims.sub, 'system:serviceaccount:default:named');
  const { managedFields: __, ...unnamed } = (await request(at, name)).json.metadata as { managedFields: unknown };
  t.deepEqual(unnamed as unknown, { creationTimestamp: null });
});

test('others can verify a token with what discovery says', async (t) => {
  const at = server();
  const token = tokenOf(await request(at, await account(at, 'known')));
  const configuration = await at.client.get('/.well-known/openid-configuration');
  t.is(configuration.headers['content-type'], 'application/json');
  const { issuer, jwks_uri: uri } = configuration.json as unknown as { issuer: string; jwks_uri: string };
  t.is((await readJwt(token))?.claims.iss, issuer);
  t.is(new URL(uri).pathname, '/openid/v1/jwks');
  const keySet = await at.client.get('/openid/v1/jwks');
  t.is(keySet.headers['content-type'], 'application/jwk-set+json');
  // As OpenAPI spells the paths.
  for (const { path, answer } of [
    { path: '/.well-known/openid-configuration/', answer: configuration },
    { path: '/openid/v1/jwks/', answer: keySet },
  ])
    t.is((await at.client.get(path)).text, answer.text);
  const { keys } = keySet.json as unknown as { keys: Record<string, string>[] };
  t.true(
    await isSignedBy(
      (await readJwt(token))!,
      keys.map((key) => tokenKey(createPublicKey({ key, format: 'jwk' }))),
    ),
  );
});

test('a token review says whose a token is, and for which audiences', async (t) => {
  const at = server();
  const name = await account(at, 'reviewed');
  const token = tokenOf(await request(at, name, { audiences: ['vault', 'https://orch.default.svc'] }));
  const review = async (spec: object, version = 'v1') => {
    const path = `/apis/authentication.orch.io/${version}/tokenreviews`;
    return at.client.request('POST', path, { body: { spec } });
  };
  const { status, json } = await review({ token });
  t.is(status, 201);
  const { uid } = (await at.client.get(`${ACCOUNTS}/${name}`)).json.metadata;
  t.deepEqual(json.status, {
    authenticated: true,
    user: {
      username: 'system:serviceaccount:default:reviewed',
      uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    },
    audiences: ['https://orch.default.svc'],
  });
  t.like((await review({ token, audiences: ['vault', 'x'] })).json.status, {
    authenticated: true,
    audiences: ['vault'],
  });
  // As it is read from a file, with the end of its line.
  for (const presented of [at.token, `${at.token}\n`])
    t.like((await review({ token: presented })).json.status, { authenticated: true, user: { username: 'orch-admin' } });
  for (const [spec, error] of [
    [{ token: 'nobody' }, 'invalid bearer token'],
    [
      { token, audiences: ['other'] },
      '[invalid bearer token, token audiences ["vault" "https://orch.default.svc"] is invalid for the target audiences ["other"]]',
    ],
    [{ token: at.token, audiences: ['other'] }, 'invalid bearer token'],
  ] as const)
    t.deepEqual((await review(spec)).json.status as unknown, { user: {}, error });
  t.is((await review({})).json.message, 'token is required for TokenReview in authentication');
  const older = await review({ token }, 'v1beta1');
  t.is(older.json.apiVersion, 'authentication.orch.io/v1beta1');
  t.like(older.json.status, { authenticated: true });
});

test('access reviews ask the authorizers, about oneself and about others', async (t) => {
  const at = server();
  const review = (path: string, spec: object, metadata: object = {}) =>
    at.client.request('POST', `${AUTHORIZATION}/${path}`, { body: { metadata, spec } });
  const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
  const own = await review('selfsubjectaccessreviews', { resourceAttributes });
  t.is(own.status, 201);
  t.like(own.json.status as object, { allowed: true });
  const path = { nonResourceAttributes: { path: '/healthz', verb: 'get' } };
  t.like((await review('subjectaccessreviews', { ...path, user: 'jane' })).json.status as object, { allowed: true });
  const local = 'namespaces/default/localsubjectaccessreviews';
  t.is((await review(local, { resourceAttributes, user: 'jane' }, { namespace: 'default' })).status, 201);
  const cases: readonly (readonly [path: string, spec: object, metadata: object, code: number])[] = [
    ['selfsubjectaccessreviews', {}, {}, 422],
    ['selfsubjectaccessreviews', { resourceAttributes, ...path }, {}, 422],
    ['selfsubjectaccessreviews', { resourceAttributes }, { name: 'x' }, 422],
    ['subjectaccessreviews', { resourceAttributes }, {}, 422],
    [local, { ...path, user: 'jane' }, {}, 422],
    [local, { resourceAttributes: { ...resourceAttributes, namespace: 'other' }, user: 'jane' }, {}, 422],
    [local, { resourceAttributes, user: 'jane' }, {}, 422],
    [local, { resourceAttributes, user: 'jane' }, { namespace: 'other' }, 422],
    [
      local,
      { resourceAttributes: { ...resourceAttributes, namespace: 'other' }, user: 'jane' },
      { namespace: 'other' },
      400,
    ],
    ['selfsubjectrulesreviews', {}, {}, 400],
  ];
  for (const [at_, spec, metadata, code] of cases) {
    const answer = await review(at_, spec, metadata);
    t.is(answer.status, code, `${at_}: ${answer.text}`);
  }
  t.deepEqual((await review('selfsubjectrulesreviews', { namespace: 'default' })).json.status, {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  });
  // The older version calls a member otherwise.
  const older = await at.client.request('POST', '/apis/authorization.orch.io/v1beta1/subjectaccessreviews', {
    body: { spec: { resourceAttributes, group: ['a'] } },
  });
  t.is(older.status, 201, older.text);
  t.like(older.json.spec as object, { group: ['a'] });
  for (const method of ['GET', 'PUT', 'DELETE']) {
    t.is((await at.client.request(method, `${AUTHORIZATION}/subjectaccessreviews`)).status, 405);
    t.is((await at.client.request(method, `${AUTHENTICATION}/tokenreviews`)).status, 405);
  }
});

test('up lets a service account read health and version, and nothing else', async (t) => {
  const at = await startServer(t);
  const token = tokenOf(await request(at, await account(at, 'robot')));
  const user = 'system:serviceaccount:default:robot';
  const forbidden: readonly (readonly [method: string, path: string, message: string])[] = [
    [
      'GET',
      '/api/v1/namespaces/default/secrets',
      `secrets is forbidden: User "${user}" cannot list resource "secrets" in API group "" in the namespace "default"`,
    ],
    [
      'DELETE',
      '/api/v1/namespaces/default',
      `namespaces "default" is forbidden: User "${user}" cannot delete resource "namespaces" in API group "" in the namespace "default"`,
    ],
    ['GET', '/metrics', `forbidden: User "${user}" cannot get path "/metrics"`],
  ];
  for (const [method, path, message] of forbidden) {
    const answer = await at.client.request(method, path, { token });
    t.is(answer.status, 403, path);
    t.like(answer.json, { kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 });
  }
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
    t.is((await at.client.get(path, { token })).status, 200, path);
  }
  t.is((await at.client.get('/api/v1/namespaces/default/secrets')).status, 200);
  t.is((await at.client.get('/metrics', { token: 'nobody' })).status, 401);
});

test('a server that lets nobody do anything says so in its reviews', async (t) => {
  const at = await startServer(t, { args: ['--authorization-mode', 'AlwaysDeny'] });
  const body = { spec: { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods' } } };
  const { json } = await at.client.request('POST', `${AUTHORIZATION}/subjectaccessreviews`, { body });
  t.deepEqual(json.status, { allowed: false, reason: 'Everything is forbidden.' });
  const superuser = { spec: { ...body.spec, groups: ['system:masters'] } };
  const allowed = await at.client.request('POST', `${AUTHORIZATION}/subjectaccessreviews`, { body: superuser });
  t.like(allowed.json.status as object, { allowed: true });
});

test('component statuses are read one by one and as a list', async (t) => {
  const { client } = server();
  const list = await client.get('/api/v1/componentstatuses');
  t.is(list.json.kind, 'ComponentStatusList');
  t.deepEqual(
    list.json.items?.map(({ metadata }) => metadata.name),
    ['controller-manager', 'scheduler', 'store-0'],
  );
  t.regex(String(list.headers.warning), /v1 ComponentStatus is deprecated in v1\.19\+/);
  const one = await client.get('/api/v1/componentstatuses/scheduler');
  t.deepEqual((one.json as unknown as { conditions: object[] }).conditions, [
    { type: 'Healthy', status: 'True', message: 'ok' },
  ]);
  t.is((await client.get('/api/v1/componentstatuses/none')).status, 404);
  t.is((await client.request('POST', '/api/v1/componentstatuses', { body: {} })).status, 405);
  const selected = await client.get('/api/v1/componentstatuses?fieldSelector=metadata.name%3Dscheduler');
  t.is(selected.json.items?.length, 1);
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' };
  t.is((await client.get('/api/v1/componentstatuses', { headers })).json.kind, 'Table');
});

/** Files that are there for one test. */
function directoryOf(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'issuer-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('a server that runs no controllers says so of the controller manager, and that the rest is well', async (t) => {
  const { client } = await startServer(t, { args: ['--controllers', ''] });
  const { items } = (await client.get('/api/v1/componentstatuses')).json as unknown as {
    items: readonly { readonly conditions: readonly object[] }[];
  };
  const well = { type: 'Healthy', status: 'True', message: 'ok' };
  const message = 'no controller runs in this server';
  t.deepEqual(
    items.map(({ conditions }) => conditions[0]),
    [{ type: 'Healthy', status: 'False', message }, well, well],
  );
});

test('a list of component statuses is refused where any list would be', async (t) => {
  const { client } = server();
  for (const [query, code] of [
    ['limit=abc', 400],
    ['timeoutSeconds=x', 400],
    ['fieldSelector=kind=x', 400],
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersionMatch=Exact&resourceVersion=1&limit=1', 200],
  ] as const) {
    t.is((await client.get(`/api/v1/componentstatuses?${query}`)).status, code, query);
  }
});

test("the operator's key signs, under the operator's name, and the server's own is not made", async (t) => {
  const directory = directoryOf(t);
  const { certPem, keyPem } = await agentPair('issuer', 'serverAuth');
  writeFileSync(join(directory, 'sa.key'), keyPem);
  writeFileSync(join(directory, 'sa.crt'), certPem);
  const at = await startServer(t, {
    args: [
      ...OPEN,
      '--service-account-issuer',
      'https://issuer.test',
      '--service-account-signing-key-file',
      join(directory, 'sa.key'),
      '--service-account-key-file',
      join(directory, 'sa.crt'),
      '--api-audiences',
      'api,other',
      '--service-account-max-token-expiration',
      '1h',
      '--service-account-jwks-uri',
      'https://issuer.test/keys',
    ],
  });
  const answer = await request(at, await account(at, 'robot'), { expirationSeconds: 7200 });
  t.is(answer.status, 201, answer.text);
  t.like(answer.json.spec, { audiences: ['api', 'other'], expirationSeconds: 3600 });
  t.regex(String(answer.headers.warning), /shortened to 3600 seconds/);
  t.like((await readJwt(tokenOf(answer)))?.claims, { iss: 'https://issuer.test', aud: ['api', 'other'] });
  t.is(await codeWith(at, tokenOf(answer)), 200);
  const foreign = await request(at, 'robot', { audiences: ['vault'] });
  t.is(await codeWith(at, tokenOf(foreign)), 401);
  t.throws(() => statSync(join(at.dataDirectory, 'service-account.key')));
  const { jwks_uri: uri } = (await at.client.get('/.well-known/openid-configuration')).json as unknown as {
    jwks_uri: string;
  };
  t.is(uri, 'https://issuer.test/keys');
});

interface SecretList {
  readonly items: readonly { readonly type: string; readonly metadata: { readonly name: string } }[];
}

/** The name and the content of the secret that an account names, once there is one. */
async function keptToken(
  { client }: ServerProcess,
  name: string,
): Promise<{ secret: string; token: string; ca: string }> {
  const named = await eventually(
    async () => (await client.get(`${ACCOUNTS}/${name}`)).json as unknown as { secrets?: { name: string }[] },
    ({ secrets = [] }) => secrets.length > 0,
  );
  const secret = named.secrets![0]!.name;
  const { data = {} } = (await client.get(`/api/v1/namespaces/default/secrets/${secret}`)).json;
  const read = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return { secret, token: read('token'), ca: read('ca.crt') };
}

test('an account is given a secret with a token, which lets in until the secret is gone, and is then given another', async (t) => {
  const at = server();
  const name = await account(at, 'keeper');
  const { secret, token, ca } = await keptToken(at, name);
  t.regex(secret, /^keeper-token-[a-z0-9]{5}$/);
  t.is(ca, at.caPem);
  t.is(await codeWith(at, token), 200);
  const { claims } = (await readJwt(token))!;
  t.like(claims, { iss: 'orch/serviceaccount', sub: 'system:serviceaccount:default:keeper', exp: undefined });
  await at.client.request('DELETE', `/api/v1/namespaces/default/secrets/${secret}`);
  t.is(await codeWith(at, token), 401);
  const next = await eventually(
    () => keptToken(at, name),
    (now) => now.secret !== secret,
  );
  t.is(await codeWith(at, next.token), 200);
  await at.client.request('DELETE', `${ACCOUNTS}/${name}`);
  t.is(await codeWith(at, next.token), 401);
  const left = await eventually(
    async () => (await at.client.get('/api/v1/namespaces/default/secrets')).json as unknown as SecretList,
    ({ items }) => !items.some(({ metadata }) => metadata.name === next.secret),
  );
  t.false(left.items.some(({ metadata }) => metadata.name.startsWith('keeper-')));
});

test('a secret that is made by hand for an account is filled with a token of its own', async (t) => {
  const at = server();
  const name = await account(at, 'by-hand');
  const annotations = { 'orch.io/service-account.name': name };
  const body = { metadata: { name: 'filled', annotations }, type: 'orch.io/service-account-token' };
  await object(at, 'secrets', body);
  const { data = {} } = await eventually(
    async () => (await at.client.get('/api/v1/namespaces/default/secrets/filled')).json,
    ({ data: content = {} }) => content.token !== undefined,
  );
  t.is(await codeWith(at, Buffer.from(data.token!, 'base64').toString()), 200);
  const nobody = { ...body, metadata: { name: 'orphan', annotations: { 'orch.io/service-account.name': 'none' } } };
  await object(at, 'secrets', nobody);
  await eventually(
    () => at.client.get('/api/v1/namespaces/default/secrets/orphan'),
    ({ status }) => status === 404,
  );
});

test('without lookups a token that was kept in a secret is good after the secret is gone', async (t) => {
  const at = await startServer(t, { args: [...OPEN, '--service-account-lookup=false'] });
  const { secret, token } = await keptToken(at, await account(at, 'robot'));
  await at.client.request('DELETE', `/api/v1/namespaces/default/secrets/${secret}`);
  t.is(await codeWith(at, token), 200);
  const issued = tokenOf(await request(at, 'robot'));
  await at.client.request('DELETE', `${ACCOUNTS}/robot`);
  t.is(await codeWith(at, token), 200);
  t.is(await codeWith(at, issued), 401, 'tokens that are not kept are looked up all the same');
});

test('keys are changed without a break: tokens of the old key are good for as long as it is given', async (t) => {
  const directory = directoryOf(t);
  const file = (name: string): string => join(directory, name);
  for (const name of ['old', 'new']) writeFileSync(file(name), (await agentPair(name, 'serverAuth')).keyPem);
  const args = (signing: string, ...verifying: string[]): string[] => [
    ...OPEN,
    '--service-account-signing-key-file',
    file(signing),
    ...verifying.flatMap((name) => ['--service-account-key-file', file(name)]),
  ];
  const at = await newServer(t);
  t.is(await at.start(args('old', 'old')), undefined);
  const name = await account(at, 'robot');
  const issued = { old: tokenOf(await request(at, name)), kept: (await keptToken(at, name)).token, new: '' };
  await at.stop();
  await at.restart(args('new', 'new', 'old'));
  issued.new = tokenOf(await request(at, name));
  for (const token of Object.values(issued)) t.is(await codeWith(at, token), 200);
  await at.stop();
  await at.restart(args('new', 'new'));
  t.is(await codeWith(at, issued.new), 200);
  t.is(await codeWith(at, issued.old), 401);
  t.is(await codeWith(at, issued.kept), 401);
});

test('the key of a server is its own, kept from start to start, and nobody else may read it', async (t) => {
  const at = await startServer(t, { args: OPEN });
  const token = tokenOf(await request(at, await account(at, 'robot')));
  const path = join(at.dataDirectory, 'service-account.key');
  t.is(statSync(path).mode & 0o777, 0o600);
  const key = readFileSync(path, 'utf8');
  await at.stop();
  await at.restart();
  t.is(readFileSync(path, 'utf8'), key);
  t.is(await codeWith(at, token), 200);
});

test('a key file that is of no use stops the start, and is named', async (t) => {
  const directory = directoryOf(t);
  const file = join(directory, 'bad.key');
  writeFileSync(file, 'nothing');
  const cases: readonly (readonly [args: readonly string[], problem: RegExp])[] = [
    [['--service-account-key-file', file], /bad\.key: /],
    [['--service-account-key-file', join(directory, 'none')], /ENOENT/],
    [['--service-account-issuer', 'https://['], /is not an address/],
    [['--service-account-max-token-expiration', '59m'], /between 1h/],
    [['--orchlet-certificate-authority', join(directory, 'none')], /ENOENT/],
  ];
  for (const [args, problem] of cases) {
    const failed = await (await newServer(t, { args })).start();
    t.is(failed?.code, 1, args.join(' '));
    t.regex(failed?.stderr ?? '', problem);
  }
});

test('who sends a review or a token request owns what it says, as the answer tells', async (t) => {
  const { client } = server();
  await account(server(), 'owned');
  const ask = async (path: string, body: object): Promise<unknown> => {
    const { json, text } = await client.request('POST', `${path}?fieldManager=me`, { body });
    const { managedFields } = json.metadata as unknown as { managedFields?: readonly [object] };
    t.is(managedFields?.length, 1, text);
    t.like(managedFields![0], { manager: 'me', operation: 'Update', apiVersion: json.apiVersion });
    return (managedFields![0] as { fieldsV1: unknown }).fieldsV1;
  };
  const resourceAttributes = { verb: 'get', resource: 'pods' };
  const attributes = { 'f:resourceAttributes': { '.': {}, 'f:resource': {}, 'f:verb': {} } };
  const self = { spec: { resourceAttributes }, metadata: { managedFields: [{ manager: 'another' }] } };
  t.deepEqual(await ask(`${AUTHORIZATION}/selfsubjectaccessreviews`, self), { 'f:spec': attributes });
  const jane = { spec: { user: 'jane', resourceAttributes } };
  t.deepEqual(await ask(`${AUTHORIZATION}/subjectaccessreviews`, jane), { 'f:spec': { ...attributes, 'f:user': {} } });
  t.deepEqual(await ask(`${AUTHENTICATION}/tokenreviews`, { spec: { token: 'x' } }), { 'f:spec': { 'f:token': {} } });
  t.deepEqual(await ask(`${ACCOUNTS}/owned/token`, { metadata: { labels: { a: 'b' } }, spec: {} }), {
    'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    'f:spec': { 'f:expirationSeconds': {} },
  });
});

test('there is no Table of a review: 406, or plain where that is accepted as well', async (t) => {
  const { client } = server();
  const table = 'application/json;as=Table;v=v1;g=meta.orch.io';
  const body = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
  const review = (accept: string): Promise<Answer> =>
    client.request('POST', `${AUTHORIZATION}/selfsubjectaccessreviews`, { body, headers: { accept } });
  const refused = await review(table);
  t.is(refused.status, 406);
  t.is(refused.json.reason, 'NotAcceptable');
  const plain = await review(`${table},application/json`);
  t.is(plain.status, 201);
  t.is(plain.json.kind, 'SelfSubjectAccessReview');
});

test('who asks who it is is told by a SelfSubjectReview, whoever that is, where its version is switched on', async (t) => {
  const at = await startServer(t, { args: ['--runtime-config', 'authentication.orch.io/v1alpha1=true'] });
  const path = '/apis/authentication.orch.io/v1alpha1/selfsubjectreviews';
  const ask = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
    at.client.request('POST', path, {
      body: { apiVersion: 'authentication.orch.io/v1alpha1', kind: 'SelfSubjectReview' },
      headers,
    });
  const admin = await ask({});
  t.is(admin.status, 201, admin.text);
  const { username, groups } = (admin.json.status as { userInfo: { username: string; groups: string[] } }).userInfo;
  t.is(username, 'orch-admin');
  t.true(groups.includes('system:masters'));
  const jane = await ask({
    'impersonate-user': 'jane',
    'impersonate-group': 'devs',
    'impersonate-extra-floor': '3',
    'impersonate-uid': 'u1',
  });
  t.deepEqual(jane.json.status, {
    userInfo: { username: 'jane', uid: 'u1', groups: ['devs', 'system:authenticated'], extra: { floor: ['3'] } },
  });
  t.is((await at.client.request('POST', path, { body: {}, token: '' })).status, 403);
  t.is((await server().client.request('POST', path, { body: {} })).status, 404);
});
