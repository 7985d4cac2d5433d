// A question to a service outside that judges requests: tried again after failures that may pass, its answer
// remembered for a while. What is asked, and what an answer means, is the caller's.
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { misfit, type Shape } from '../../api/shape.ts';
import type { Clock, Random, Timers } from '../../runtime/environment.ts';
import type { ServiceConnection } from '../../transport/outgoing/connection-file.ts';
import { namedWaitMs, ServiceCallFailed, type ServiceClient } from '../../transport/outgoing/service-client.ts';
import { Kept } from '../../values/kept.ts';

const TRIES_MAX = 5;
const RETRY_FIRST_MS = 500;
const RETRY_FACTOR = 1.5;
/** Of the time between tries, so that those who failed together do not come again together. */
const RETRY_JITTER = 0.2;
const REMEMBERED_MAX = 10_000;
/** What is asked about with more than this, by a client's choice, is asked about each time. */
const KEY_LENGTH_MAX = 10_000;
/** For all tries together of a question; for one try of what is only told. */
export const CALL_DEADLINE_MS = 30_000;

export interface WebhookEnvironment {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Pick<Random, 'next'>;
}

/** The connection to a service that is told with each call how long the server waits for its answer. */
export function tellingTime(connection: ServiceConnection): ServiceConnection {
  const url = new URL(connection.url);
  url.searchParams.set('timeout', `${CALL_DEADLINE_MS / 1000}s`);
  return { ...connection, url: url.href };
}

/**
 * POSTs `body` until there is an answer, or no more time. Where the service says when to come again, it is asked then, however
 * often. Rejects with ServiceCallFailed.
 */
export async function askWebhook(
  client: Pick<ServiceClient, 'post'>,
  body: object,
  { clock, timers, random }: WebhookEnvironment,
  retryFirstMs = RETRY_FIRST_MS,
): Promise<unknown> {
  const json = JSON.stringify(body);
  const giveUpMs = clock.monotonicMs() + CALL_DEADLINE_MS;
  let delayMs = retryFirstMs;
  for (let tries = 1; ; ) {
    try {
      // It only asks: where its kept connection ends without an answer it is sent again at once.
      return await client.post(json, giveUpMs - clock.monotonicMs(), undefined, true);
    } catch (error) {
      if (!(error instanceof ServiceCallFailed) || !error.mayRepeat) throw error;
      const namedMs = namedWaitMs(error);
      if (namedMs === undefined && tries++ >= TRIES_MAX) throw error;
      const waitMs = Math.max(namedMs ?? 0, delayMs * (1 + random.next() * RETRY_JITTER));
      if (namedMs === undefined) delayMs *= RETRY_FACTOR;
      if (clock.monotonicMs() + waitMs >= giveUpMs) throw error;
      await new Promise<void>((resolve) => timers.after(waitMs, resolve));
    }
  }
}

/** As 1.21: who says more often that it is to be asked later has refused. */
const AGAIN_MAX = 10;

/**
 * Asks a service, and again when it says that it is to be asked later, as long as there is time: it is overloaded or about to be
 * replaced, and has judged nothing.
 *
 * @param ask is given what is left of the time. It is called anew each time, so that nobody holds the question meanwhile.
 */
export async function askAsTold<T>(
  ask: (leftMs: number) => Promise<T>,
  forMs: number,
  { clock, timers }: Pick<WebhookEnvironment, 'clock' | 'timers'>,
): Promise<T> {
  const endMs = clock.monotonicMs() + forMs;
  for (let again = 0; ; again++) {
    try {
      return await ask(endMs - clock.monotonicMs());
    } catch (error) {
      const waitMs = namedWaitMs(error);
      if (waitMs === undefined || again === AGAIN_MAX || clock.monotonicMs() + waitMs >= endMs) throw error;
      await new Promise<void>((resolve) => timers.after(waitMs, resolve));
    }
  }
}

/** A review as it is sent. */
export interface SentReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: object;
  readonly metadata: object;
  readonly status: object;
}

/** With its metadata and the place of the answer, `status`: services may rely on a review that has all its members. */
export function reviewOf(kind: string, apiVersion: string, spec: object, status: object): SentReview {
  return { kind, apiVersion, spec, metadata: { creationTimestamp: null }, status };
}

/**
 * The review that was answered with; undefined where it is none. What does not say what it is, is what was sent, and nothing is one
 * that says nothing, as the original has it. Throws ServiceCallFailed where a member of its status is of another type than it must
 * be: half of what such a service says is no judgement, least of all one to remember.
 */
export function reviewIn(
  answer: unknown,
  sent: Pick<SentReview, 'kind' | 'apiVersion'>,
  statusShape: Shape,
): JsonObject | undefined {
  if (answer === null) return {};
  if (!isJsonObject(answer)) return undefined;
  const isSo = (['kind', 'apiVersion'] as const).every((member) =>
    [undefined, '', sent[member]].includes(answer[member] as string),
  );
  if (!isSo) return undefined;
  const problem = misfit(answer.status, statusShape, 'status');
  if (problem === undefined) return answer;
  throw new ServiceCallFailed(`the service answered a review that cannot be read: ${problem}`, false);
}

/** Answers by key, each for its own time; the oldest go first when there are too many. */
export class Remembered<T> {
  readonly #clock: Clock;
  readonly #answers = new Kept<string, { readonly answer: T; readonly untilMs: number }>(REMEMBERED_MAX);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    const known = this.#answers.get(key);
    if (known === undefined) return undefined;
    if (known.untilMs > this.#clock.monotonicMs()) return known.answer;
    this.#answers.delete(key);
    return undefined;
  }

  set(key: string, answer: T, forMs: number): void {
    if (forMs > 0 && key.length <= KEY_LENGTH_MAX)
      this.#answers.set(key, { answer, untilMs: this.#clock.monotonicMs() + forMs });
  }
}
