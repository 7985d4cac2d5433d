// Calls of an API server, this one or any other, as a component of the cluster makes them: whole answers with a deadline, and
// answers that come part by part for as long as they last (watches). Knows no resources. Connections are kept for the next
// call; a file of credentials that is replaced counts from then on (connection-secrets.ts).
import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { type RequestOptions, request as tlsRequest } from 'node:https';
import { GatheredBytes } from '../gathered-bytes.ts';
import { AgentConnections } from './agent-connections.ts';
import { ConnectionSecrets, type ConnectionSecretsParts, type OnCall } from './connection-secrets.ts';
import { wasCutShort } from './repeatable.ts';
import { onUnaskedSwitch } from './unasked-switch.ts';

/** A list of 500 of the largest objects there can be is no longer. */
const ANSWER_BYTES_MAX = 1024 * 1024 * 1024;
/** An event holds an object, and the server takes none of more than 3 MB. */
const PART_BYTES_MAX = 16 * 1024 * 1024;
const TOO_LONG = 'a part of the answer is longer than any can be';
/** Before each frame. */
const LENGTH_BYTES = 4;
const NEWLINE = 0x0a;
const NO_BYTES = Buffer.alloc(0);
/** What may stand around a line's value beside the line end; servers begin a stream with one, so that its headers go out. */
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0d]);

export interface ApiCall {
  readonly method: string;
  /** With its query, from the slash on. */
  readonly path: string;
  readonly body?: Uint8Array;
  readonly contentType?: string;
  /** Absent: JSON. */
  readonly accept?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Where the server says how long to wait before the same is asked again. */
  readonly retryAfterMs?: number;
}

async function readLines(chunks: AsyncIterable<Buffer>, onLine: (line: Buffer) => void): Promise<void> {
  const rest = new GatheredBytes();
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      rest.add(chunk.subarray(from, end));
      onLine(withoutBlanks(rest.all));
      rest.keep(NO_BYTES);
      from = end + 1;
    }
    rest.add(chunk.subarray(from));
    if (rest.length > PART_BYTES_MAX) throw new ApiUnanswered(TOO_LONG, false);
  }
}

/** A line from its first byte that is no blank on; a view. */
function withoutBlanks(line: Buffer): Buffer {
  let from = 0;
  while (BLANKS.has(line[from])) from++;
  return line.subarray(from);
}

async function readFrames(chunks: AsyncIterable<Buffer>, onFrame: (frame: Buffer) => void): Promise<void> {
  const gathered = new GatheredBytes();
  let wanted = LENGTH_BYTES;
  for await (const chunk of chunks) {
    gathered.add(chunk);
    if (gathered.length < wanted) continue;
    let whole = gathered.all;
    for (wanted = lengthOf(whole); whole.length >= wanted; wanted = lengthOf(whole)) {
      onFrame(whole.subarray(LENGTH_BYTES, wanted));
      whole = whole.subarray(wanted);
    }
    gathered.keep(whole);
  }
}

/** Bytes of the first frame with its length; of the length alone, as long as that is not whole. */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = LENGTH_BYTES + bytes.readUInt32BE(0);
  if (length > PART_BYTES_MAX) throw new ApiUnanswered(TOO_LONG, false);
  return length;
}

/** There was no whole answer. `isOpen`: the call may have been carried out all the same. */
export class ApiUnanswered extends Error {
  readonly isOpen: boolean;

  constructor(message: string, isOpen: boolean) {
    super(message);
    this.name = 'ApiUnanswered';
    this.isOpen = isOpen;
  }
}

export class ApiClient {
  readonly #url: string;
  readonly #secrets: ConnectionSecrets<AgentConnections>;
  readonly #userAgent: string;
  readonly #nowMs: () => number;
  readonly #onCall: OnCall | undefined;

  constructor(parts: ConnectionSecretsParts, userAgent: string) {
    this.#url = parts.connection.url;
    this.#secrets = new ConnectionSecrets(parts, (connection, pems) => new AgentConnections(connection, pems));
    this.#userAgent = userAgent;
    this.#nowMs = parts.nowMs;
    this.#onCall = parts.onCall;
  }

