// Asks definitions' webhooks to convert objects: in batches, with a bound on how long, and on how much at a time. Owns the clients
// that they are called by. Whoever wants objects waits here; nothing of the hub's or the store's ever does.
import type { CustomForm, CustomType } from '../../../api/custom/definitions/custom-type.ts';
import type { DefinedWebhook, Definition } from '../../../api/custom/definitions/definition.ts';
import { isLarge } from '../../../api/in-parts.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asText } from '../../../api/json/object-fields.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import { unnamedError } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { ServiceCredentials } from '../../../transport/outgoing/connection-file.ts';
import type { EgressWays } from '../../../transport/outgoing/egress.ts';
import { type MakeWebhookClient, ServiceTooLate } from '../../../transport/outgoing/service-client.ts';
import type { OwnService } from '../../outside/own-service.ts';
import { askAsTold } from '../../outside/webhook-call.ts';
import { reasonOf } from '../../outside/webhook-failure.ts';
import type { HookAddress } from '../hooks/hook.ts';
import { addressOf, caPemOf } from '../hooks/hook.ts';
import { placeOf } from '../hooks/hook-address.ts';
import { calledUrl, HookClients } from '../hooks/hook-clients.ts';
import { afterOthers } from '../large-writes.ts';
import type { StoreReader } from '../stored/store-reader.ts';
import { ConversionMetrics } from './conversion-metrics.ts';
import {
  accepted,
  conversionReview,
  convertedObjects,
  kindText,
  reviewVersionOf,
  UnusableConversion,
} from './conversion-review.ts';
import { ReviewTurns } from './review-turns.ts';

const TIMEOUT_MS = 30_000;
/** Of one review, whichever comes first. What is larger than the bytes goes alone. */
const BATCH_OBJECTS_MAX = 500;
const BATCH_BYTES_MAX = 1024 * 1024;

interface ConversionParts {
  readonly registry: Registry;
  /** `--enable-aggregator-routing`. */
  readonly callsEndpoints: boolean;
  readonly shownToServices: ServiceCredentials;
  /** Absent: the server cannot be asked by itself. */
  readonly ownService?: OwnService | undefined;
  /** The ways out; absent: all are straight. */
  readonly egress?: EgressWays | undefined;
  readonly webhookClient: MakeWebhookClient;
}

/** How a definition's webhook is called. */
interface ConversionHook {
  readonly webhook: DefinedWebhook;
  readonly address: HookAddress;
  readonly caPem: string;
  readonly timeoutMs: number;
}

export class WebhookConversion {
  readonly #reader: StoreReader;
  readonly #parts: ConversionParts;
  readonly #group: string;
  readonly #clients: HookClients;
  readonly #metrics: ConversionMetrics;
  /** By the names of definitions. */
  readonly #hooks = new Map<string, ConversionHook>();
  readonly #turns = new ReviewTurns();

  constructor(reader: StoreReader, parts: ConversionParts) {
    this.#reader = reader;
    this.#parts = parts;
    this.#metrics = new ConversionMetrics(reader.context.metrics);
    this.#group = parts.registry.dialect.spell('apiextensions.@group');
    const { shownToServices: standard, egress = {}, ownService, registry, webhookClient } = parts;
    const shown = { byService: undefined, standard, egress, dialect: registry.dialect, ownService };
    this.#clients = new HookClients(shown, reader.context, webhookClient);
  }

