// ImagePolicyWebhook: a service outside is asked about the images of pods, its answers remembered. Without an answer pods are refused,
// unless the settings say otherwise.
import type { JsonObject } from '../../../../api/json-value.ts';
import { asObject, partAt, partsAt, textAt } from '../../../../api/object-fields.ts';
import { metadataOf } from '../../../../api/object-meta.ts';
import { ServiceCallFailed, ServiceClient } from '../../../../transport/outgoing/service-client.ts';
import type { WebhookEnvironment } from '../../../webhook-call.ts';
import { askWebhook, Remembered } from '../../../webhook-call.ts';
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { type ImagePolicySettings, readImagePolicy } from './configuration.ts';

/** Blank: the images are allowed. */
type Refusal = string;

class ImagePolicyWebhook implements AdmissionPlugin {
  readonly #client: ServiceClient;
  readonly #environment: WebhookEnvironment;
  readonly #settings: ImagePolicySettings;
  readonly #remembered: Remembered<Refusal>;
  readonly #apiVersion: string;
  /** What is in the key of an annotation that is meant for the service. */
  readonly #annotationMark: string;

  constructor({ reader: { context }, dialect }: PluginContext, settings: ImagePolicySettings) {
    const { clock, disk, log } = context;
    this.#settings = settings;
    this.#environment = context;
    this.#client = new ServiceClient({
      connection: settings.connection,
      readFile: (path) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: (problem) => log.warn(`what was replaced is not used to ask about images: ${problem}`),
    });
    this.#remembered = new Remembered(clock);
    this.#apiVersion = dialect.spell('imagepolicy.@group/v1alpha1');
    this.#annotationMark = dialect.spell('.image-policy.@group/');
  }

  readonly validate = (attributes: Attributes): void | Promise<void> => {
    const spec = this.#specOf(attributes);
    const key = JSON.stringify(spec);
    const known = this.#remembered.get(key);
    if (known === undefined) return this.#ask(attributes, spec, key);
    refuseWith(attributes, known);
    return undefined;
  };

  async #ask(attributes: Attributes, spec: JsonObject, key: string): Promise<void> {
    const { allowedMs, refusedMs, retryFirstMs, allowsWithoutAnswer } = this.#settings;
    const review = { kind: 'ImageReview', apiVersion: this.#apiVersion, metadata: { creationTimestamp: null }, spec };
    let refusal: Refusal;
    try {
      refusal = this.#refusalOf(asObject(await askWebhook(this.#client, review, this.#environment, retryFirstMs)));
    } catch (error) {
      if (!(error instanceof ServiceCallFailed)) throw error;
      if (allowsWithoutAnswer) return;
      throw forbid(attributes, error.message);
    }
    this.#remembered.set(key, refusal, refusal === '' ? allowedMs : refusedMs);
    refuseWith(attributes, refusal);
  }

  #refusalOf(answer: JsonObject): Refusal {
    if (answer.kind !== 'ImageReview' || answer.apiVersion !== this.#apiVersion)
      throw new ServiceCallFailed('the service about images answered with something else than a review', false);
    const status = partAt(answer, 'status');
    if (status.allowed === true) return '';
    const reason = textAt(status, 'reason');
    return reason === ''
      ? 'one or more images rejected by webhook backend'
      : `image policy webhook backend denied one or more images: ${reason}`;
  }

  #specOf({ object, subresource, asked: { namespace } }: Attributes): JsonObject {
    const spec = partAt(object, 'spec');
    const containers =
      subresource === 'ephemeralcontainers'
        ? partsAt(object, 'ephemeralContainers')
        : [...partsAt(spec, 'containers'), ...partsAt(spec, 'initContainers')];
    const annotations = Object.entries(metadataOf(object).annotations ?? {}).filter(([key]) =>
      key.includes(this.#annotationMark),
    );
    return {
      containers: containers.map((container) => ({ image: textAt(container, 'image') })),
      ...(annotations.length === 0 ? undefined : { annotations: Object.fromEntries(annotations) }),
      namespace,
    };
  }
}

function refuseWith(attributes: Attributes, refusal: Refusal): void {
  if (refusal !== '') throw forbid(attributes, refusal);
}

export const imagePolicyWebhook = configurable<ImagePolicySettings>({
  name: 'ImagePolicyWebhook',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods', 'core/pods/ephemeralcontainers'] }],
  readConfiguration: readImagePolicy,
  create: (context, settings) => {
    if (settings === undefined) return { validate: refuseAll };
    return new ImagePolicyWebhook(context, settings);
  },
});

/** Nobody has said whom to ask. */
function refuseAll(attributes: Attributes): void {
  throw forbid(attributes, 'no service is configured that could be asked about images');
}
