// Tokens of OpenID Connect under a clock of the test's own: what is said of those that are no good, and for how long they may be ahead.
import test from 'ava';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { TokenOwner } from '../../../actors/auth/authenticators/authenticator.ts';
import { type ConnectSettings, ConnectTokens } from '../../../actors/auth/authenticators/connect-tokens.ts';

const ISSUER = 'https://issuer.test';
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const NOW = NOW_MS / 1000;
const SETTINGS: ConnectSettings = {
  issuerUrl: ISSUER,
  clientId: 'cli',
  usernameClaim: 'email',
  usernamePrefix: '',
  groupsClaim: 'groups',
  groupsPrefix: '',
  requiredClaims: { tenant: 'blue' },
  algorithms: ['ES256', 'RS256'],
};
const CLAIMS = { iss: ISSUER, aud: 'cli', email: 'ann@x', tenant: 'blue', groups: ['a'], exp: NOW + 600 };

type Said = (changes: object, key?: CryptoKey) => Promise<string>;

/** What the tokens of an issuer are, with these claims changed, and signed with its key or another. */
async function issuer(): Promise<{ readonly tokens: ConnectTokens; readonly said: Said }> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const documents: Readonly<Record<string, unknown>> = {
    [`${ISSUER}/.well-known/openid-configuration`]: { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
    [`${ISSUER}/keys`]: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] },
  };
  const tokens = new ConnectTokens({
    settings: SETTINGS,
    client: {
      get: (url) => Promise.resolve(documents[url]),
      getText: () => Promise.reject(new Error('nobody is there')),
    },
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
  });
  const said: Said = async (changes, key = privateKey) => {
    const claims = { ...CLAIMS, ...changes };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(key);
    const owner = await tokens.owner(token, token);
    if (owner === undefined) return 'unknown';
    return owner.user === null ? owner.error : owner.user.name;
  };
  return { tokens, said };
}

const AHEAD =
  'oidc: verify token: oidc: current time 2026-01-01 00:00:00 +0000 UTC before the nbf (not before) time: 2026-01-01 00:01:01 +0000 UTC';
const NO_TIME = (type: string): string =>
  `oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal ${type} into Go value of type json.Number`;
const NO_NUMBER = (text: string): string =>
  `oidc: verify token: oidc: failed to unmarshal claims: json: invalid number literal, trying to unmarshal "\\"${text}\\"" into Number`;
const SAID: readonly (readonly [changes: object, said: string])[] = [
  [{}, 'ann@x'],
  [{ nbf: NOW + 60 }, 'ann@x'],
  [{ nbf: NOW + 61 }, AHEAD],
  // A time may be a text, as long as that is a number.
  [{ exp: `${NOW + 600}`, iat: `${NOW}`, nbf: `${NOW + 60}.0` }, 'ann@x'],
  [{ nbf: `${NOW + 61}` }, AHEAD],
  [
    { exp: `${NOW - 1.5}` },
    'oidc: verify token: oidc: token is expired (Token Expiry: 2025-12-31 23:59:58.5 +0000 UTC)',
  ],
  [{ exp: NOW - 1.5 }, 'oidc: verify token: oidc: token is expired (Token Expiry: 2025-12-31 23:59:58.5 +0000 UTC)'],
  [{ exp: undefined }, 'oidc: verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)'],
  [{ exp: -1e18 }, 'oidc: verify token: oidc: token is expired (Token Expiry: -271821-04-20 00:00:00 +0000 UTC)'],
  [{ exp: 'soon' }, NO_NUMBER('soon')],
  [{ nbf: '' }, NO_NUMBER('')],
  [{ nbf: [1] }, NO_TIME('array')],
  [{ iat: true }, NO_TIME('bool')],
  [
    { nbf: 1e18 },
    'oidc: verify token: oidc: current time 2026-01-01 00:00:00 +0000 UTC before the nbf (not before) time: +275760-09-13 00:00:00 +0000 UTC',
  ],
  [{ aud: ['x', 'y'] }, 'oidc: verify token: oidc: expected audience "cli" got ["x" "y"]'],
  [{ aud: undefined }, 'oidc: verify token: oidc: expected audience "cli" got []'],
  [{ email: undefined }, 'oidc: parse username claims "email": claim not present'],
  [{ email: 5 }, 'oidc: parse username claims "email": json: cannot unmarshal number into Go value of type string'],
  [{ email_verified: false }, 'oidc: email not verified'],
  [
    { email_verified: 'true' },
    "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type bool",
  ],
  [
    { groups: ['a', 5] },
    'oidc: parse groups claim "groups": json: cannot unmarshal array into Go value of type string',
  ],
  [{ tenant: undefined }, 'oidc: required claim tenant not present in ID token'],
  [{ tenant: 'red' }, 'oidc: required claim tenant value does not match. Got = red, want = blue'],
];

test('what is against a token is told in the words of Kubernetes', async (t) => {
  const { said } = await issuer();
  for (const [changes, expected] of SAID) t.is(await said(changes), expected, JSON.stringify(changes));
  const forged = 'oidc: verify token: failed to verify signature: failed to verify id token signature';
  t.is(await said({}, (await generateKeyPair('ES256')).privateKey), forged);
});

test('a token that has not three parts is left to others', async (t) => {
  const { tokens } = await issuer();
  const part = Buffer.from(JSON.stringify({ iss: ISSUER })).toString('base64url');
  for (const token of [`${part}.${part}`, `${part}.${part}.s.s`]) t.is(tokens.owner(token, token), undefined);
});

