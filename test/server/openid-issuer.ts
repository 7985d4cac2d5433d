// An issuer of OpenID Connect tokens as far as a server sees one: its documents over HTTPS, and tokens signed as a test wants
// them, right or wrong. Its keys can be changed, and it counts who asks.
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { httpsService, sendJson } from './credentials.ts';
import type { Scope } from './server-process.ts';

/** What a token has that a good one has not. */
export interface SignChanges {
  readonly issuer?: string;
  readonly audience?: string | string[];
  readonly expires?: string;
  readonly notBefore?: string;
  readonly algorithm?: string;
  readonly key?: CryptoKey | Uint8Array;
  /** Null: the token names none. */
  readonly keyId?: string | null;
}

const ALGORITHM = 'ES256';

export class OpenIdIssuer {
  /** Requests for the document and for the keys. */
  readonly asked = { document: 0, keys: 0 };
  /** Answers to other paths: the body and who is meant to be let in, by path. */
  readonly others = new Map<string, { readonly body: string; readonly authorization: string }>();
  url = '';
  #keys: JWK[] = [];
  #signing: { readonly key: CryptoKey; readonly id: string } | undefined;

  /** An issuer until the scope ends; its certificate is `name.crt` in the folder. */
  static async start(scope: Scope, files: string, name: string): Promise<OpenIdIssuer> {
    const issuer = new OpenIdIssuer();
    await issuer.useKeys('k1');
    issuer.url = await httpsService(scope, files, name, ({ url = '', headers }, response) => {
      const other = issuer.others.get(url);
      if (other !== undefined) {
        response.statusCode = other.authorization === (headers.authorization ?? '') ? 200 : 403;
        response.setHeader('Content-Type', 'application/jwt').end(other.body);
      } else if (url === '/keys') {
        issuer.asked.keys++;
        sendJson(response, { keys: issuer.#keys });
      } else {
        issuer.asked.document++;
        sendJson(response, { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
      }
    });
    return issuer;
  }

  /** From now on there are keys of these names alone, and the first of them signs. */
  async useKeys(...ids: readonly string[]): Promise<void> {
    const pairs = await Promise.all(
      ids.map(async (id) => ({ id, ...(await generateKeyPair(ALGORITHM, { extractable: true })) })),
    );
    this.#keys = await Promise.all(
      pairs.map(async ({ id, publicKey }) => ({
        ...(await exportJWK(publicKey)),
        kid: id,
        alg: ALGORITHM,
        use: 'sig',
      })),
    );
    this.#signing = { key: pairs[0]!.privateKey, id: ids[0]! };
  }

  /** A public key, as anybody may read it. */
  get publicJwk(): JWK {
    return this.#keys[0]!;
  }

  /** A token for the client `orch` that is good for an hour, but for the changes. */
  sign(claims: object, changes: SignChanges = {}): Promise<string> {
    const { audience = 'orch', expires = '1h', notBefore, algorithm = ALGORITHM, keyId = this.#signing!.id } = changes;
    const token = new SignJWT({ ...claims })
      .setProtectedHeader({ alg: algorithm, ...(keyId === null ? {} : { kid: keyId }) })
      .setIssuer(changes.issuer ?? this.url)
      .setAudience(audience)
      .setExpirationTime(expires);
    return (notBefore === undefined ? token : token.setNotBefore(notBefore)).sign(changes.key ?? this.#signing!.key);
  }
}
