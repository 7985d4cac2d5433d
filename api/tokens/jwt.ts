// Signed JSON Web Tokens in the compact form (RFC 7515, RFC 7519), and the public keys that verify them as a key set (RFC
// 7517), read through jose, which is loaded with the first token that looks like one. RSA and ECDSA only. Time is the caller's, and
// what the claims mean is service-account-claims.ts.
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';

/** By the curve in the key's details. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
const RSA_BITS_MIN = 2048;

/** A key with the one algorithm it is used with. */
export interface TokenKey {
  /** The public half's digest: the same for every holder of the key. */
  readonly id: string;
  readonly algorithm: string;
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * A key, private or public, for tokens.
 *
 * @throws {TypeError} it is neither RSA of 2048 bits or more nor ECDSA on a curve of RFC 7518.
 */
export function tokenKey(key: KeyObject): TokenKey {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  return { id, algorithm: algorithmOf(publicKey), key, publicKey };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa') {
    if (modulusLength < RSA_BITS_MIN)
      throw new TypeError(`an RSA key of ${modulusLength} bits is too short for tokens`);
    return 'RS256';
  }
  if (asymmetricKeyType === 'ec' && Object.hasOwn(CURVES, namedCurve)) return CURVES[namedCurve]!;
  throw new TypeError('the key is neither RSA nor ECDSA on P-256, P-384 or P-521');
}

const partOf = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * The token of some claims, signed with a private key (RFC 7515, section 5.1). Every first start signs some: of jose, and of the
 * interface that it signs through, nothing is loaded for them.
 */
export async function signJwt(claims: JsonObject, { id, algorithm, key }: TokenKey): Promise<string> {
  const text = `${partOf({ alg: algorithm, kid: id })}.${partOf(claims)}`;
  // An ECDSA signature is its two numbers side by side there (RFC 7518, section 3.4). All algorithms here name their digest's bits.
  const signature = await new Promise<Buffer>((resolve, reject) => {
    const how = { key, dsaEncoding: 'ieee-p1363' } as const;
    sign(`sha${algorithm.slice(2)}`, Buffer.from(text), how, (error, bytes) =>
      error ? reject(error) : resolve(bytes),
    );
  });
  return `${text}.${signature.toString('base64url')}`;
}

/** A token taken apart, its signature not looked at. */
export interface UnverifiedJwt {
  readonly token: string;
  readonly algorithm: string;
  readonly keyId: string;
  readonly claims: JsonObject;
}

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Undefined for what is no signed token. */
export async function readJwt(token: string): Promise<UnverifiedJwt | undefined> {
  if (!COMPACT.test(token)) return undefined;
  const { decodeJwt } = await import('jose/jwt/decode');
  const { decodeProtectedHeader } = await import('jose/decode/protected_header');
  try {
    const { alg, kid = '' } = decodeProtectedHeader(token);
    const claims: unknown = decodeJwt(token);
    if (typeof alg !== 'string' || typeof kid !== 'string' || !isJsonObject(claims)) return undefined;
    return { token, algorithm: alg, keyId: kid, claims };
  } catch {
    // Whatever it is, it is none.
    return undefined;
  }
}

/**
 * True when one of the keys has signed the token, with the algorithm that belongs to the key. The key that the token names is tried
 * first, and the others after it: whoever else signs with it may call it otherwise.
 */
export async function isSignedBy(
  { token, algorithm, keyId }: UnverifiedJwt,
  keys: readonly TokenKey[],
): Promise<boolean> {
  const { compactVerify } = await import('jose/jws/compact/verify');
  const isNamed = ({ id }: TokenKey): boolean => id === keyId;
  for (const key of [...keys.filter(isNamed), ...keys.filter((one) => !isNamed(one))]) {
    if (key.algorithm !== algorithm) continue;
    try {
      await compactVerify(token, key.publicKey, { algorithms: [key.algorithm] });
      return true;
    } catch {
      // Not by this key, or with a header that asks for what tokens have not.
    }
  }
  return false;
}

/** The public keys as a key set, each once. */
export async function keySet(keys: readonly TokenKey[]): Promise<JsonObject> {
  const { exportJWK } = await import('jose/key/export');
  const byId = new Map(keys.map((key) => [key.id, key]));
  const members = [...byId.values()].map(async ({ id, algorithm, publicKey }) => {
    const { kty, ...numbers } = await exportJWK(publicKey);
    return { use: 'sig', kty, kid: id, alg: algorithm, ...numbers };
  });
  return { keys: await Promise.all(members) };
}
