import { createHmac, createPublicKey, createSign, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import test from 'ava';
import { isSignedBy, keySet, readJwt, signJwt, tokenKey } from '../../../api/tokens/jwt.ts';

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

test('the token of RFC 7515 is verified, and its claims are read', async (t) => {
  const jwt = await readJwt(RFC_TOKEN);
  t.true(await isSignedBy(jwt!, [tokenKey(createPublicKey({ key: RFC_KEY, format: 'jwk' }))]));
  t.deepEqual(jwt?.claims as unknown, { iss: 'joe', exp: 1300819380, 'http://example.com/is_root': true });
});

for (const [algorithm, privateKey] of Object.entries(KEYS)) {
  test(`a token signed with ${algorithm} is good for its key alone, and as it is alone`, async (t) => {
    const key = tokenKey(privateKey);
    t.is(key.algorithm, algorithm);
    const token = await signJwt({ sub: 'ü', n: 1 }, key);
    const jwt = (await readJwt(token))!;
    t.is(jwt.algorithm, algorithm);
    t.is(jwt.keyId, key.id);
    const publicHalf = tokenKey(createPublicKey(privateKey));
    t.is(publicHalf.id, key.id);
    t.true(await isSignedBy(jwt, [publicHalf]));
    t.false(await isSignedBy(jwt, []));
    const others = Object.values(KEYS).filter((other) => other !== privateKey);
    t.false(await isSignedBy(jwt, others.map(tokenKey)));
    const [header, , signature] = token.split('.');
    t.false(await isSignedBy((await readJwt(`${header}.${encoded({ sub: 'root' })}.${signature}`))!, [publicHalf]));
    const cut = `${token.slice(0, -8)}`;
    t.false(await isSignedBy((await readJwt(cut))!, [publicHalf]));
  });
}

test('a token signed with RS256 elsewhere is verified', async (t) => {
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded({ sub: 'x' })}`;
  const signature = createSign('sha256').update(signed).sign(KEYS.RS256!).toString('base64url');
  t.true(await isSignedBy((await readJwt(`${signed}.${signature}`))!, [tokenKey(KEYS.RS256!)]));
});

test('the public key is no secret to sign with, and no signature is none', async (t) => {
  const key = tokenKey(KEYS.RS256!);
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' });
  for (const alg of ['HS256', 'none', 'RS512', 'ES256']) {
    const signed = `${encoded({ alg })}.${encoded({ sub: 'x' })}`;
    const signature = createHmac('sha256', pem).update(signed).digest('base64url');
    t.false(await isSignedBy((await readJwt(`${signed}.${signature}`))!, [key]), alg);
  }
});

test('what is no token is not taken for one', async (t) => {
  const texts = ['', '.', '..', 'a.b', 'a.b.c.d', 'a.b.c', '!.!.!', `${encoded([])}.${encoded({})}.x`];
  const noAlgorithm = `${encoded({ alg: 1 })}.${encoded({})}.x`;
  const oddKeyId = `${encoded({ alg: 'ES256', kid: {} })}.${encoded({})}.x`;
  for (const text of [...texts, noAlgorithm, oddKeyId, `${encoded({ alg: 'ES256' })}.${encoded([1])}.x`]) {
    t.is(await readJwt(text), undefined, text);
  }
});

test('the key set names each key once, with what verifies and nothing of what signs', async (t) => {
  const keys = Object.values(KEYS).map(tokenKey);
  const set = (await keySet([...keys, keys[0]!])) as unknown as { keys: Record<string, string>[] };
  t.deepEqual(
    set.keys.map(({ alg }) => alg),
    Object.keys(KEYS),
  );
  const [rsa, ec] = set.keys;
  t.deepEqual(Object.keys(rsa!).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  t.deepEqual(Object.keys(ec!).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  const token = (await readJwt(await signJwt({}, keys[1]!)))!;
  const fromSet = tokenKey(createPublicKey({ key: ec!, format: 'jwk' }));
  t.true(await isSignedBy(token, [fromSet]));
});

test('an RSA key that is too short for tokens is refused when it is read', (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  t.throws(() => tokenKey(privateKey), { instanceOf: TypeError, message: /1024 bits/ });
});

test('a header that asks for an extension nobody knows is not passed over', async (t) => {
  const key = tokenKey(KEYS.ES256!);
  const signed = `${encoded({ alg: 'ES256', crit: ['exp'], exp: 1 })}.${encoded({ sub: 'x' })}`;
  const signature = sign('sha256', Buffer.from(signed), { key: KEYS.ES256!, dsaEncoding: 'ieee-p1363' });
  const jwt = await readJwt(`${signed}.${signature.toString('base64url')}`);
  t.false(jwt !== undefined && (await isSignedBy(jwt, [key])));
});

test('keys of other kinds are refused', (t) => {
  t.throws(() => tokenKey(generateKeyPairSync('ed25519').publicKey), { instanceOf: TypeError });
  t.throws(() => tokenKey(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey), { instanceOf: TypeError });
});
