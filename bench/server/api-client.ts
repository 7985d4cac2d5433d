// The few unhurried requests around a load: setting the stage, reading metrics, clearing up. Nothing measured goes
// through here.
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { mayRepeatOnNew } from '../../transport/outgoing/repeatable.ts';
import { tlsOptionsOf } from '../endpoint-tls.ts';
import type { Endpoint } from '../load-protocol.ts';

const TIMEOUT_MS = 60_000;

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
      tls === undefined ? new PlainAgent({ keepAlive: true }) : new Agent({ keepAlive: true, ...tlsOptionsOf(tls) });
  }

  /** Rejects only when there is no answer. */
  send(method: string, path: string, body?: string): Promise<ApiAnswer> {
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
      sent.on('error', (error) => {
        // A load lasts longer than servers keep a connection that nothing comes on. The last try is on a new one.
        if (mayRepeatOnNew(sent, error)) resolve(this.send(method, path, body));
        else reject(error);
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
