// Tokens of service accounts under a clock and a hub of the test's own.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import test from 'ava';
import type { Identity, Spoken } from '../../../actors/auth/authenticators/identities.ts';
import {
  type ServiceAccountIssuer,
  ServiceAccountTokens,
} from '../../../actors/auth/authenticators/service-account-tokens.ts';
import { tokenDigest } from '../../../actors/auth/authenticators/token-file.ts';
import { tokenUses } from '../../../actors/auth/authenticators/token-uses.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { readJwt, signJwt, tokenKey } from '../../../api/tokens/jwt.ts';
import type { BoundObject, TokenSubject } from '../../../api/tokens/service-account-claims.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const OTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const START_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR_SECONDS = 3600;

const ISSUER: ServiceAccountIssuer = {
  issuer: 'https://issuer.test',
  audiences: ['https://issuer.test'],
  signingKeyPem: KEY,
  verificationKeyPems: [],
  keySetUri: 'https://issuer.test/openid/v1/jwks',
  expirationSecondsMax: 0,
  extendsExpiration: true,
  looksUpSecrets: true,
};

const SUBJECT: TokenSubject = { namespace: 'ns', serviceAccount: { name: 'robot', uid: 'u1' }, bound: undefined };
const POD: BoundObject = { kind: 'pod', name: 'p', uid: 'u2' };

/** The tokens of one issuer, in a cluster of the objects that are in `kept`. */
function cluster(change: Partial<ServiceAccountIssuer> = {}) {
  const kept = new Map<string, Identity>([
    ['core/serviceaccounts/ns/robot', { uid: 'u1', deletedMs: Number.POSITIVE_INFINITY, tokenDigest: '' }],
    ['core/pods/ns/p', { uid: 'u2', deletedMs: Number.POSITIVE_INFINITY, tokenDigest: '' }],
    ['core/secrets/ns/s', { uid: 'u3', deletedMs: Number.POSITIVE_INFINITY, tokenDigest: '' }],
  ]);
  const time = { nowMs: START_MS };
  const find = ({ key }: Spoken): Identity | undefined => kept.get(key);
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => 0 };
  const tokens = new ServiceAccountTokens(
    clock,
    DIALECTS.orch,
    { ...ISSUER, ...change },
    { find },
    tokenUses(new MetricsRegistry()),
  );
  return {
    kept,
    time,
    tokens,
    issue: async (
      subject: TokenSubject = SUBJECT,
      expirationSeconds = HOUR_SECONDS,
      audiences: readonly string[] = [],
    ) => (await tokens.issue({ subject, audiences, expirationSeconds }))!,
    owner: (token: string, audiences: readonly string[] = []) => tokens.owner(token, tokenDigest(token), audiences),
  };
}

type Cluster = ReturnType<typeof cluster>;

async function problemOf({ owner }: Cluster, token: string, audiences: readonly string[] = []): Promise<string> {
  const found = await owner(token, audiences);
  return found === undefined ? 'nobody' : found.user === null ? found.error : '';
}

const claims = (token: string): JsonObject =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as JsonObject;

test('a token says whose it is, from when and until when, and stands for that user', async (t) => {
  const { issue, owner } = cluster();
  const issued = await issue({ ...SUBJECT, bound: POD });
  const seconds = START_MS / 1000;
  t.deepEqual(claims(issued.token) as unknown, {
    aud: ['https://issuer.test'],
    exp: seconds + HOUR_SECONDS,
    iat: seconds,
    iss: 'https://issuer.test',
    'orch.io': { namespace: 'ns', pod: { name: 'p', uid: 'u2' }, serviceaccount: { name: 'robot', uid: 'u1' } },
    nbf: seconds,
    sub: 'system:serviceaccount:ns:robot',
  });
  t.is(issued.expiresMs, START_MS + HOUR_SECONDS * 1000);
  t.deepEqual(await owner(issued.token), {
    user: {
      name: 'system:serviceaccount:ns:robot',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      extra: { 'authentication.orch.io/pod-name': ['p'], 'authentication.orch.io/pod-uid': ['u2'] },
    },
    audiences: ['https://issuer.test'],
  });
});

