// Tokens of OpenID Connect under a clock of the test's own: what is said of those that are no good, and for how long they may be ahead.
import test from 'ava';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
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
