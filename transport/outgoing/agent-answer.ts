// What a backend answers, its body still to come: read as text, streamed to our client with backpressure both ways, or given up; and what
// is told where it answered with nothing that a client of ours can be told.
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { headerTextOf } from '../../values/header-text.ts';
import type { HeaderList, HttpResponse } from '../http.ts';
import { type AgentTarget, AgentUnreachable } from './agent-address.ts';
import { dialWords } from './dial-words.ts';
import { isUnbelieved } from './tls-failures.ts';

const SWITCHING_PROTOCOLS = 101;
const FINAL_STATUS_MIN = 200;

/** A backend's answer, its body not read yet. */
export interface AgentAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  /** The first bytes of the body, as text; the rest is discarded. */
  text(bytesMax: number): Promise<string>;
  /**
   * Streams the body into an answer that has been begun, through `stages` if there are any; `cutOff` ends that where the backend ends
   * before the body is whole, or a stage cannot read it. Resolves when it is over, one way or the other.
   */
  relay(response: HttpResponse, cutOff: () => void, stages?: readonly Duplex[]): Promise<void>;
  /** Closes the connection: nobody wants the body. */
  discard(): void;
}

class Answer implements AgentAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 502;
    const { rawHeaders } = message;
    this.headers = Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
      rawHeaders[2 * i]!,
      headerTextOf(rawHeaders[2 * i + 1]!),
    ]);
    message.on('error', () => {});
  }

  async text(bytesMax: number): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.#message as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      // Leaving the loop destroys the message.
      if (bytes >= bytesMax) break;
    }
    return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
  }

  discard(): void {
    this.#message.destroy();
  }

  relay(response: HttpResponse, cutOff: () => void, stages: readonly Duplex[] = []): Promise<void> {
    const message = this.#message;
    // What goes wrong in a stage closes the last one.
    const body: Readable = stages.length === 0 ? message : (pipeline([message, ...stages], () => {}) as Duplex);
    return new Promise((resolve) => {
      let isWhole = false;
      response.onDrained(() => body.resume());
      body.on('data', (chunk: Buffer) => {
        if (!response.write(chunk)) body.pause();
      });
      body.once('end', () => {
        isWhole = message.complete;
        if (isWhole) response.end();
      });
      body.once('close', () => {
        // Cut off by the backend: our client must not take it for the end.
        if (!isWhole) cutOff();
        resolve();
      });
    });
  }
}

/**
 * An answer, or the failure of a backend that leaves HTTP and does not say what for, whose head Node takes for an answer, or that answers
 * with what is no status, which no client of ours can be told.
 */
export function settle(
  target: AgentTarget,
  message: IncomingMessage,
  asked: string,
  resolve: (answer: AgentAnswer) => void,
  reject: (error: AgentUnreachable) => void,
): void {
  const { statusCode = 0 } = message;
  if (statusCode >= FINAL_STATUS_MIN) {
    resolve(new Answer(message));
    return;
  }
  message.on('error', () => {}).destroy();
  const isSwitched = statusCode === SWITCHING_PROTOCOLS;
  reject(unreachable(target, isSwitched ? switched(message.headers.upgrade, asked) : malformed(statusCode)));
}

function malformed(statusCode: number): Error {
  return new Error(`malformed HTTP status code "${String(statusCode).padStart(3, '0')}"`);
}

/** A backend that leaves HTTP for another protocol than it was asked to. */
export function switched(protocol = '', asked: string): Error {
  const [to, from] = [protocol, asked].map((name) => JSON.stringify(name));
  return new Error(`backend tried to switch protocol ${to} when ${from} was requested`);
}

export function unreachable({ host, port }: AgentTarget, error: Error, isReused = false): AgentUnreachable {
  const { code } = error as NodeJS.ErrnoException;
  const isStale = isReused && (code === 'ECONNRESET' || code === 'EPIPE');
  return new AgentUnreachable(dialWords(host, port, error), isStale, isUnbelieved(code ?? ''));
}
