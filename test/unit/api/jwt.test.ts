import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import test from 'ava';
import { isSignedBy, keySet, parseJwt, signJwt, tokenKey } from '../../../api/tokens/jwt.ts';

/** RFC 7515, appendix A.3: a token signed with ES256, and its key. */
const RFC_TOKEN =
  'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.' +
  'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q';
const RFC_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
};

const KEYS: Readonly<Record<string, KeyObject>> = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey,
};

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('the token of RFC 7515 is verified, and its claims are read', (t) => {
  const jwt = parseJwt(RFC_TOKEN);
  t.true(isSignedBy(jwt!, [tokenKey(createPublicKey({ key: RFC_KEY, format: 'jwk' }))]));
  t.deepEqual(jwt?.claims as unknown, { iss: 'joe', exp: 1300819380, 'http://example.com/is_root': true });
});

for (const [algorithm, privateKey] of Object.entries(KEYS)) {
  test(`a token signed with ${algorithm} is good for its key alone, and as it is alone`, (t) => {
    const key = tokenKey(privateKey);
    t.is(key.algorithm, algorithm);
    const token = signJwt({ sub: 'ü', n: 1 }, key);
    const jwt = parseJwt(token)!;
    t.is(jwt.algorithm, algorithm);
    t.is(jwt.keyId, key.id);
    const publicHalf = tokenKey(createPublicKey(privateKey));
    t.is(publicHalf.id, key.id);
    t.true(isSignedBy(jwt, [publicHalf]));
    t.false(isSignedBy(jwt, []));
    const others = Object.values(KEYS).filter((other) => other !== privateKey);
    t.false(isSignedBy(jwt, others.map(tokenKey)));
    const [header, , signature] = token.split('.');
    t.false(isSignedBy(parseJwt(`${header}.${encoded({ sub: 'root' })}.${signature}`)!, [publicHalf]));
    const cut = `${token.slice(0, -8)}`;
    t.false(isSignedBy(parseJwt(cut)!, [publicHalf]));
  });
}

test('a token signed with RS256 elsewhere is verified', (t) => {
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded({ sub: 'x' })}`;
  const signature = createSign('sha256').update(signed).sign(KEYS.RS256!).toString('base64url');
  t.true(isSignedBy(parseJwt(`${signed}.${signature}`)!, [tokenKey(KEYS.RS256!)]));
});

test('the public key is no secret to sign with, and no signature is none', (t) => {
  const key = tokenKey(KEYS.RS256!);
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' });
  for (const alg of ['HS256', 'none', 'RS512', 'ES256']) {
    const signed = `${encoded({ alg })}.${encoded({ sub: 'x' })}`;
    const signature = createHmac('sha256', pem).update(signed).digest('base64url');
    t.false(isSignedBy(parseJwt(`${signed}.${signature}`)!, [key]), alg);
  }
});

test('what is no token is not taken for one', (t) => {
  const texts = ['', '.', '..', 'a.b', 'a.b.c.d', 'a.b.c', '!.!.!', `${encoded([])}.${encoded({})}.x`];
  const noAlgorithm = `${encoded({ alg: 1 })}.${encoded({})}.x`;
  const oddKeyId = `${encoded({ alg: 'ES256', kid: {} })}.${encoded({})}.x`;
  for (const text of [...texts, noAlgorithm, oddKeyId, `${encoded({ alg: 'ES256' })}.${encoded([1])}.x`]) {
    t.is(parseJwt(text), undefined, text);
  }
});

test('the key set names each key once, with what verifies and nothing of what signs', (t) => {
  const keys = Object.values(KEYS).map(tokenKey);
  const set = keySet([...keys, keys[0]!]) as unknown as { keys: Record<string, string>[] };
  t.deepEqual(
    set.keys.map(({ alg }) => alg),
    Object.keys(KEYS),
  );
  const [rsa, ec] = set.keys;
  t.deepEqual(Object.keys(rsa!).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  t.deepEqual(Object.keys(ec!).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  const token = parseJwt(signJwt({}, keys[1]!))!;
  const fromSet = tokenKey(createPublicKey({ key: ec!, format: 'jwk' }));
  t.true(isSignedBy(token, [fromSet]));
});

test('keys of other kinds are refused', (t) => {
  t.throws(() => tokenKey(generateKeyPairSync('ed25519').publicKey), { instanceOf: TypeError });
  t.throws(() => tokenKey(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey), { instanceOf: TypeError });
});