  /** Stored objects of any versions of a kind in the version of a custom type, shaped by its schema. They are consumed. */
  async into(custom: CustomType, objects: readonly JsonObject[]): Promise<JsonObject[]> {
    const { result, length, converted } = await this.#asked(custom, objects, (object) => custom.asItLies(object));
    const shaped = (object: JsonObject, index: number): JsonObject =>
      converted.has(index) ? custom.fromOutside(object) : custom.inVersion(object);
    if (!isLarge(length / result.length)) return result.map(shaped);
    for (const [index, object] of result.entries()) {
      await afterOthers(this.#reader);
      result[index] = shaped(object, index);
    }
    return result;
  }

  /** The same as the webhook has answered. Rejects with a StatusError. */
  async ask(custom: CustomType, objects: readonly JsonObject[]): Promise<JsonObject[]> {
    return (await this.#asked(custom, objects, (object) => object)).result;
  }

  /** With the characters of what was asked, and the places of the objects that it was about. `sent`: an object as the webhook is sent it. */
  async #asked(
    custom: CustomType,
    objects: readonly JsonObject[],
    sent: (object: JsonObject) => JsonObject,
  ): Promise<{ result: JsonObject[]; length: number; converted: ReadonlySet<number> }> {
    const result = [...objects];
    let length = 0;
    const due = objects.flatMap((object, index) => (custom.isConvertedOutside(object) ? [index] : []));
    for (let from = 0; from < due.length; ) {
      const texts = batchTexts(objects, due, from, sent);
      const batch = due.slice(from, from + texts.length);
      const asked = batch.map((index) => objects[index]!);
      const answers = await this.#review(custom, asked, texts, objects.length === 1);
      for (const [i, index] of batch.entries()) result[index] = answers[i]!;
      from += texts.length;
      length += lengthOf(texts);
    }
    return { result, length, converted: new Set(due) };
  }

  async #review(
    custom: CustomType,
    objects: readonly JsonObject[],
    texts: readonly string[],
    isOne: boolean,
  ): Promise<readonly JsonObject[]> {
    const { definition, form } = custom;
    const failed = (problem: string): StatusError =>
      new StatusError(unnamedError(`conversion webhook for ${kindText(objects[0]!)} ${problem}`));
    const hook = this.#hookOf(definition);
    const { clock } = this.#reader.context;
    const askedMs = clock.monotonicMs();
    await this.#turns.begin(definition.name);
    const begunMs = clock.monotonicMs();
    let succeeded = false;
    try {
      const answers = await this.#answers(hook, form.apiVersion, texts, begunMs - askedMs);
      if (answers.length !== objects.length) {
        throw new UnusableConversion(`returned ${answers.length} objects, expected ${objects.length}`);
      }
      const converted = answers.map((answer, index) =>
        accepted(objects[index]!, answer, form.apiVersion, isOne ? 'object' : `object at index ${index}`),
      );
      succeeded = true;
      return converted;
    } catch (error) {
      if (error instanceof UnusableConversion) throw failed(error.message);
      const reason = reasonOf(error, calledUrl(hook.address, hook.timeoutMs));
      if (reason === undefined) throw error;
      throw failed(`failed: ${reason}`);
    } finally {
      this.#metrics.reviewed(
        { ...versionsOf(objects[0]!, form), name: definition.name, succeeded },
        clock.monotonicMs() - begunMs,
      );
      this.#turns.end(definition.name);
    }
  }

  async #answers(
    hook: ConversionHook,
    desiredApiVersion: string,
    objectTexts: readonly string[],
    waitedMs: number,
  ): Promise<readonly unknown[]> {
    const version = reviewVersionOf(hook.webhook.reviewVersions);
    if (version === undefined)
      throw new UnusableConversion('failed: it takes no version of reviews that is spoken here (v1, v1beta1)');
    const { context, requestTimeoutMs } = this.#reader;
    const uid = context.random.uuid();
    const place = await placeOf({ ...this.#parts, reader: this.#reader }, hook.address);
    const leftMs = requestTimeoutMs > 0 ? requestTimeoutMs - waitedMs : hook.timeoutMs;
    // Whoever wanted the objects has been told by now that there are none to be had.
    if (leftMs <= 0) throw new ServiceTooLate();
    const deadlineMs = Math.min(hook.timeoutMs, leftMs);
    const question = { uid, desiredApiVersion, objectTexts };
    const isLong = isLarge(lengthOf(objectTexts));
    if (isLong) await afterOthers(this.#reader);
    const client = this.#clients.of(hook);
    const post = (forMs: number): Promise<() => unknown> =>
      client.postUnread(conversionReview(this.#group, version, question), forMs, place);
    const read = await askAsTold(post, deadlineMs, context);
    if (isLong) await afterOthers(this.#reader);
    const answer = read();
    try {
      return convertedObjects(answer, this.#group, version, uid);
    } catch (error) {
      throw error instanceof UnusableConversion ? new UnusableConversion(`failed: ${error.message}`) : error;
    }
  }

  #hookOf({ name, webhook }: Definition): ConversionHook {
    const known = this.#hooks.get(name);
    if (known !== undefined && known.webhook === webhook) return known;
    const { client } = webhook!;
    const hook = {
      webhook: webhook!,
      address: addressOf(client),
      caPem: caPemOf(client),
      timeoutMs: TIMEOUT_MS,
    };
    this.#hooks.set(name, hook);
    this.#forgetGone();
    return hook;
  }

  #forgetGone(): void {
    for (const name of this.#hooks.keys()) {
      const dot = name.indexOf('.');
      const key = `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
      if (this.#parts.registry.storageType(key) === undefined) this.#hooks.delete(name);
    }
    this.#clients.keepOnly([...this.#hooks.values()]);
  }
}

/** The versions between which a review converts; a batch may begin with one of several. */
function versionsOf(first: JsonObject, { apiVersion }: CustomForm): { fromVersion: string; toVersion: string } {
  return {
    fromVersion: splitApiVersion(asText(first.apiVersion)).version,
    toVersion: splitApiVersion(apiVersion).version,
  };
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** The objects of the batch that begins at an index of those that are due, each as JSON. */
function batchTexts(
  objects: readonly JsonObject[],
  due: readonly number[],
  from: number,
  sent: (object: JsonObject) => JsonObject,
): readonly string[] {
  const texts: string[] = [];
  let bytes = 0;
  for (let at = from; at < due.length && texts.length < BATCH_OBJECTS_MAX; at++) {
    const text = JSON.stringify(sent(objects[due[at]!]!));
    bytes += text.length;
    if (texts.length > 0 && bytes > BATCH_BYTES_MAX) break;
    texts.push(text);
  }
  return texts;
}