test('a token is good from a minute before it was issued until a minute after its end', async (t) => {
  const all = cluster();
  const { token } = await all.issue();
  const cases: readonly (readonly [seconds: number, problem: RegExp])[] = [
    [-61, /^Token could not be validated\.$/],
    [-60, /^$/],
    [0, /^$/],
    [HOUR_SECONDS + 60, /^$/],
    [HOUR_SECONDS + 61, /^Token has expired\.$/],
  ];
  for (const [seconds, problem] of cases) {
    all.time.nowMs = START_MS + seconds * 1000;
    t.regex(await problemOf(all, token), problem, String(seconds));
  }
});

test('a token dies with its account, and with what it is bound to', async (t) => {
  const all = cluster();
  const secret = { kind: 'secret', name: 's', uid: 'u3' } as const;
  const tokens = {
    plain: (await all.issue()).token,
    pod: (await all.issue({ ...SUBJECT, bound: POD })).token,
    secret: (await all.issue({ ...SUBJECT, bound: secret })).token,
  };
  const problems = async () => [
    await problemOf(all, tokens.plain),
    await problemOf(all, tokens.pod),
    await problemOf(all, tokens.secret),
  ];
  t.deepEqual(await problems(), ['', '', '']);
  all.kept.delete('core/secrets/ns/s');
  t.deepEqual(await problems(), ['', '', 'Token has been invalidated']);
  // Of the same name, and not the same.
  all.kept.set('core/pods/ns/p', { uid: 'another', deletedMs: Number.POSITIVE_INFINITY, tokenDigest: '' });
  t.is((await problems())[1], 'Pod UID (another) does not match claim (u2)');
  all.kept.set('core/serviceaccounts/ns/robot', {
    uid: 'another',
    deletedMs: Number.POSITIVE_INFINITY,
    tokenDigest: '',
  });
  for (const problem of await problems()) t.is(problem, 'ServiceAccount UID (another) does not match claim (u1)');
});

test('a token outlives the end of its account by a minute', async (t) => {
  const all = cluster();
  const { token } = await all.issue();
  all.kept.set('core/serviceaccounts/ns/robot', { uid: 'u1', deletedMs: START_MS, tokenDigest: '' });
  t.is(await problemOf(all, token), '');
  all.time.nowMs = START_MS + 60_000;
  t.is(await problemOf(all, token), 'ServiceAccount ns/robot has been deleted');
});

test('a token that has been looked at once is answered for at once, with the same user', async (t) => {
  const all = cluster();
  const { token } = await all.issue({ ...SUBJECT, bound: POD });
  const first = await all.owner(token);
  t.is(all.owner(token), first);
  all.kept.delete('core/pods/ns/p');
  t.deepEqual(all.owner(token), { user: null, error: 'Token has been invalidated' });
});

test('a token is good for the audiences that it names', async (t) => {
  const all = cluster({ audiences: ['api', 'https://issuer.test'] });
  const { token } = await all.issue(SUBJECT, HOUR_SECONDS, ['vault', 'api']);
  t.deepEqual((await all.owner(token)) as unknown, { ...((await all.owner(token)) as object), audiences: ['api'] });
  t.like(await all.owner(token, ['vault', 'other']), { audiences: ['vault'] });
  t.like(await all.owner(token, ['api', 'other', 'vault']), { audiences: ['api', 'vault'] }, 'as they are asked for');
  t.is(
    await problemOf(all, token, ['other']),
    'token audiences ["vault" "api"] is invalid for the target audiences ["other"]',
  );
  const { token: foreign } = await all.issue(SUBJECT, HOUR_SECONDS, ['vault']);
  t.is(
    await problemOf(all, foreign),
    'token audiences ["vault"] is invalid for the target audiences ["api" "https://issuer.test"]',
  );
  all.kept.clear();
  t.regex(await problemOf(all, foreign), /^token audiences /, 'that is told before what its account is');
  t.is(await problemOf(all, token), 'serviceaccounts "robot" not found');
});

test('the operator bounds how long a token lives', async (t) => {
  const { issue } = cluster({ expirationSecondsMax: 7200 });
  t.is((await issue(SUBJECT, 7201)).expirationSeconds, 7200);
  t.is((await issue(SUBJECT, 7199)).expirationSeconds, 7199);
});

