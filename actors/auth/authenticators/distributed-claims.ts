// Claims that a token does not hold but says where to get (OpenID Connect Core 1.0, 5.6.2): the endpoint it names answers with
// a token of some issuer, which holds the claim. Claims that are sent along inside a token of another (aggregated ones) are
// left alone, as in Kubernetes.
import type { JWTPayload } from 'jose';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { Kept } from '../../../values/kept.ts';
import { IssuerKeys, type IssuerKeysParts, issuerOf } from './issuer-keys.ts';

const FETCH_DEADLINE_MS = 10_000;
/** Issuers whose keys are kept. */
const ISSUERS_MAX = 100;

export type DistributedClaimsParts = Omit<IssuerKeysParts, 'issuerUrl' | 'client'> & {
  readonly client: Pick<ServiceClient, 'get' | 'getText'>;
};

export class DistributedClaims {
  readonly #parts: DistributedClaimsParts;
  readonly #issuers = new Kept<string, IssuerKeys>(ISSUERS_MAX);

  constructor(parts: DistributedClaimsParts) {
    this.#parts = parts;
  }

  /** The value of a claim; undefined where the token neither has it nor says where it is. Rejects where it cannot be had. */
  async value(claims: JWTPayload, name: string): Promise<unknown> {
    const source = asText(asObject(claims._claim_names)[name]);
    if (source === '') return undefined;
    const sources = asObject(claims._claim_sources);
    if (!Object.hasOwn(sources, source))
      throw new Error('the token names a source of claims that it does not describe');
    const { endpoint, access_token: accessToken } = asObject(sources[source]);
    if (asText(endpoint) === '') return undefined;
    if (!asText(endpoint).startsWith('https://')) throw new Error('the source of a claim is no https address');
    const token = await this.#parts.client.getText(asText(endpoint), asText(accessToken), FETCH_DEADLINE_MS);
    const answered = await this.#keysOf(issuerOf(token)).claimsOf(token.trim());
    if (!Object.hasOwn(answered, name)) throw new Error('the source of a claim answered without it');
    return answered[name];
  }

  #keysOf(issuerUrl: string): IssuerKeys {
    if (!issuerUrl.startsWith('https://')) throw new Error('the source of a claim answered no token of an issuer');
    let keys = this.#issuers.get(issuerUrl);
    if (keys === undefined) {
      keys = new IssuerKeys({ ...this.#parts, issuerUrl });
      this.#issuers.set(issuerUrl, keys);
    }
    return keys;
  }
}
