// Tokens of OpenID Connect on real servers: every way in which one can be wrong, keys that change, groups that are kept
// elsewhere; and the tokens of a real provider, which a user logs in to without a browser.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { generateKeyPair } from 'jose';
import { outcomeOf, unsignedToken } from '../server/credentials.ts';
import { OpenIdIssuer, type SignChanges } from '../server/openid-issuer.ts';
import { loggedIn, openIdProvider } from '../server/openid-provider.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';

interface World {
  readonly server: ServerProcess;
  readonly issuer: OpenIdIssuer;
  /** Not the one that the server trusts: it answers for claims. */
  readonly other: OpenIdIssuer;
}

let world: World;
const undo: (() => void | Promise<void>)[] = [];
const scope: Scope = { teardown: (action) => void undo.push(action) };

function folder(): string {
  const files = mkdtempSync(join(tmpdir(), 'orch-connect-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  return files;
}

test.before(async () => {
  const files = folder();
  const issuer = await OpenIdIssuer.start(scope, files, 'issuer');
  const other = await OpenIdIssuer.start(scope, files, 'other');
  const read = (name: string): string => readFileSync(join(files, name), 'utf8');
  writeFileSync(join(files, 'both.crt'), read('issuer.crt') + read('other.crt'));
  const server = await startServer(scope, {
    args: [
      '--authorization-mode=AlwaysDeny',
      `--oidc-issuer-url=${issuer.url}`,
      '--oidc-client-id=orch',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=system:',
      '--oidc-required-claim=tenant=blue',
      `--oidc-ca-file=${join(files, 'both.crt')}`,
      '--oidc-signing-algs=ES256',
    ],
  });
  world = { server, issuer, other };
});

test.after.always(async () => {
  for (const action of undo.reverse()) await action();
});

async function withToken(token: string, server = world.server): Promise<number | string> {
  return outcomeOf(await server.client.get('/api', { token }));
}

const CLAIMS = { sub: 'sue', tenant: 'blue', groups: ['a'] };
const SUE = 'sue';

const SIGNED: readonly (readonly [why: string, outcome: typeof SUE | number, claims: object, changes?: SignChanges])[] =
  [
    ['is good', SUE, {}],
    ['is for several audiences', SUE, {}, { audience: ['elsewhere', 'orch'] }],
    ['names one group as a text', SUE, { groups: 'one' }],
    ['names no groups', SUE, { groups: undefined }],
    ['makes a superuser', 200, { groups: ['masters'] }],
    ['is from a clock that is a little ahead', SUE, {}, { notBefore: '45s' }],
    ['names no key', SUE, {}, { keyId: null }],
    ['has expired', 401, {}, { expires: '1s ago' }],
    ['is not valid yet', 401, {}, { notBefore: '2m' }],
    ['is for another audience', 401, {}, { audience: 'elsewhere' }],
    ['is of another issuer', 401, {}, { issuer: 'https://elsewhere' }],
    ['lacks the required claim', 401, { tenant: undefined }],
    ['has another value of it', 401, { tenant: 'red' }],
    ['has it in a list', 401, { tenant: ['blue'] }],
    ['names no subject', 401, { sub: undefined }],
    ['names a subject that is no text', 401, { sub: 7 }],
    ['names groups that are no texts', 401, { groups: [1] }],
    ['is signed with a secret', 401, {}, { algorithm: 'HS256', key: Buffer.from('k'.repeat(32)) }],
  ];

for (const [why, outcome, claims, changes] of SIGNED) {
  test(`a token that ${why} is ${outcome}`, async (t) => {
    const expected = outcome === SUE ? `${world.issuer.url}#sue` : outcome;
    t.is(await withToken(await world.issuer.sign({ ...CLAIMS, ...claims }, changes)), expected);
  });
}

test('a token that is forged, cut or too long is 401', async (t) => {
  const { issuer } = world;
  const stranger = (await generateKeyPair('ES256')).privateKey;
  const publicKey = Buffer.from(JSON.stringify(issuer.publicJwk));
  const good = await issuer.sign(CLAIMS);
  const [header, payload, signature] = good.split('.');
  const refused: readonly (readonly [why: string, token: string])[] = [
    ['signed with another key', await issuer.sign(CLAIMS, { key: stranger })],
    ['signed with another key of another name', await issuer.sign(CLAIMS, { key: stranger, keyId: 'k9' })],
    ['signed with the public key as a secret', await issuer.sign(CLAIMS, { algorithm: 'HS256', key: publicKey })],
    ['unsigned', unsignedToken({ ...CLAIMS, iss: issuer.url, aud: 'orch', exp: 9_999_999_999 })],
    ['without its signature', `${header}.${payload}.`],
    ['with half a signature', good.slice(0, -40)],
    ['with four parts', `${good}.${signature}`],
    ['too long', `${good}${'x'.repeat(14_000)}`],
  ];
  for (const [why, token] of refused) t.is(await withToken(token), 401, why);
});

/** A token that says where its groups are. */
function elsewhere(endpoint: object): Promise<string> {
  const { tenant } = CLAIMS;
  return world.issuer.sign({
    sub: `sue-${Math.random()}`,
    tenant,
    _claim_names: { groups: 'src' },
    _claim_sources: { src: endpoint },
  });
}

test('groups that a token says are elsewhere are asked for there', async (t) => {
  const { issuer, other } = world;
  const put = (path: string, body: string, authorization = ''): string => {
    other.others.set(path, { body, authorization });
    return `${other.url}${path}`;
  };
  const masters = await other.sign({ groups: ['masters'] }, { audience: 'whoever' });
  t.is(await withToken(await elsewhere({ endpoint: put('/open', masters) })), 200);
  const closed = put('/closed', masters, 'Bearer for-the-claims');
  t.is(await withToken(await elsewhere({ endpoint: closed, access_token: 'for-the-claims' })), 200);
  const refused: readonly (readonly [why: string, source: object])[] = [
    ['another token is asked for', { endpoint: closed, access_token: 'wrong' }],
    ['nothing is there', { endpoint: put('/nothing', '') }],
    ['it is not signed', { endpoint: put('/none', unsignedToken({ iss: other.url, groups: ['masters'], exp: 9e9 })) }],
    ['it has expired', { endpoint: put('/late', await other.sign({ groups: ['a'] }, { expires: '1s ago' })) }],
    ['the claim is not in it', { endpoint: put('/empty', await other.sign({ others: ['a'] })) }],
    ['nobody is there', { endpoint: 'https://127.0.0.1:1/' }],
    ['it is no https address', { endpoint: `${other.url}/open`.replace('https', 'http') }],
  ];
  for (const [why, source] of refused) t.is(await withToken(await elsewhere(source)), 401, why);
  const undescribed = { ...CLAIMS, groups: undefined, _claim_names: { groups: 'src' } };
  t.is(await withToken(await issuer.sign(undescribed)), 401, 'the source is not described');
  const sent = await withToken(await elsewhere({ JWT: masters }));
  t.regex(String(sent), /#sue/, 'claims that are sent along are left alone');
});

test("a server reads its issuer's keys once, and again for a key that is new", async (t) => {
  const files = folder();
  const issuer = await OpenIdIssuer.start(scope, files, 'fresh');
  const server = await startServer(scope, {
    args: [
      '--authorization-mode=AlwaysDeny',
      `--oidc-issuer-url=${issuer.url}`,
      '--oidc-client-id=orch',
      '--oidc-username-claim=email',
      `--oidc-ca-file=${join(files, 'fresh.crt')}`,
      '--oidc-signing-algs=ES256',
    ],
  });
  const outcome = async (claims: object, changes?: SignChanges): Promise<number | string> =>
    withToken(await issuer.sign(claims, changes), server);
  t.is(await outcome({ email: 'sue@here' }), 'sue@here', 'an email has no prefix');
  t.is(await outcome({ email: 'sue@there', email_verified: true }), 'sue@there');
  t.is(await outcome({ email: 'sue@here', email_verified: false }), 401);
  t.is(await outcome({ sub: 'sue' }), 401);
  t.deepEqual(issuer.asked, { document: 1, keys: 1 });
  for (let i = 0; i < 5; i++) t.is(await outcome({ email: 'x@y' }, { keyId: `unknown-${i}` }), 401);
  t.true(issuer.asked.keys <= 2, 'tokens of unknown keys do not make it ask each time');
});

test('the tokens of a real provider let in whom it has let log in', async (t) => {
  const files = folder();
  const provider = await openIdProvider(scope, files, 'provider');
  const server = await startServer(scope, {
    args: [
      '--authorization-mode=AlwaysDeny',
      `--oidc-issuer-url=${provider.issuer}`,
      '--oidc-client-id=orch',
      '--oidc-username-prefix=oidc:',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=oidc:',
      `--oidc-ca-file=${join(files, 'provider.crt')}`,
    ],
  });
  const sue = await loggedIn(provider, 'orch', 'sue');
  t.is(await withToken(sue.idToken, server), 'oidc:sue');
  t.is(await withToken(sue.accessToken, server), 401, 'an access token is none');
  const review = await server.client.request('POST', '/apis/authentication.orch.io/v1/tokenreviews', {
    body: { spec: { token: sue.idToken } },
  });
  t.like(review.json.status as object, {
    authenticated: true,
    user: { username: 'oidc:sue', groups: ['oidc:sue-friends', 'system:authenticated'] },
  });
  const forOthers = await server.client.request('POST', '/apis/authentication.orch.io/v1/tokenreviews', {
    body: { spec: { token: sue.idToken, audiences: ['vault'] } },
  });
  t.is((forOthers.json.status as { authenticated?: boolean }).authenticated, undefined, 'it is for this server alone');
  const elsewhereToken = (await loggedIn(provider, 'another-client', 'sue')).idToken;
  t.is(await withToken(elsewhereToken, server), 401, 'a token for another client');
});
