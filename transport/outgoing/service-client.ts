// Calls of services outside that answer one JSON document with another: webhooks, and the documents of token issuers. Every
// call has a deadline and a bound on the answer's bytes, and follows redirections to other paths of its service alone; connections are kept
// for the next.

import { BodyError, DEPTH_MAX, isTooDeep, valueOfJson } from '../body.ts';
import { checkedLookup } from './checked-lookup.ts';
import {
  type CallSecrets,
  ConnectionSecrets,
  type ConnectionSecretsParts,
  NoToken,
  type OnCall,
} from './connection-secrets.ts';
import { type CallError, callWords } from './dial-words.ts';
import { withoutCredentials } from './echoed-secrets.ts';
import { BadAnswer } from './http1/answer-head.ts';
import { type Answer, AnswerTooLarge } from './http1/answer-parser.ts';
import { type CalledAddress, calledAddress, requestBytes } from './http1/called-address.ts';
import { ConnectionPool, type Outcome, TooLate } from './http1/connection-pool.ts';
import { ConnectionOpener, type Place } from './http1/open-connection.ts';
import { isTlsFailure } from './tls-failures.ts';

/** Answers larger than this are none that most services give. */
const ANSWER_BYTES_MAX = 3 * 1024 * 1024;
/** No connection was made, so that nothing was asked for. */
const UNSENT = /^(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;

/**
 * Why a call came to nothing. `mayRepeat`: the same call may succeed a little later. `isOpen`: the service may have done all the
 * same what it was asked for.
 */
export class ServiceCallFailed extends Error {
  readonly mayRepeat: boolean;
  readonly isOpen: boolean;

  constructor(message: string, mayRepeat: boolean, isOpen = false) {
    super(message);
    this.mayRepeat = mayRepeat;
    this.isOpen = isOpen;
  }
}

/** Where a service is connected to, when that is not where its address says. */
export interface ServicePlace {
  /** An address, or a name. */
  readonly host: string;
  readonly port: number;
  /** Asked about each address that a name stands for: why it is not connected to, or undefined. */
  readonly addressProblem?: (address: string) => string | undefined;
}

/** A call. */
interface Question {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly json?: string;
  readonly deadlineMs: number;
  readonly place?: ServicePlace | undefined;
  /** It only asks, and may be sent twice, whatever its method. */
  readonly doesNothing?: boolean;
  /** In place of what the connection is shown by. */
  readonly authorization?: string;
}

/** A client of a webhook, which keeps no connection any more once it is retired. */
export type WebhookClient = Pick<ServiceClient, 'post' | 'postUnread' | 'retire'>;
export type MakeWebhookClient = (parts: ConnectionSecretsParts) => WebhookClient;

export class ServiceClient {
  /** What is called. */
  readonly url: string;
  readonly #secrets: ConnectionSecrets<ConnectionPool>;
  readonly #serverName: string;
  readonly #userAgent: string;
  readonly #nowMs: () => number;
  readonly #onCall: OnCall | undefined;
  readonly #answerBytesMax: number;
  /** The address that was called last, read. */
  #called: CalledAddress | undefined;

  constructor(parts: ConnectionSecretsParts, answerBytesMax = ANSWER_BYTES_MAX) {
    this.#answerBytesMax = answerBytesMax;
    this.url = parts.connection.url;
    this.#serverName = parts.connection.serverName;
    this.#userAgent = parts.userAgent ?? '';
    this.#nowMs = parts.nowMs;
    this.#onCall = parts.onCall;
    this.#secrets = new ConnectionSecrets(
      parts,
      (connection, pems) => new ConnectionPool(new ConnectionOpener(connection, pems, parts)),
    );
  }

  /**
   * POSTs a document, which is given as JSON, to the service's address, at `place` where that is elsewhere. Rejects with
   * ServiceCallFailed.
   *
   * @param doesNothing it only asks: sent again where its kept connection ends without an answer.
   * @param url the service's address as it is asked this once.
   */
  post(
    json: string,
    deadlineMs: number,
    place?: ServicePlace,
    doesNothing = false,
    url: string = this.url,
  ): Promise<unknown> {
    return this.#answer({ method: 'POST', url, json, deadlineMs, place, doesNothing }, DOCUMENT);
  }

  /**
   * The same, of a document that only asks and whose answer may be large: what that says is read when it is asked for, which may throw
   * as the call rejects. Sent again where its kept connection ends without an answer: services on Node end one on which a large
   * question comes before they have heard that their large answer is written (HPE_PAUSED).
   */
  postUnread(json: string, deadlineMs: number, place?: ServicePlace): Promise<() => unknown> {
    return this.#answer({ method: 'POST', url: this.url, json, deadlineMs, place, doesNothing: true }, UNREAD);
  }

  /** POSTs a document to a path below the service's address. Rejects with ServiceCallFailed. */
  postBelow(path: string, json: string, deadlineMs: number): Promise<unknown> {
    return this.#answer({ method: 'POST', url: `${this.url}/${path}`, json, deadlineMs }, DOCUMENT);
  }

  /** POSTs a document to a service that takes it without a word. Rejects with ServiceCallFailed. */
  async deliver(json: string, deadlineMs: number): Promise<void> {
    await this.#answer({ method: 'POST', url: this.url, json, deadlineMs }, TEXT);
  }

  /** GETs a document. Rejects with ServiceCallFailed. */
  get(url: string, deadlineMs: number): Promise<unknown> {
    return this.#answer({ method: 'GET', url, deadlineMs }, DOCUMENT);
  }

  /** GETs what is no JSON, with a bearer token of its own where that is not empty. Rejects with ServiceCallFailed. */
  async getText(url: string, token: string, deadlineMs: number): Promise<string> {
    const authorization = token === '' ? '' : `Bearer ${token}`;
    const answer = await this.#answer({ method: 'GET', url, deadlineMs, authorization }, ANSWER);
    if (answer.status !== 200) throw refusedBy(answer);
    return answer.text;
  }

  /** Ends every connection. */
  close(): void {
    this.#secrets.close();
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    this.#secrets.retire();
  }

  /** No async function: it would hold the document for as long as the service takes. */
  #answer<T>(question: Question, outcome: Outcome<T>): Promise<T> {
    const secrets = this.#secrets.current();
    // A call waits for nothing but its answer, as a rule.
    if (!(secrets instanceof Promise)) return this.#exchange(secrets, question, outcome);
    return secrets.then((read) => this.#exchange(read, question, outcome), throwTokenless);
  }

  #exchange<T>(secrets: CallSecrets<ConnectionPool>, question: Question, outcome: Outcome<T>): Promise<T> {
    const { method, url, json, deadlineMs, place, doesNothing } = question;
    const { authorization = secrets.authorization } = question;
    const address = this.#addressOf(url);
    const request = address && requestBytes(address, method, authorization, json);
    // Says nothing of what was to be sent.
    if (address === undefined || request === undefined)
      return Promise.reject(
        new ServiceCallFailed('the address or the credentials of the service cannot be used', false),
      );
    // Who is sent much may answer as much, and in a form that takes more.
    const answerBytesMax = Math.max(this.#answerBytesMax, 2 * (json?.length ?? 0));
    const asked = { method, url, request, answerBytesMax, ...(doesNothing === true && { doesNothing }) };
    const silent = authorization === '' ? outcome : unechoed(outcome, authorization);
    return secrets.connections.exchange(this.#placeOf(address, place), asked, deadlineMs, this.#told(method, silent));
  }

  /** The outcome, of which whoever counts the calls is told first. */
  #told<T>(method: string, outcome: Outcome<T>): Outcome<T> {
    const onCall = this.#onCall;
    if (onCall === undefined) return outcome;
    const nowMs = this.#nowMs;
    const begunMs = nowMs();
    return {
      use: (answer) => {
        onCall(method, answer.status, nowMs() - begunMs);
        return outcome.use(answer);
      },
      failure: (error) => {
        onCall(method, undefined, nowMs() - begunMs);
        return outcome.failure(error);
      },
    };
  }

  #addressOf(url: string): CalledAddress | undefined {
    if (this.#called?.url !== url) {
      const called = calledAddress(url, this.#userAgent);
      // One client speaks either TLS or not.
      if (called?.isTls !== this.url.startsWith('https:')) return undefined;
      this.#called = called;
    }
    return this.#called;
  }

  #placeOf({ hostname, place }: CalledAddress, given: ServicePlace | undefined): Place {
    const serverName = this.#serverName;
    if (given === undefined) return serverName === '' ? place : { ...place, serverName };
    const { host, port, addressProblem } = given;
    const lookup = addressProblem === undefined ? undefined : { lookup: checkedLookup(addressProblem) };
    return { host, port, serverName: serverName || hostname, ...lookup };
  }
}