  /** The answer, whatever its status. Rejects with ApiUnanswered. */
  async call(call: ApiCall, deadlineMs: number): Promise<ApiAnswer> {
    const begunMs = this.#nowMs();
    let status: number | undefined;
    try {
      const answer = await this.#send(call, AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs))));
      status = answer.statusCode ?? 0;
      const retryAfterMs = waitSaid(answer);
      return { status, body: await wholeOf(answer), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    } finally {
      this.#onCall?.(call.method, status, this.#nowMs() - begunMs);
    }
  }

  /**
   * Gives `onPart` each part of the answer as it comes, and resolves with the status when it has ended: a line from its
   * first byte that is no blank on, or in Protobuf what
   * stands behind its length in four bytes. A status other than 200 has no parts. Rejects with ApiUnanswered, also when `signal` is aborted.
   */
  async parts(call: ApiCall, onPart: (part: Buffer) => void, signal: AbortSignal): Promise<number> {
    const answer = await this.#begun(call, signal);
    const status = answer.statusCode ?? 0;
    if (status !== 200) {
      await wholeOf(answer);
      return status;
    }
    const isFramed = (answer.headers['content-type'] ?? '').includes('protobuf');
    try {
      await (isFramed ? readFrames(answer, onPart) : readLines(answer, onPart));
    } catch (error) {
      answer.destroy();
      throw unanswered(error as NodeJS.ErrnoException, false);
    }
    return status;
  }

  /** Ends every connection. */
  close(): void {
    this.#secrets.close();
  }

  /** An answer that will take its time. */
  async #begun(call: ApiCall, signal: AbortSignal): Promise<IncomingMessage> {
    let code: number | undefined;
    try {
      const answer = await this.#send(call, signal);
      code = answer.statusCode ?? 0;
      return answer;
    } finally {
      this.#onCall?.(call.method, code, undefined);
    }
  }

  async #send({ method, path, body, contentType, accept }: ApiCall, signal: AbortSignal): Promise<IncomingMessage> {
    const { connections, authorization } = await this.#secrets.current();
    const headers = {
      Accept: accept ?? 'application/json',
      'User-Agent': this.#userAgent,
      ...(authorization === '' ? {} : { Authorization: authorization }),
      ...(body === undefined
        ? {}
        : { 'Content-Type': contentType ?? 'application/json', 'Content-Length': body.byteLength }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = this.#begin(`${this.#url}${path}`, { method, agent: connections.agent, headers, signal });
      let isSent = false;
      outgoing.on('finish', () => {
        isSent = true;
      });
      outgoing.on('response', resolve);
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        reject(unanswered(error, isSent && !wasCutShort(error) && method !== 'GET'));
      });
      onUnaskedSwitch(outgoing, () =>
        reject(new ApiUnanswered('the server went over to another protocol', method !== 'GET')),
      );
      outgoing.end(body);
    });
  }

  #begin(url: string, options: RequestOptions): ClientRequest {
    try {
      return url.startsWith('https:') ? tlsRequest(url, options) : plainRequest(url, options);
    } catch {
      // Its message may quote what was to be sent.
      throw new ApiUnanswered('the address or the credentials of the server cannot be used', false);
    }
  }
}

/** Seconds alone: a date, as others may say, is for nobody who goes by a clock of their own. */
function waitSaid({ headers: { 'retry-after': seconds = '' } }: IncomingMessage): number | undefined {
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

async function wholeOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new ApiUnanswered('the answer is longer than any can be', true);
      chunks.push(chunk);
    }
  } catch (error) {
    answer.destroy();
    throw unanswered(error as NodeJS.ErrnoException, true);
  }
  return Buffer.concat(chunks);
}

/** Says no more than the system's word for what went wrong. */
function unanswered(error: NodeJS.ErrnoException, isOpen: boolean): ApiUnanswered {
  if (error instanceof ApiUnanswered) return error;
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new ApiUnanswered('the server did not answer in time', isOpen);
  }
  return new ApiUnanswered(`the server could not be reached (${error.code ?? 'no answer'})`, isOpen);
}
