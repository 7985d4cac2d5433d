// Calls of services outside that answer one JSON document with another: webhooks, and the documents of token issuers. One
// connection pool a service; every call has a deadline and a bound on the answer's bytes, and follows no redirect. Owns its
// sockets.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { type RequestOptions, Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { checkedLookup } from './checked-lookup.ts';
import type { ServiceConnection } from './connection-file.ts';

const IDLE_SOCKETS_MAX = 16;
const SOCKETS_MAX = 256;
/** Answers larger than this are none that a service gives. */
const ANSWER_BYTES_MAX = 3 * 1024 * 1024;
const TOKEN_FILE_MS = 60_000;

/** Why a call came to nothing. `mayRepeat`: the same call may succeed a little later. */
export class ServiceCallFailed extends Error {
  readonly mayRepeat: boolean;

  constructor(message: string, mayRepeat: boolean) {
    super(message);
    this.mayRepeat = mayRepeat;
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

export interface ServiceClientParts {
  readonly connection: ServiceConnection;
  /** Reads the token file. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly nowMs: () => number;
}

export class ServiceClient {
  readonly #parts: ServiceClientParts;
  readonly #agent: PlainAgent | TlsAgent;
  readonly #isTls: boolean;
  #token: { readonly text: string; readonly readMs: number } | undefined;

  constructor(parts: ServiceClientParts) {
    this.#parts = parts;
    const { url, caPem, insecure, serverName, certPem, keyPem } = parts.connection;
    this.#isTls = url.startsWith('https:');
    const limits = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX, maxSockets: SOCKETS_MAX };
    this.#agent = this.#isTls
      ? new TlsAgent({
          ...limits,
          rejectUnauthorized: !insecure,
          ...(caPem === '' ? {} : { ca: caPem }),
          ...(certPem === '' ? {} : { cert: certPem, key: keyPem }),
          ...(serverName === '' ? {} : { servername: serverName }),
        })
      : new PlainAgent(limits);
  }

  /** POSTs a document to the service's address, at `place` where that is elsewhere. Rejects with ServiceCallFailed. */
  post(body: object, deadlineMs: number, place?: ServicePlace): Promise<unknown> {
    return this.#call('POST', this.#parts.connection.url, JSON.stringify(body), deadlineMs, place);
  }

  /** GETs a document. Rejects with ServiceCallFailed. */
  get(url: string, deadlineMs: number): Promise<unknown> {
    return this.#call('GET', url, undefined, deadlineMs);
  }

  /** GETs what is no JSON, with a bearer token of its own where that is not empty. Rejects with ServiceCallFailed. */
  async getText(url: string, token: string, deadlineMs: number): Promise<string> {
    const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
    const { status, text } = await this.#exchange(url, deadlineMs, undefined, { method: 'GET', headers });
    if (status !== 200) throw failedWith(status);
    return text;
  }

  /** Ends every connection. */
  close(): void {
    this.#agent.destroy();
  }

  /** Keeps no connection any more: what is under way ends by itself. */
  retire(): void {
    this.#agent.maxFreeSockets = 0;
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  async #call(
    method: string,
    url: string,
    body: string | undefined,
    deadlineMs: number,
    place?: ServicePlace,
  ): Promise<unknown> {
    const authorization = await this.#authorization();
    const { status, text } = await this.#exchange(url, deadlineMs, body, {
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
    try {
      return JSON.parse(text);
    } catch {
      throw new ServiceCallFailed('the service answered what is no JSON', false);
    }
  }

  #exchange(
    url: string,
    deadlineMs: number,
    body: string | undefined,
    options: RequestOptions,
  ): Promise<{ readonly status: number; readonly text: string }> {
    return this.#exchangeBy(AbortSignal.timeout(deadlineMs), url, body, options);
  }

  #exchangeBy(
    signal: AbortSignal,
    url: string,
    body: string | undefined,
    options: RequestOptions,
  ): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const request = this.#isTls ? tlsRequest : plainRequest;
      let isAnswered = false;
      const fail = (error: Error): void =>
        reject(new ServiceCallFailed(signal.aborted ? 'the service did not answer in time' : reasonOf(error), true));
      const outgoing = request(url, { ...options, agent: this.#agent, signal }, (answer) => {
        isAnswered = true;
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes <= ANSWER_BYTES_MAX) return;
          reject(new ServiceCallFailed('the service answered more than it may', false));
          outgoing.destroy();
        });
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
        answer.on('error', fail);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        // A kept connection that the service closed before it saw the request: nothing has been asked yet.
        if (!outgoing.reusedSocket || !LOST.has(error.code ?? '') || isAnswered) fail(error);
        else this.#exchangeBy(signal, url, body, options).then(resolve, reject);
      });
      outgoing.end(body);
    });
  }

  async #authorization(): Promise<string> {
    const { credentials } = this.#parts.connection;
    switch (credentials.kind) {
      case 'none':
        return '';
      case 'token':
        return `Bearer ${credentials.token}`;
      case 'basic':
        return `Basic ${Buffer.from(`${credentials.name}:${credentials.password}`).toString('base64')}`;
      case 'tokenFile':
        return `Bearer ${await this.#tokenOf(credentials.path)}`;
    }
  }

  async #tokenOf(path: string): Promise<string> {
    const { nowMs, readFile } = this.#parts;
    if (this.#token === undefined || nowMs() - this.#token.readMs > TOKEN_FILE_MS) {
      try {
        this.#token = {
          text: Buffer.from(await readFile(path))
            .toString('utf8')
            .trim(),
          readMs: nowMs(),
        };
      } catch {
        throw new ServiceCallFailed('the token file cannot be read', true);
      }
    }
    return this.#token.text;
  }
}

/** How a connection that is gone is met. */
const LOST: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

function placed({ host, port, addressProblem }: ServicePlace): RequestOptions {
  return { hostname: host, port, ...(addressProblem === undefined ? {} : { lookup: checkedLookup(addressProblem) }) };
}

function failedWith(status: number): ServiceCallFailed {
  return new ServiceCallFailed(`the service answered ${status}`, status === 429 || status >= 500);
}

/** The system's word for what went wrong; messages of TLS name what the certificate is for. */
function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? 'the service could not be reached' : `the service could not be reached (${code})`;
}
