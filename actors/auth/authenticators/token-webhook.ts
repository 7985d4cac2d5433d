// Tokens that a service outside knows (SPEC.md "Webhook token authentication"): asked by token reviews, its answers
// remembered.
import { asList, asObject, asText, asTexts } from '../../../api/json/object-fields.ts';
import { MapShape, type Shape } from '../../../api/shape.ts';
import { withoutSecret } from '../../../transport/outgoing/echoed-secrets.ts';
import type { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { askWebhook, Remembered, reviewIn, reviewOf, type WebhookEnvironment } from '../../outside/webhook-call.ts';
import { reasonOf } from '../../outside/webhook-failure.ts';
import { type TokenAuthenticator, type TokenOwner, withAuthenticatedGroup } from './authenticator.ts';

const STATUS: Shape = {
  authenticated: 'bool',
  error: 'string',
  audiences: ['string'],
  user: { username: 'string', uid: 'string', groups: ['string'], extra: new MapShape(['string']) },
};

export interface TokenWebhookSettings {
  readonly client: Pick<ServiceClient, 'post' | 'url'>;
  readonly environment: WebhookEnvironment;
  /** `authentication.<group>/v1` or `/v1beta1`. */
  readonly apiVersion: string;
  readonly cacheMs: number;
  /** The server's own. */
  readonly audiences: readonly string[];
}

export class TokenWebhook implements TokenAuthenticator {
  readonly #settings: TokenWebhookSettings;
  readonly #remembered: Remembered<TokenOwner>;
  /** Questions that are under way, by the same keys. */
  readonly #asking = new Map<string, Promise<TokenOwner>>();

  constructor(settings: TokenWebhookSettings) {
    this.#settings = settings;
    this.#remembered = new Remembered(settings.environment.clock);
  }

  owner(token: string, digest: string, audiences: readonly string[]): TokenOwner | Promise<TokenOwner> {
    const asked = audiences.length === 0 ? this.#settings.audiences : audiences;
    const key = JSON.stringify([digest, ...asked]);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(token, asked, key).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return asking;
  }

  async #ask(token: string, audiences: readonly string[], key: string): Promise<TokenOwner> {
    const { client, environment, apiVersion, cacheMs } = this.#settings;
    const spec = { token, ...(audiences.length === 0 ? {} : { audiences }) };
    try {
      const review = reviewOf('TokenReview', apiVersion, spec, { user: {} });
      const answer = reviewIn(await askWebhook(client, review, environment), review, STATUS);
      const owner = ownerOf(answer, audiences, this.#settings.audiences, token);
      // What went wrong is no judgement: as soon as it is over, who holds the token is let in again.
      if (owner.user !== null || owner.error === '') this.#remembered.set(key, owner, cacheMs);
      return owner;
    } catch (error) {
      // What nobody foresaw may quote the token.
      const reason = reasonOf(error, client.url) ?? 'the service that knows tokens could not be asked';
      return { user: null, error: withoutSecret(reason, token) };
    }
  }
}

function ownerOf(
  review: Readonly<Record<string, unknown>> | undefined,
  asked: readonly string[],
  ours: readonly string[],
  token: string,
): TokenOwner {
  if (review === undefined) return { user: null, error: 'the service that knows tokens answered something else' };
  const status = asObject(review.status);
  if (status.authenticated !== true) return { user: null, error: withoutSecret(asText(status.error), token) };
  const user = asObject(status.user);
  const named = asTexts(status.audiences);
  // A service that says nothing of audiences knows none but this server.
  const audiences = (named.length === 0 ? ours : named).filter((audience) => asked.includes(audience));
  if (asked.length > 0 && audiences.length === 0) return { user: null, error: '' };
  const extra = Object.fromEntries(
    Object.entries(asObject(user.extra)).map(([field, values]) => [field, asList(values).map(asText)]),
  );
  return {
    user: withAuthenticatedGroup({
      name: asText(user.username),
      uid: asText(user.uid),
      groups: asTexts(user.groups),
      extra,
    }),
    audiences,
  };
}
