// What a running server tells its admin: pages that are asked for with the kubeconfig of its data folder. Bounded in size and time.
import { Agent, get } from 'node:https';
import { OrchError } from '../../runtime/errors.ts';
import { onUnaskedSwitch } from '../../transport/outgoing/unasked-switch.ts';
import { takeFlag } from '../command-line/taken-flag.ts';
import { type AdminConnection, adminConnection } from './admin-connection.ts';

const PAGE_BYTES_MAX = 64 * 1024 * 1024;
const PAGE_MS = 60_000;

export interface AdminPage {
  readonly status: number;
  readonly body: Buffer;
}

export class AdminPages {
  readonly #connection: AdminConnection;
  readonly #agent: Agent;

  /** Throws OrchError BadConfiguration when no server was ever started on the folder. */
  constructor(directory: string) {
    this.#connection = adminConnection(directory);
    this.#agent = new Agent({ ...this.#connection.tls, keepAlive: true });
  }

  /** Rejects with OrchError ActorDown where the server does not answer. */
  page(path: string): Promise<AdminPage> {
    const { url, token } = this.#connection;
    const failed = (error: Error) =>
      new OrchError('ActorDown', `the server at ${url} does not answer: ${error.message}`);
    return new Promise((resolve, reject) => {
      const request = get(new URL(path, url), {
        agent: this.#agent,
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(PAGE_MS),
      });
      request.on('error', (error) => reject(failed(error)));
      onUnaskedSwitch(request, () => reject(failed(new Error('it went over to another protocol'))));
      request.on('response', (response) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > PAGE_BYTES_MAX) response.destroy(new Error(`${path} is longer than ${PAGE_BYTES_MAX} bytes`));
          pieces.push(piece);
        });
        response.on('error', (error) => reject(failed(error)));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }));
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The folder that `--data-dir` names anywhere in the arguments, and the others. Throws UsageError with the text `usage`. */
export function dataDirOf(argv: readonly string[], usage: string): { directory: string; rest: readonly string[] } {
  const { value: directory = STANDARD_DIRECTORY, rest } = takeFlag(argv, '--data-dir', usage);
  return { directory, rest };
}

const STANDARD_DIRECTORY = '.orch';
