// Signed JSON Web Tokens in the compact form (RFC 7515, RFC 7519), and the public keys that verify them as a key set (RFC
// 7517). RSA and ECDSA only. Pure: time is the caller's, and what the claims mean is service-account-claims.ts.
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../json-value.ts';

interface Algorithm {
  readonly name: string;
  readonly hash: string;
}

/** By the length of an elliptic curve's order in the key's details. */
const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', hash: 'sha256' },
  secp384r1: { name: 'ES384', hash: 'sha384' },
  secp521r1: { name: 'ES512', hash: 'sha512' },
};
const RSA: Algorithm = { name: 'RS256', hash: 'sha256' };

/** A key with the one algorithm it is used with. */
export interface TokenKey {
  /** The public half's digest: the same for every holder of the key. */
  readonly id: string;
  readonly algorithm: string;
  readonly hash: string;
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
}

/** A key, private or public, for tokens. Throws TypeError for one that is neither RSA nor ECDSA on a curve of RFC 7518. */
export function tokenKey(key: KeyObject): TokenKey {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey;
  const curve = asymmetricKeyDetails?.namedCurve ?? '';
  const algorithm =
    asymmetricKeyType === 'rsa'
      ? RSA
      : Object.hasOwn(CURVES, curve) && asymmetricKeyType === 'ec'
        ? CURVES[curve]
        : undefined;
  if (algorithm === undefined) throw new TypeError('the key is neither RSA nor ECDSA on P-256, P-384 or P-521');
  return { id, algorithm: algorithm.name, hash: algorithm.hash, key, publicKey };
}

/** The token of some claims, signed with a private key. */
export function signJwt(claims: JsonObject, { id, algorithm, hash, key }: TokenKey): string {
  const signed = `${encoded({ alg: algorithm, kid: id })}.${encoded(claims)}`;
  const signature = sign(hash, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A token taken apart, its signature not looked at. */
export interface UnverifiedJwt {
  readonly algorithm: string;
  readonly keyId: string;
  readonly claims: JsonObject;
  readonly signed: string;
  readonly signature: string;
}

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Undefined for what is no signed token. */
export function parseJwt(token: string): UnverifiedJwt | undefined {
  if (!COMPACT.test(token)) return undefined;
  const [header = '', claims = '', signature = ''] = token.split('.');
  const parsedHeader = decoded(header);
  const parsedClaims = decoded(claims);
  if (parsedHeader === undefined || parsedClaims === undefined) return undefined;
  const { alg, kid = '' } = parsedHeader;
  if (typeof alg !== 'string' || typeof kid !== 'string') return undefined;
  return { algorithm: alg, keyId: kid, claims: parsedClaims, signed: `${header}.${claims}`, signature };
}

/** True when one of the keys has signed the token, with the algorithm that belongs to the key. */
export function isSignedBy({ algorithm, keyId, signed, signature }: UnverifiedJwt, keys: readonly TokenKey[]): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  return keys.some((key) => {
    if (key.algorithm !== algorithm || (keyId !== '' && key.id !== keyId)) return false;
    try {
      return verify(key.hash, Buffer.from(signed), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, bytes);
    } catch {
      // A signature of the wrong shape.
      return false;
    }
  });
}

/** The public keys as a key set, each once. */
export function keySet(keys: readonly TokenKey[]): JsonObject {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const members = [...byId.values()].map(({ id, algorithm, publicKey }) => {
    const { kty, ...numbers } = publicKey.export({ format: 'jwk' });
    return { use: 'sig', kty, kid: id, alg: algorithm, ...numbers };
  });
  return { keys: members };
}

function encoded(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
