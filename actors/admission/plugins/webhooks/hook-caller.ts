// One call of one webhook: what is asked, how long it is waited for, what its silence, its nonsense and its refusal come to. Both
// kinds of webhooks are called here.

import { qualifiedNameProblems } from '../../../../api/metadata/formats.ts';
import type { Schema } from '../../../../api/schema/schema.ts';
import { badRequest, internalError, timeout } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { ActorContext } from '../../../../runtime/actor.ts';
import { ServiceCallFailed, type ServicePlace } from '../../../../transport/outgoing/service-client.ts';
import { askAsTold } from '../../../outside/webhook-call.ts';
import { reasonOf } from '../../../outside/webhook-failure.ts';
import type { Attributes } from '../../attributes.ts';
import type { Hook, HookAddress, ReviewVersion } from '../../hooks/hook.ts';
import { type HookPlaces, placeOf } from '../../hooks/hook-address.ts';
import { calledUrl, HookClients, type HookCredentials } from '../../hooks/hook-clients.ts';
import type { PluginContext } from '../plugin.ts';
import { HookMetrics, type HookPhase } from './hook-metrics.ts';
import type { Invocation } from './matching.ts';
import {
  answerOf,
  denialOf,
  type HookAnswer,
  type ReviewForm,
  reviewForm,
  reviewText,
  type Told,
  UnusableAnswer,
} from './review.ts';

/** A webhook that could not be asked, or did not answer as it must: its failure policy says what follows. */
class HookFailed extends Error {}

/** After so many that cannot be kept none is tried. */
const LEFT_OUT_MAX = 1000;

export class HookCaller {
  readonly clients: HookClients;
  readonly #context: ActorContext;
  readonly #schema: Schema;
  readonly #finder: Omit<HookPlaces, 'reader'>;
  readonly #metrics: HookMetrics;
  readonly #phase: HookPhase;
  readonly #forms = new Map<ReviewVersion, ReviewForm>();

  constructor({ reader, registry, schema, options }: PluginContext, phase: HookPhase, credentials: HookCredentials) {
    this.#context = reader.context;
    this.#schema = schema;
    this.#phase = phase;
    const { callsEndpoints, ownService } = options;
    this.#finder = { registry, callsEndpoints, ownService };
    this.#metrics = new HookMetrics(reader.context.metrics, phase);
    this.clients = new HookClients(credentials, reader.context, options.webhookClient);
  }

  /**
   * Asks a webhook, which allows the write; `use` does what it answers, or throws UnusableAnswer. Undefined where it could not be asked and its policy is to go
   * on. Rejects with the StatusError that refuses the write.
   */
  async call<T>({ hook }: Invocation, told: Told, use: (answer: HookAnswer) => T): Promise<T | undefined> {
    const { clock, log } = this.#context;
    const operation = told.attributes.asked.operation.toUpperCase();
    const beganMs = clock.monotonicMs();
    const done = (rejected: boolean): void =>
      this.#metrics.called(hook.name, operation, rejected, clock.monotonicMs() - beganMs);
    try {
      const answer = await this.#ask(hook, told);
      this.#annotate(told.attributes, hook, answer);
      for (const warning of answer.warnings) warn(told.attributes, warning);
      if (!answer.allowed) throw new Denied(denialOf(hook, answer.status));
      const used = usable(hook, () => use(answer));
      done(false);
      return used;
    } catch (error) {
      if (error instanceof HookFailed && hook.failsOpen) {
        log.warn({ webhook: hook.name, reason: error.message }, 'webhook not asked, going on');
        this.#metrics.failedOpen(hook.name);
        done(false);
        // The client has been told so: nothing must come of the write any more, least of all past those who were never asked.
        if (told.attributes.asked.reader.patience.isOver)
          throw new StatusError(timeout('request did not complete within requested timeout'));
        return undefined;
      }
      done(true);
      throw this.#refusalFor(error, hook, operation);
    }
  }