/** The outcome where credentials were shown, which a refusal may repeat. */
function unechoed<T>(outcome: Outcome<T>, authorization: string): Outcome<T> {
  const { failure } = outcome;
  return {
    use: (answer) =>
      outcome.use(isGood(answer) ? answer : { ...answer, text: withoutCredentials(answer.text, authorization) }),
    failure,
  };
}

function isGood({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** The text of a good answer. */
function textOf(answer: Answer): string {
  if (!isGood(answer)) throw refusedBy(answer);
  return answer.text;
}

function documentOf(answer: Answer): unknown {
  return read(textOf(answer));
}

function unreadOf(answer: Answer): () => unknown {
  const text = textOf(answer);
  return () => read(text);
}

function read(text: string): unknown {
  // Most are shorter than anything that deep.
  if (text.length > DEPTH_MAX && isTooDeep(Buffer.from(text))) {
    throw new ServiceCallFailed(`the service answered JSON that nests deeper than ${DEPTH_MAX} levels`, false);
  }
  try {
    return valueOfJson(text);
  } catch (error) {
    const why = error instanceof BodyError ? `cannot be read: ${error.message}` : 'is no JSON';
    throw new ServiceCallFailed(`the service answered what ${why}`, false);
  }
}

function throwTokenless(error: unknown): never {
  throw error instanceof NoToken ? new ServiceCallFailed(error.message, true) : error;
}

function refusedBy({ status, text, retryAfterMs, isText }: Answer): ServiceRefused {
  return new ServiceRefused(status, text, retryAfterMs, isText);
}

/** What passes, as 1.21 has it, where the service does not say when to come again. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 504]);

/** The service answered with a code that is none of success. */
export class ServiceRefused extends ServiceCallFailed {
  readonly status: number;
  readonly text: string;
  /** When the service is to be asked again, where it says so; undefined otherwise, and where it makes no sense. */
  readonly retryAfterMs: number | undefined;
  /** What it says is text by its type, or has none. */
  readonly isText: boolean;

  constructor(status: number, text: string, retryAfterMs?: number | undefined, isText = true) {
    const comesAgain = retryAfterMs !== undefined && (status === 429 || status >= 500);
    super(`the service answered ${status}`, comesAgain || PASSING.has(status));
    this.status = status;
    this.text = text;
    this.retryAfterMs = comesAgain ? retryAfterMs : undefined;
    this.isText = isText;
  }
}

/** When a service whose call failed so says that it is to be asked again, in milliseconds from its answer; undefined where it does not. */
export function namedWaitMs(error: unknown): number | undefined {
  return error instanceof ServiceRefused ? error.retryAfterMs : undefined;
}

/** The service did not answer in time. */
export class ServiceTooLate extends ServiceCallFailed {
  constructor() {
    super('the service did not answer in time', true, true);
  }
}

/** By the system's word for what went wrong; those of TLS say what is the matter with the certificate. */
function failureOf(error: CallError): ServiceCallFailed {
  if (error instanceof TooLate) return new ServiceTooLate();
  if (error instanceof AnswerTooLarge)
    return new ServiceCallFailed('the service answered more than it may', false, true);
  if (error instanceof BadAnswer)
    return new ServiceCallFailed(`the service did not answer in HTTP/1.1: ${error.message}`, true, true);
  const { code } = error;
  if (code === undefined) return new ServiceCallFailed('the service could not be reached', true, true);
  const mayRepeat = !isTlsFailure(code);
  return new ServiceCallFailed(
    callWords(error) ?? `the service could not be reached (${code})`,
    mayRepeat,
    mayRepeat && !UNSENT.test(code),
  );
}

/** One promise a call: what is made of the answer is made before that is kept. */
const DOCUMENT: Outcome<unknown> = { use: documentOf, failure: failureOf };
const UNREAD: Outcome<() => unknown> = { use: unreadOf, failure: failureOf };
const TEXT: Outcome<string> = { use: textOf, failure: failureOf };
const ANSWER: Outcome<Answer> = { use: (answer) => answer, failure: failureOf };
