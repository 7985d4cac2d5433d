// MutatingAdmissionWebhook: webhooks may change what is written, one after the other. Where one has changed an object, all plugins
// that change objects are asked once more, and of the webhooks those that want it and have seen the object as it was before.
import type { Features } from '../../../../api/codec/default-rules.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { placedNew } from '../../../../api/metadata/metadata.ts';
import type { Schema } from '../../../../api/schema/schema.ts';
import type { CredentialsByService } from '../../../../transport/outgoing/connection-file.ts';
import type { Attributes } from '../../attributes.ts';
import { showOwners } from '../../shown-owners.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { readHookCredentials } from '../webhooks/configuration.ts';
import type { Invocation } from '../webhooks/matching.ts';
import { isOf, type ToldVersions } from '../webhooks/told-versions.ts';
import { WebhookPhase } from '../webhooks/webhook-phase.ts';
import { Rounds } from './rounds.ts';
import { patchedBy } from './webhook-patch.ts';

class MutatingAdmissionWebhook implements AdmissionPlugin {
  readonly #phase: WebhookPhase;
  readonly #schema: Schema;
  readonly #features: Features;
  readonly #rounds = new WeakMap<Attributes, Rounds>();

  readonly #auditDomain: string;

  constructor(context: PluginContext, credentials: CredentialsByService | undefined) {
    this.#schema = context.schema;
    this.#auditDomain = context.dialect.spell('webhook.admission.@group');
    // The defaults' names of gates are those of the table.
    this.#features = context.options.gate as Features;
    this.#phase = new WebhookPhase(context, credentials, 'mutatingwebhookconfigurations', 'admit');
  }

  readonly mutate = (attributes: Attributes): Promise<void> | undefined => {
    const invocations = this.#phase.invocations(attributes);
    return invocations.length === 0 ? undefined : this.#askEach(attributes, invocations);
  };

  async #askEach(attributes: Attributes, invocations: readonly Invocation[]): Promise<void> {
    const rounds = (attributes.isSecondRound ? this.#rounds.get(attributes) : undefined) ?? new Rounds();
    this.#rounds.set(attributes, rounds);
    if (attributes.isSecondRound) rounds.beginSecond(attributes.object);
    const versions = this.#phase.versions(attributes, invocations.length);
    for (const invocation of invocations) {
      const { hook } = invocation;
      // Who was not asked in the first round is not in the second.
      if (attributes.isSecondRound && !rounds.asksAgain(hook)) continue;
      if (!this.#phase.selects(invocation, attributes)) continue;
      showOwners(attributes);
      if (await this.#ask(attributes, invocation, versions)) {
        rounds.changed();
        attributes.wantsSecondRound = true;
      }
      rounds.asked(hook);
    }
    rounds.ended(attributes.object);
  }

  /** True where the webhook has changed the object. */
  async #ask(attributes: Attributes, invocation: Invocation, versions: ToldVersions): Promise<boolean> {
    let hasChanged = false;
    try {
      const told = await versions.as(invocation.type);
      const changed = await this.#phase.caller.call(invocation, told, (answer) => {
        const patched = patchedBy(invocation.hook, answer, told, this.#schema, this.#features);
        if (patched === undefined) return undefined;
        const done = { patch: patched.operations, patchType: answer.patchType };
        this.#annotate(attributes, invocation, 'patch', done, 'Request');
        return patched.object;
      });
      if (changed === undefined) return false;
      hasChanged = true;
      take(attributes, await versions.back(changed, invocation.type));
      versions.forget();
      return true;
    } finally {
      this.#annotate(attributes, invocation, 'mutation', { mutated: hasChanged }, 'Metadata');
    }
  }

  /** What has become of the object, for the audit event. */
  #annotate(
    attributes: Attributes,
    { hook, index }: Invocation,
    what: 'mutation' | 'patch',
    outcome: object,
    level: 'Metadata' | 'Request',
  ): void {
    const key = `${what}.${this.#auditDomain}/round_${attributes.isSecondRound ? 1 : 0}_index_${index}`;
    const value = { configuration: hook.configuration, webhook: hook.name, ...outcome };
    attributes.annotate(key, JSON.stringify(value), level);
  }
}

/** What a webhook has made of the object, which stays where it is. */
function take(attributes: Attributes, object: JsonObject): void {
  const { type, asked } = attributes;
  const isWhole = isOf(object, type);
  const isNew = isWhole && asked.operation === 'create' && asked.subresource === '' && type.persisted;
  attributes.object = isNew ? placedNew(object, type, asked) : object;
  // What closed gates hide is left out by the steps that follow.
  if (isWhole) attributes.isComplete = false;
}

export const mutatingAdmissionWebhook = configurable({
  name: 'MutatingAdmissionWebhook',
  wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
  isRepeatable: true,
  readConfiguration: readHookCredentials,
  create: (context, credentials: CredentialsByService | undefined) =>
    new MutatingAdmissionWebhook(context, credentials),
});