  /** What a webhook says for the audit event, under its own name. */
  #annotate(attributes: Attributes, { name }: Hook, { auditAnnotations }: HookAnswer): void {
    let leftOut = 0;
    let first = '';
    for (const [said, value] of auditAnnotations) {
      const key = `${name}/${said}`;
      if (leftOut < LEFT_OUT_MAX && qualifiedNameProblems(key).length === 0 && attributes.annotate(key, value))
        continue;
      if (leftOut++ === 0) first = key;
    }
    // One line, however many a webhook says.
    if (leftOut > 0)
      this.#context.log.warn({ webhook: name, key: first, count: leftOut }, 'audit annotations of a webhook left out');
  }

  #refusalFor(error: unknown, hook: Hook, operation: string): unknown {
    if (error instanceof HookFailed) {
      this.#context.log.warn({ webhook: hook.name, reason: error.message }, 'webhook not asked, write refused');
      this.#metrics.rejected(hook.name, operation, 'calling_webhook_error', 0);
      return new StatusError(internalError(error.message));
    }
    const isDenied = error instanceof Denied;
    const code = isDenied ? (error.status.code ?? 0) : 0;
    this.#metrics.rejected(hook.name, operation, isDenied ? 'no_error' : 'apiserver_internal_error', code);
    return error;
  }

  async #ask(hook: Hook, told: Told): Promise<HookAnswer> {
    const { attributes } = told;
    const quoted = JSON.stringify(hook.name);
    if (attributes.asked.dryRun && !hook.supportsDryRun)
      throw new StatusError(badRequest(`admission webhook ${quoted} does not support dry run`));
    const failed = (detail: string): HookFailed => new HookFailed(`failed calling webhook ${quoted}: ${detail}`);
    const { reviewVersion } = hook;
    if (reviewVersion === undefined)
      throw failed('none of its admissionReviewVersions is one that this server speaks (v1, v1beta1)');
    const uid = this.#context.random.uuid();
    let deadlineMs = hook.timeoutMs;
    try {
      const form = this.#formOf(reviewVersion);
      deadlineMs = this.#timeLeft(hook, attributes);
      const place = 'url' in hook.address ? undefined : await this.#placeOf(hook.address, attributes);
      const value = await this.#post(hook, told, form, uid, deadlineMs, place);
      return answerOf(value, form, uid, this.#phase === 'admit');
    } catch (error) {
      if (error instanceof UnusableAnswer) throw failed(`received invalid webhook response: ${error.message}`);
      const detail = reasonOf(error, calledUrl(hook.address, deadlineMs));
      if (detail === undefined) throw error;
      throw failed(detail);
    }
  }

  #formOf(version: ReviewVersion): ReviewForm {
    let form = this.#forms.get(version);
    if (form === undefined) {
      form = reviewForm(this.#schema, version);
      this.#forms.set(version, form);
    }
    return form;
  }

  /** The review itself is held by nobody who waits. */
  #post(
    hook: Hook,
    told: Told,
    form: ReviewForm,
    uid: string,
    deadlineMs: number,
    place: ServicePlace | undefined,
  ): Promise<unknown> {
    const client = this.clients.of(hook);
    // A webhook may tell its own servers how long it is waited for: no longer than the request has left.
    const url = deadlineMs < hook.timeoutMs ? calledUrl(hook.address, deadlineMs) : undefined;
    // Servers that end a connection once they have answered, or are stopped, may do so as the next question is on its way.
    const post = (leftMs: number): Promise<unknown> =>
      client.post(reviewText(told, form, uid), leftMs, place, hook.hasNoEffects, url);
    return askAsTold(post, deadlineMs, this.#context);
  }

  #placeOf(address: HookAddress, { asked: { reader } }: Attributes): Promise<ServicePlace | undefined> {
    return placeOf({ ...this.#finder, reader }, address);
  }

  /** What is left of the time of the request: all its webhooks have it together. */
  #timeLeft(hook: Hook, { asked: { reader } }: Attributes): number {
    const { leftMs } = reader.patience;
    if (leftMs <= 0) throw new ServiceCallFailed('the time of the request is up', false);
    return Math.ceil(Math.min(hook.timeoutMs, leftMs));
  }
}

/** An answer that nothing can be done with is none. */
function usable<T>({ name }: Hook, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof UnusableAnswer)) throw error;
    throw new HookFailed(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`);
  }
}

/** The webhook itself has refused. */
class Denied extends StatusError {}

/** What the warnings of a write may be together; each is a header of its answer. */
const WARNINGS_LENGTH_MAX = 4096;
/** Of one, once that is used up. */
const WARNING_LENGTH_MAX = 256;
const WARNINGS_MAX = 100;

/** Tells the client's user, once, and within bounds. */
function warn(attributes: Attributes, text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a header cannot have.
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  const { warnings } = attributes;
  if (clean === '' || warnings.length >= WARNINGS_MAX) return;
  const used = warnings.reduce((total, one) => total + one.length, 0);
  const room = Math.max(WARNINGS_LENGTH_MAX - used, 0);
  const cut = clean.length <= room ? clean : clean.slice(0, WARNING_LENGTH_MAX);
  if (used + cut.length <= WARNINGS_LENGTH_MAX * 2 && !warnings.includes(cut)) attributes.warn(cut);
}