test('a token injected into a pod lives for a year, and says when it should have been renewed', async (t) => {
  const bound = { ...SUBJECT, bound: POD };
  const lifeOf = async (all: Cluster, subject: TokenSubject, seconds: number, audiences: readonly string[] = []) => {
    const { exp, iat, 'orch.io': own } = claims((await all.issue(subject, seconds, audiences)).token);
    const { warnafter } = own as { warnafter?: number };
    return [Number(exp) - Number(iat), warnafter === undefined ? undefined : warnafter - Number(iat)];
  };
  const year = 365 * 24 * 3600;
  t.deepEqual(await lifeOf(cluster(), bound, 3607), [year, 3607]);
  t.deepEqual(await lifeOf(cluster(), bound, 3606), [3606, undefined]);
  t.deepEqual(await lifeOf(cluster(), SUBJECT, 3607), [3607, undefined]);
  t.deepEqual(await lifeOf(cluster(), bound, 3607, ['vault']), [3607, undefined]);
  t.deepEqual(await lifeOf(cluster({ extendsExpiration: false }), bound, 3607), [3607, undefined]);
  const several = { audiences: ['https://issuer.test', 'api'] };
  t.deepEqual(await lifeOf(cluster(several), bound, 3607, ['api']), [year, 3607], 'for some of the own audiences');
  t.deepEqual(await lifeOf(cluster(several), bound, 3607, ['api', 'vault']), [3607, undefined]);
});

test("tokens of others, and what is no token, are nobody's here", async (t) => {
  const all = cluster();
  const other = cluster({ issuer: 'https://other.test' });
  for (const token of ['', 'x', 'a.b.c', (await other.issue()).token])
    t.is(await problemOf(all, token), 'nobody', token);
});

test('a token is refused that another key has signed, or whose claims were changed', async (t) => {
  const all = cluster();
  const forged = (await cluster({ signingKeyPem: OTHER_KEY }).issue()).token;
  t.is(await problemOf(all, forged), 'square/go-jose: error in cryptographic primitive');
  const [header, , signature] = (await all.issue()).token.split('.');
  const payload = Buffer.from(JSON.stringify({ ...claims((await all.issue()).token), sub: 'system:admin' })).toString(
    'base64url',
  );
  t.is(await problemOf(all, `${header}.${payload}.${signature}`), 'square/go-jose: error in cryptographic primitive');
});

test('claims that make no sense are refused although their signature is good', async (t) => {
  const all = cluster();
  const good = claims((await all.issue()).token);
  const own = good['orch.io'] as JsonObject;
  const cases: readonly object[] = [
    { 'orch.io': undefined },
    { 'orch.io': { ...own, namespace: 7 } },
    { 'orch.io': { ...own, serviceaccount: { name: 'robot' } } },
    { sub: 'system:serviceaccount:other:robot' },
    { exp: 'never' },
    { nbf: {} },
    { aud: undefined },
    { aud: [1, null] },
  ];
  const key = tokenKey(privateKey);
  for (const change of cases) {
    const problem = await problemOf(all, await signJwt({ ...good, ...change }, key));
    t.false(['', 'nobody'].includes(problem), `${JSON.stringify(change)}: ${problem}`);
  }
  t.is(await problemOf(all, await signJwt({ ...good, aud: 'https://issuer.test' }, key)), '');
});

test('a server without a signing key issues nothing, and knows the tokens of its public keys', async (t) => {
  const publicPem = createPublicKey(KEY).export({ type: 'spki', format: 'pem' }).toString();
  const { token } = await cluster().issue();
  const verifying = cluster({ signingKeyPem: '', verificationKeyPems: [publicPem] });
  t.is(await verifying.tokens.issue({ subject: SUBJECT, audiences: [], expirationSeconds: 600 }), undefined);
  t.is(await problemOf(verifying, token), '');
});

