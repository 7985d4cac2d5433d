// ValidatingAdmissionWebhook: webhooks may refuse what is written. All that hear of a write are asked at once.
import { EncodedTexts } from '../../../../api/codec/encoded-texts.ts';
import type { CredentialsByService } from '../../../../transport/outgoing/connection-file.ts';
import type { Attributes } from '../../attributes.ts';
import { showOwners } from '../../shown-owners.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { readHookCredentials } from '../webhooks/configuration.ts';
import type { Invocation } from '../webhooks/matching.ts';
import type { Told } from '../webhooks/review.ts';
import { WebhookPhase } from '../webhooks/webhook-phase.ts';

class ValidatingAdmissionWebhook implements AdmissionPlugin {
  readonly #phase: WebhookPhase;

  constructor(context: PluginContext, credentials: CredentialsByService | undefined) {
    this.#phase = new WebhookPhase(context, credentials, 'validatingwebhookconfigurations', 'validating');
  }

  readonly validate = (attributes: Attributes): Promise<void> | undefined => {
    const invocations = this.#phase.invocations(attributes);
    if (invocations.length === 0) return undefined;
    const selected = invocations.filter((invocation) => this.#phase.selects(invocation, attributes));
    return selected.length === 0 ? undefined : this.#ask(attributes, selected);
  };

  /** Rejects with the refusal of the first of them in order, once all have answered. */
  async #ask(attributes: Attributes, invocations: readonly Invocation[]): Promise<void> {
    // Nothing changes the object from here on: what is told is what is stored.
    attributes.texts ??= new EncodedTexts();
    // In another version they are converted with the object.
    if (invocations.some(({ type }) => type !== attributes.type)) showOwners(attributes);
    const versions = this.#phase.versions(attributes, invocations.length, attributes.texts);
    const calls = invocations.map((invocation) => this.#call(invocation, versions.as(invocation.type)));
    if (calls.length > 1) await Promise.allSettled(calls);
    for (const call of calls) await call;
  }

  async #call(invocation: Invocation, told: Told | Promise<Told>): Promise<void> {
    await this.#phase.caller.call(invocation, told instanceof Promise ? await told : told, nothing);
  }
}

/** A webhook that allows the write has said all. */
function nothing(): void {}

export const validatingAdmissionWebhook = configurable({
  name: 'ValidatingAdmissionWebhook',
  wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
  readConfiguration: readHookCredentials,
  create: (context, credentials: CredentialsByService | undefined) =>
    new ValidatingAdmissionWebhook(context, credentials),
});
