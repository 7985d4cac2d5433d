// ImagePolicyWebhook: a service outside is asked about the images of pods, its answers remembered. Without an answer pods are refused,
// unless the settings say otherwise.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asTextMap, partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { MapShape, type Shape } from '../../../../api/shape.ts';
import { webhookCalls } from '../../../../transport/outgoing/rest-client-metrics.ts';
import { ServiceCallFailed, ServiceClient } from '../../../../transport/outgoing/service-client.ts';
import type { WebhookEnvironment } from '../../../outside/webhook-call.ts';
import { askWebhook, Remembered, reviewIn, reviewOf, tellingTime } from '../../../outside/webhook-call.ts';
import { reasonOf } from '../../../outside/webhook-failure.ts';
import type { Attributes } from '../../attributes.ts';
import { forbid } from '../forbid.ts';
import { type AdmissionPlugin, configurable, type PluginContext } from '../plugin.ts';
import { type ImagePolicySettings, readImagePolicy } from './configuration.ts';

interface ImageAnswer {
  /** Blank: the images are allowed. */
  readonly refusal: string;
  /** For the audit event. */
  readonly annotations: ReadonlyMap<string, string>;
}

const STATUS: Shape = { allowed: 'bool', reason: 'string', auditAnnotations: new MapShape('string') };

class ImagePolicyWebhook implements AdmissionPlugin {
  readonly #client: ServiceClient;
  readonly #environment: WebhookEnvironment;
  readonly #settings: ImagePolicySettings;
  readonly #remembered: Remembered<ImageAnswer>;
  readonly #apiVersion: string;
  /** What is in the key of an annotation that is meant for the service. */
  readonly #annotationMark: string;
  /** On pods that were taken without an answer. */
  readonly #failedOpenKey: string;
  readonly #auditPrefix: string;

  constructor({ reader: { context }, dialect }: PluginContext, settings: ImagePolicySettings) {
    const { clock, disk, log, metrics } = context;
    this.#settings = settings;
    this.#environment = context;
    this.#client = new ServiceClient({
      connection: tellingTime(settings.connection),
      readFile: (path) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: (problem) => log.warn(`what was replaced is not used to ask about images: ${problem}`),
      ...webhookCalls(metrics, settings.connection.url),
    });
    this.#remembered = new Remembered(clock);
    this.#apiVersion = dialect.spell('imagepolicy.@group/v1alpha1');
    this.#annotationMark = dialect.spell('.image-policy.@group/');
    this.#failedOpenKey = dialect.spell('alpha.image-policy.@group/failed-open');
    this.#auditPrefix = dialect.spell('imagepolicywebhook.image-policy.@group/');
  }

  readonly validate = (attributes: Attributes): void | Promise<void> => {
    const spec = this.#specOf(attributes);
    const key = JSON.stringify(spec);
    const known = this.#remembered.get(key);
    if (known === undefined) return this.#ask(attributes, spec, key);
    this.#follow(attributes, known);
    return undefined;
  };

  async #ask(attributes: Attributes, spec: JsonObject, key: string): Promise<void> {
    const { allowedMs, refusedMs, retryFirstMs, allowsWithoutAnswer } = this.#settings;
    const review = reviewOf('ImageReview', this.#apiVersion, spec, { allowed: false });
    let answer: ImageAnswer;
    try {
      const answered = await askWebhook(this.#client, review, this.#environment, retryFirstMs);
      answer = answerOf(reviewIn(answered, review, STATUS));
    } catch (error) {
      if (!(error instanceof ServiceCallFailed)) throw error;
      if (!allowsWithoutAnswer) throw forbid(attributes, reasonOf(error, this.#client.url) ?? error.message);
      this.#failOpen(attributes);
      return;
    }
    this.#remembered.set(key, answer, answer.refusal === '' ? allowedMs : refusedMs);
    this.#follow(attributes, answer);
  }

  #follow(attributes: Attributes, { refusal, annotations }: ImageAnswer): void {
    for (const [key, value] of annotations) attributes.annotate(`${this.#auditPrefix}${key}`, value);
    if (refusal !== '') throw forbid(attributes, refusal);
  }

  /** The pod, and the audit event, say that nobody was asked. */
  #failOpen(attributes: Attributes): void {
    attributes.annotate(`${this.#auditPrefix}failed-open`, 'true');
    if (attributes.subresource !== '') return;
    const metadata = metadataOf(attributes.object);
    const annotations = { ...metadata.annotations, [this.#failedOpenKey]: 'true' };
    attributes.object = { ...attributes.object, metadata: { ...metadata, annotations } };
    attributes.texts = undefined;
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

function answerOf(review: JsonObject | undefined): ImageAnswer {
  if (review === undefined)
    throw new ServiceCallFailed('the service about images answered with something else than a review', false);
  const status = partAt(review, 'status');
  const annotations = asTextMap(status.auditAnnotations);
  return { refusal: status.allowed === true ? '' : refusalFor(textAt(status, 'reason')), annotations };
}

function refusalFor(reason: string): string {
  return reason === ''
    ? 'one or more images rejected by webhook backend'
    : `image policy webhook backend denied one or more images: ${reason}`;
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