test('only an issuer with an https address has discovery documents', async (t) => {
  const { configuration, keySet } = await cluster({ verificationKeyPems: [] }).tokens.documents();
  t.deepEqual(configuration as unknown, {
    issuer: 'https://issuer.test',
    jwks_uri: 'https://issuer.test/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
  t.is((keySet?.keys as unknown[] | undefined)?.length, 1);
  t.deepEqual(await cluster({ issuer: 'somebody' }).tokens.documents(), { configuration: null, keySet: null });
});

const KEPT = { namespace: 'ns', serviceAccount: { name: 'robot', uid: 'u1' }, secretName: 's' };
const ALWAYS = Number.POSITIVE_INFINITY;

/** A token that is kept in the secret `s`. */
async function keptIn(all: Cluster): Promise<string> {
  const token = (await all.tokens.issueKept(KEPT))!;
  all.kept.set('core/secrets/ns/s', { uid: 'u3', deletedMs: ALWAYS, tokenDigest: tokenDigest(token) });
  return token;
}

test('a token that is kept in a secret does not expire, and is for the server alone', async (t) => {
  const all = cluster();
  const token = await keptIn(all);
  all.time.nowMs += 100 * 365 * 24 * 3600 * 1000;
  const owner = await all.owner(token);
  t.like(owner?.user, { name: 'system:serviceaccount:ns:robot', uid: 'u1', extra: {} });
  t.deepEqual(owner?.user?.groups, ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated']);
  t.is(await problemOf(all, token), '');
  t.deepEqual(await all.owner(token, ['vault']), {
    user: null,
    error: 'token audiences ["https://issuer.test"] is invalid for the target audiences ["vault"]',
  });
  t.deepEqual(await all.owner(`${token.slice(0, -6)}AAAAAA`), {
    user: null,
    error: 'square/go-jose: error in cryptographic primitive',
  });
});

const gone: Readonly<Record<string, { change: (all: Cluster) => void; problem: string }>> = {
  'its secret is gone': {
    change: ({ kept }) => kept.delete('core/secrets/ns/s'),
    problem: 'Token has been invalidated',
  },
  'its secret is going': {
    change: ({ kept }) => {
      const secret = kept.get('core/secrets/ns/s')!;
      kept.set('core/secrets/ns/s', { ...secret, deletedMs: START_MS });
    },
    problem: 'Token has been invalidated',
  },
  'its secret holds another token': {
    change: ({ kept }) => kept.set('core/secrets/ns/s', { uid: 'u3', deletedMs: ALWAYS, tokenDigest: 'other' }),
    problem: "Token does not match server's copy",
  },
  'its account is gone': {
    change: ({ kept }) => kept.delete('core/serviceaccounts/ns/robot'),
    problem: 'serviceaccounts "robot" not found',
  },
  'its account is going': {
    change: ({ kept }) => {
      const account = kept.get('core/serviceaccounts/ns/robot')!;
      kept.set('core/serviceaccounts/ns/robot', { ...account, deletedMs: START_MS });
    },
    problem: 'ServiceAccount ns/robot has been deleted',
  },
  'its account is another': {
    change: ({ kept }) => kept.set('core/serviceaccounts/ns/robot', { uid: 'u9', deletedMs: ALWAYS, tokenDigest: '' }),
    problem: 'ServiceAccount UID (u9) does not match claim (u1)',
  },
};

for (const [what, { change, problem }] of Object.entries(gone)) {
  test(`a token that is kept in a secret is no good once ${what}, unless nothing is looked up`, async (t) => {
    const all = cluster();
    const token = await keptIn(all);
    t.is(await problemOf(all, token), '');
    change(all);
    t.is(await problemOf(all, token), problem);
    const trusting = cluster({ looksUpSecrets: false });
    const trusted = await keptIn(trusting);
    change(trusting);
    t.is(await problemOf(trusting, trusted), '');
    // Others are looked up all the same.
    const { token: other } = await trusting.issue();
    trusting.kept.delete('core/serviceaccounts/ns/robot');
    t.is(await problemOf(trusting, other), 'serviceaccounts "robot" not found');
  });
}

test('claims of a kept token that contradict themselves or lack something are refused', async (t) => {
  const all = cluster();
  const good = (await readJwt(await keptIn(all)))!.claims;
  const cases: Readonly<Record<string, JsonObject>> = {
    'the token names no secret': { ...good, 'orch.io/serviceaccount/secret.name': '' },
    'the token names no service account': { ...good, 'orch.io/serviceaccount/service-account.uid': 7 },
    'the token contradicts itself about its subject': { ...good, sub: 'system:serviceaccount:ns:admin' },
  };
  for (const [problem, claims] of Object.entries(cases))
    t.is(await problemOf(all, await signJwt(claims, tokenKey(privateKey))), problem);
});
