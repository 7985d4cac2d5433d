// The few unhurried requests around a load: setting the stage, reading metrics, clearing up. Nothing measured goes
// through here.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import type { Endpoint } from './load-protocol.ts';

const TIMEOUT_MS = 60_000;
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

/** A load lasts longer than servers keep a connection that nothing comes on: it may close while a request is on its way. */
class ClosedBefore extends Error {}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
}

export class ApiClient {
  readonly #endpoint: Endpoint;
  readonly #agent: Agent | PlainAgent;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    const { tls } = endpoint;
    this.#agent =
      tls === undefined
        ? new PlainAgent({ keepAlive: true })
        : new Agent({ keepAlive: true, ...tls, rejectUnauthorized: tls.ca !== undefined });
  }

  /** Rejects only when there is no answer. What may be done twice is, where a kept connection is closed as it is sent. */
  async send(method: string, path: string, body?: string): Promise<ApiAnswer> {
    try {
      return await this.#sendOnce(method, path, body);
    } catch (error) {
      if (!(error instanceof ClosedBefore) || !REPEATABLE.has(method)) throw error;
      // On the next one that is kept, and on one of its own at last.
      return await this.send(method, path, body);
    }
  }

  #sendOnce(method: string, path: string, body: string | undefined): Promise<ApiAnswer> {
    const { host, port, tls, authorization } = this.#endpoint;
    const headers = {
      accept: 'application/json, text/plain',
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...(authorization === undefined ? {} : { authorization }),
    };
    const options = { host, port, method, path, headers, agent: this.#agent, timeout: TIMEOUT_MS };
    return new Promise((resolve, reject) => {
      const sent = (tls === undefined ? plainRequest : request)(options, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(parts);
          resolve({ status: response.statusCode ?? 0, text: bytes.toString(), bytes });
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer within 60 s`)));
      sent.on('error', (error: NodeJS.ErrnoException) => {
        reject(sent.reusedSocket && error.code === 'ECONNRESET' ? new ClosedBefore(error.message) : error);
      });
      sent.end(body);
    });
  }

  /** Throws unless the status is 2xx or one of `alsoFine`. */
  async expect(method: string, path: string, body?: string, alsoFine: readonly number[] = []): Promise<string> {
    const { status, text } = await this.send(method, path, body);
    if ((status < 200 || status > 299) && !alsoFine.includes(status)) {
      throw new Error(`${method} ${path} was answered ${status} ${text.slice(0, 500)}`);
    }
    return text;
  }

  /** The body of a GET as it is. Throws unless the status is 200. */
  async bytes(path: string): Promise<Buffer> {
    const { status, text, bytes } = await this.send('GET', path);
    if (status !== 200) throw new Error(`GET ${path} was answered ${status} ${text.slice(0, 500)}`);
    return bytes;
  }

  close(): void {
    this.#agent.destroy();
  }
}