const GROUPS_ELSEWHERE = { groups: undefined, _claim_names: { groups: 's' } };
const ENDPOINT = 'https://groups.test/of/ann';
const SOURCE = { ...GROUPS_ELSEWHERE, _claim_sources: { s: { endpoint: ENDPOINT, access_token: 'key' } } };

interface Elsewhere {
  /** What a token with these claims comes to, and when it is asked about. */
  readonly owner: (claims: object) => Promise<TokenOwner | undefined>;
  /** What is asked of the endpoint, with which token. */
  readonly asked: string[];
  readonly pass: (ms: number) => void;
  /** What the endpoint answers: the claims of a token, or a text. */
  answer: object | string;
}

/** An issuer whose tokens say that the groups are elsewhere, where the same issuer answers. */
async function elsewhere(changes: Partial<ConnectSettings> = {}): Promise<Elsewhere> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const signed = (claims: object): Promise<string> =>
    new SignJWT(claims as Record<string, unknown>).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(privateKey);
  const documents: Readonly<Record<string, unknown>> = {
    [`${ISSUER}/.well-known/openid-configuration`]: { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
    [`${ISSUER}/keys`]: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] },
  };
  const asked: string[] = [];
  let passedMs = 0;
  const world: Elsewhere = {
    answer: { iss: ISSUER, exp: NOW + 600, groups: ['far'] },
    asked,
    pass: (ms) => {
      passedMs += ms;
    },
    owner: async (claims) => {
      const token = await signed({ ...CLAIMS, ...claims });
      return tokens.owner(token, token);
    },
  };
  const tokens = new ConnectTokens({
    settings: { ...SETTINGS, ...changes },
    client: {
      get: (url) => Promise.resolve(documents[url]),
      getText: async (url, token) => {
        asked.push(`${url} ${token}`);
        return typeof world.answer === 'string' ? world.answer : await signed(world.answer);
      },
    },
    clock: { nowMs: () => NOW_MS + passedMs, monotonicMs: () => passedMs },
  });
  return world;
}

test('groups that are elsewhere are asked for with the token that goes with them, and again when ten seconds are over', async (t) => {
  const world = await elsewhere({ groupsPrefix: 'oidc:' });
  const claims = SOURCE;
  for (let times = 1; times <= 2; times++)
    t.deepEqual((await world.owner(claims))?.user?.groups, ['oidc:far', 'system:authenticated']);
  t.true(world.asked.length <= 2 && world.asked.every((one) => one === `${ENDPOINT} key`));
  t.deepEqual((await world.owner({ ...SOURCE, groups: ['near'] }))?.user?.groups, [
    'oidc:near',
    'system:authenticated',
  ]);
  t.deepEqual((await world.owner({ groups: undefined }))?.user?.groups, ['system:authenticated']);
  t.deepEqual((await world.owner({ ...GROUPS_ELSEWHERE, _claim_sources: { s: {} } }))?.user?.groups, [
    'system:authenticated',
  ]);
});

const EXPANDED = 'oidc: could not expand distributed claims: while getting distributed claim "groups": ';

test('groups that cannot be had where they are said to be let nobody in', async (t) => {
  const said = async (claims: object, answer?: object | string): Promise<string> => {
    const world = await elsewhere();
    if (answer !== undefined) world.answer = answer;
    const owner = await world.owner(claims);
    return owner === undefined || owner.user !== null ? 'let in' : owner.error;
  };
  t.is(await said(GROUPS_ELSEWHERE), `${EXPANDED}the token names a source of claims that it does not describe`);
  t.is(
    await said({ ...GROUPS_ELSEWHERE, _claim_sources: { s: { endpoint: 'http://groups.test' } } }),
    `${EXPANDED}the source of a claim is no https address`,
  );
  t.is(await said(SOURCE, { iss: ISSUER, exp: NOW + 600 }), `${EXPANDED}the source of a claim answered without it`);
  t.is(await said(SOURCE, 'no token'), `${EXPANDED}the source of a claim answered no token of an issuer`);
  t.regex(await said(SOURCE, { iss: 'http://other.test', groups: ['a'] }), /answered no token of an issuer$/);
  t.not(await said(SOURCE, { iss: ISSUER, exp: NOW - 1, groups: ['admins'] }), 'let in', 'it has ended');
});

const NAMES: readonly (readonly [settings: Partial<ConnectSettings>, name: string])[] = [
  [{}, 'ann@x'],
  [{ usernamePrefix: 'oidc:' }, 'oidc:ann@x'],
  [{ usernamePrefix: '-' }, 'ann@x'],
  [{ usernameClaim: 'tenant' }, `${ISSUER}#blue`],
  [{ usernameClaim: 'tenant', usernamePrefix: '-' }, 'blue'],
  [{ usernameClaim: 'tenant', usernamePrefix: 'x:' }, 'x:blue'],
];

test('a name begins with its issuer, or as is asked for; an address of mail by itself with nothing', async (t) => {
  for (const [settings, name] of NAMES)
    t.is((await (await elsewhere(settings)).owner({}))?.user?.name, name, JSON.stringify(settings));
});

test('groups are a list of texts or one text, each behind the prefix, and none where they are not asked for', async (t) => {
  const groups = async (claim: unknown, settings: Partial<ConnectSettings> = {}): Promise<unknown> =>
    (await (await elsewhere(settings)).owner({ groups: claim }))?.user?.groups;
  t.deepEqual(await groups('one'), ['one', 'system:authenticated']);
  t.deepEqual(await groups(['a', 'b'], { groupsPrefix: 'p:' }), ['p:a', 'p:b', 'system:authenticated']);
  t.deepEqual(await groups(null), ['system:authenticated']);
  t.deepEqual(await groups(['a'], { groupsClaim: '' }), ['system:authenticated']);
});
