// Calls of services outside that answer one JSON document with another: webhooks, and the documents of token issuers. Every
// call has a deadline and a bound on the answer's bytes, and follows no redirect; connections are kept for the next.
import { type ClientRequest, request as plainRequest } from 'node:http';
import { type RequestOptions, request as tlsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { checkedLookup } from './checked-lookup.ts';
import { type CallSecrets, ConnectionSecrets, type ConnectionSecretsParts, NoToken } from './connection-secrets.ts';
import { dropIdle } from './idle-connections.ts';

/** Answers larger than this are none that most services give. */
const ANSWER_BYTES_MAX = 3 * 1024 * 1024;
/** What does not get better by asking again: a certificate that is not believed, or a peer that does not speak TLS. */
const TLS_FAILURE =
  /^(?:CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_|HOSTNAME_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$)/;
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

/** A client of a webhook, which keeps no connection any more once it is retired. */
export type WebhookClient = Pick<ServiceClient, 'post' | 'retire'>;
export type MakeWebhookClient = (parts: ConnectionSecretsParts) => WebhookClient;

export class ServiceClient {
  readonly #url: string;
  readonly #isTls: boolean;
  readonly #secrets: ConnectionSecrets;
  readonly #answerBytesMax: number;
  /** The address that was called last, read. */
  #place: { readonly url: string; readonly parts: RequestOptions } | undefined;

  constructor(parts: ConnectionSecretsParts, answerBytesMax = ANSWER_BYTES_MAX) {
    this.#answerBytesMax = answerBytesMax;
    this.#url = parts.connection.url;
    this.#isTls = this.#url.startsWith('https:');
    this.#secrets = new ConnectionSecrets(parts);
  }

  /** POSTs a document to the service's address, at `place` where that is elsewhere. Rejects with ServiceCallFailed. */
  post(body: object, deadlineMs: number, place?: ServicePlace): Promise<unknown> {
    return this.#call('POST', this.#url, JSON.stringify(body), deadlineMs, place);
  }

  /** POSTs a document to a path below the service's address. Rejects with ServiceCallFailed. */
  postBelow(path: string, body: object, deadlineMs: number): Promise<unknown> {
    return this.#call('POST', `${this.#url}/${path}`, JSON.stringify(body), deadlineMs);
  }

  /** POSTs a document to a service that takes it without a word. Rejects with ServiceCallFailed. */
  async deliver(body: object, deadlineMs: number): Promise<void> {
    await this.#answerTo('POST', this.#url, JSON.stringify(body), deadlineMs);
  }

  /** GETs a document. Rejects with ServiceCallFailed. */
  get(url: string, deadlineMs: number): Promise<unknown> {
    return this.#call('GET', url, undefined, deadlineMs);
  }

  /** GETs what is no JSON, with a bearer token of its own where that is not empty. Rejects with ServiceCallFailed. */
  async getText(url: string, token: string, deadlineMs: number): Promise<string> {
    const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
    const { agent } = await this.#current();
    const { status, text } = await this.#exchange(url, deadlineMs, undefined, { agent, method: 'GET', headers });
    if (status !== 200) throw failedWith(status);
    return text;
  }

  /** Ends every connection. */
  close(): void {
    this.#secrets.close();
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    this.#secrets.retire();
  }

  async #call(
    method: string,
    url: string,
    body: string | undefined,
    deadlineMs: number,
    place?: ServicePlace,
  ): Promise<unknown> {
    const text = await this.#answerTo(method, url, body, deadlineMs, place);
    try {
      return JSON.parse(text);
    } catch {
      throw new ServiceCallFailed('the service answered what is no JSON', false);
    }
  }

  /** The text of a good answer. */
  async #answerTo(
    method: string,
    url: string,
    body: string | undefined,
    deadlineMs: number,
    place?: ServicePlace,
  ): Promise<string> {
    const { agent, authorization } = await this.#current();
    const { status, text } = await this.#exchange(url, deadlineMs, body, {
      agent,
      method,
      ...(place === undefined ? {} : placed(place)),
      headers: {
        ...(place === undefined ? {} : { Host: new URL(url).host }),
        Accept: 'application/json',
        ...(authorization === '' ? {} : { Authorization: authorization }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      },
    });
    if (status < 200 || status > 299) throw failedWith(status);
    return text;
  }

  async #current(): Promise<CallSecrets> {
    try {
      return await this.#secrets.current();
    } catch (error) {
      if (error instanceof NoToken) throw new ServiceCallFailed(error.message, true);
      throw error;
    }
  }

  /** One try, and another where a kept connection turns out to have been closed meanwhile. */
  async #exchange(
    url: string,
    deadlineMs: number,
    body: string | undefined,
    options: CallOptions,
  ): Promise<ServiceAnswer> {
    const endsMs = performance.now() + deadlineMs;
    try {
      return await this.#attempt(url, body, options, deadlineMs);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      dropIdle(options.agent);
      return this.#attempt(url, body, options, endsMs - performance.now());
    }
  }

  #attempt(url: string, body: string | undefined, options: CallOptions, deadlineMs: number): Promise<ServiceAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#begin(url, options);
      let isTooLate = false;
      const deadline = setTimeout(
        () => {
          isTooLate = true;
          outgoing.destroy(new Error('too late'));
        },
        Math.max(1, Math.ceil(deadlineMs)),
      );
      outgoing.on('close', () => clearTimeout(deadline));
      const fail = (error: Error): void => reject(failureOf(error, isTooLate));
      outgoing.on('response', (answer) => {
        outgoing.off('error', failUnanswered);
        outgoing.on('error', fail);
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes <= this.#answerBytesMax) return;
          reject(new ServiceCallFailed('the service answered more than it may', false, true));
          outgoing.destroy();
        });
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
        answer.on('error', fail);
      });
      const failUnanswered = (error: NodeJS.ErrnoException): void => {
        const isStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (isStale && !isTooLate) reject(new StaleConnection('the service closed the connection', true));
        else fail(error);
      };
      outgoing.on('error', failUnanswered);
      outgoing.end(body);
    });
  }

  #placeOf(url: string): RequestOptions {
    if (this.#place?.url !== url) this.#place = { url, parts: urlToHttpOptions(new URL(url)) };
    return this.#place.parts;
  }

  #begin(url: string, options: RequestOptions): ClientRequest {
    try {
      const place = { ...this.#placeOf(url), ...options };
      return this.#isTls ? tlsRequest(place) : plainRequest(place);
    } catch {
      // Its message may quote what was to be sent.
      throw new ServiceCallFailed('the address or the credentials of the service cannot be used', false);
    }
  }
}

