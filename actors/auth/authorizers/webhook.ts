// The mode Webhook: a service outside is asked by access reviews (SPEC.md "Authorization" 3), its answers remembered. One that
// cannot be asked, or whose answer says nothing, is an error beside no opinion, which is never remembered.
import { createHash } from 'node:crypto';
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { Shape } from '../../../api/shape.ts';
import type { ServiceClient } from '../../../transport/outgoing/service-client.ts';
import { askWebhook, Remembered, reviewIn, reviewOf, type WebhookEnvironment } from '../../outside/webhook-call.ts';
import { reasonOf } from '../../outside/webhook-failure.ts';
import { type Authorizer, NO_RULES, type Rules, type Verdict } from './authorizer.ts';

export interface WebhookAuthorizerSettings {
  readonly client: Pick<ServiceClient, 'post' | 'url'>;
  readonly environment: WebhookEnvironment;
  /** `authorization.<group>/v1` or `/v1beta1`. */
  readonly apiVersion: string;
  readonly allowedMs: number;
  readonly refusedMs: number;
}

const STATUS: Shape = { allowed: 'bool', denied: 'bool', reason: 'string', evaluationError: 'string' };

const UNLISTED: Rules = {
  ...NO_RULES,
  isIncomplete: true,
  errors: ['webhook authorizer does not support user rule resolution'],
};

export class WebhookAuthorizer implements Authorizer {
  readonly #settings: WebhookAuthorizerSettings;
  readonly #remembered: Remembered<Verdict>;

  constructor(settings: WebhookAuthorizerSettings) {
    this.#settings = settings;
    this.#remembered = new Remembered(settings.environment.clock);
  }

  decide(user: User, access: AccessAttributes): Verdict | Promise<Verdict> {
    const spec = this.#specOf(user, access);
    const key = keyOf(JSON.stringify(spec), access);
    return this.#remembered.get(key) ?? this.#ask(spec, key);
  }

  rules(): Rules {
    return UNLISTED;
  }

  async #ask(spec: object, key: string): Promise<Verdict> {
    const { client, environment, apiVersion, allowedMs, refusedMs } = this.#settings;
    try {
      const review = reviewOf('SubjectAccessReview', apiVersion, spec, { allowed: false });
      const answer = reviewIn(await askWebhook(client, review, environment), review, STATUS);
      if (answer === undefined) return failed('the service answered another kind or version of a review');
      const verdict = verdictOf(asObject(answer.status));
      if (verdict.errors === undefined)
        this.#remembered.set(key, verdict, verdict.decision === 'allow' ? allowedMs : refusedMs);
      return verdict;
    } catch (error) {
      // What nobody foresaw may quote what was sent.
      return failed(reasonOf(error, client.url) ?? 'the service could not be asked');
    }
  }

  #specOf({ name, uid, groups, extra }: User, access: AccessAttributes): object {
    const { isResource, verb, group, version, resource, subresource, namespace, path } = access;
    const attributes = { verb, group, version, resource, subresource, namespace, name: access.name };
    return {
      ...(isResource ? { resourceAttributes: withoutEmpty(attributes) } : { nonResourceAttributes: { path, verb } }),
      ...withoutEmpty({ user: name, uid }),
      ...(groups.length === 0 ? {} : { [this.#settings.apiVersion.endsWith('/v1') ? 'groups' : 'group']: groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    };
  }
}

/** Of what a client chooses; a question with more is not remembered. */
const ASKED_LENGTH_MAX = 10_000;
/** Longer ones are kept as their digests. */
const KEY_LENGTH_MAX = 1000;

/** What a question is found by. One that is long since its user is in many groups is remembered like any other. */
function keyOf(spec: string, access: AccessAttributes): string {
  if (spec.length <= KEY_LENGTH_MAX) return spec;
  const { verb, group, version, resource, subresource, namespace, name, path } = access;
  const asked = [verb, group, version, resource, subresource, namespace, name, path];
  if (asked.reduce((total, text) => total + text.length, 0) >= ASKED_LENGTH_MAX) return spec;
  return createHash('sha256').update(spec).digest('base64');
}

function withoutEmpty(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}

function failed(problem: string): Verdict {
  return { decision: 'noOpinion', reason: '', errors: [problem] };
}

/** One that says both is believed in the refusal. */
const BOTH = { errors: ['webhook subject access review returned both allow and deny response'] };

function verdictOf(status: Readonly<Record<string, unknown>>): Verdict {
  const reason = asText(status.reason);
  if (status.denied === true) return { decision: 'deny', reason, ...(status.allowed === true ? BOTH : undefined) };
  return { decision: status.allowed === true ? 'allow' : 'noOpinion', reason };
}