/** Of this call. */
type CallOptions = RequestOptions & Pick<CallSecrets, 'agent'>;

interface ServiceAnswer {
  readonly status: number;
  readonly text: string;
}

/** A kept connection that was closed before the request reached it. */
class StaleConnection extends ServiceCallFailed {}

function placed({ host, port, addressProblem }: ServicePlace): Pick<RequestOptions, 'hostname' | 'port' | 'lookup'> {
  return { hostname: host, port, ...(addressProblem === undefined ? {} : { lookup: checkedLookup(addressProblem) }) };
}

function failedWith(status: number): ServiceCallFailed {
  return new ServiceCallFailed(`the service answered ${status}`, status === 429 || status >= 500);
}

/** By the system's word for what went wrong; those of TLS say what is the matter with the certificate. */
function failureOf(error: NodeJS.ErrnoException, isTooLate: boolean): ServiceCallFailed {
  if (isTooLate) return new ServiceCallFailed('the service did not answer in time', true, true);
  const { code } = error;
  if (code === undefined) return new ServiceCallFailed('the service could not be reached', true, true);
  const mayRepeat = !TLS_FAILURE.test(code);
  return new ServiceCallFailed(
    `the service could not be reached (${code})`,
    mayRepeat,
    mayRepeat && !UNSENT.test(code),
  );
}
