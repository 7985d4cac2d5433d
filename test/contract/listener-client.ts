// A client for listener tests that shows what is on the wire: it sends exactly the bytes it is given and keeps what came
// back. It knows enough of HTTP/1.1 to split answers.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** How long a condition may take before a test gives up on it. */
const GIVE_UP_MS = 120_000;

const CLOSING_CHUNK = '0\r\n\r\n';

const BUFFER_BYTES = 64 * 1024;

/** Bytes up to which every piece that arrives is looked at when it does. */
const LOOKED_AT_ONCE_MAX = 200_000;

export class RawClient {
  readonly socket: Socket;
  isClosed = false;
  /** Doubled when it is full: joining all that came for every piece that comes would need many times its memory. */
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #length = 0;
  #changed: () => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#keep(bytes);
      // Much is looked at by the clock, so that it is not searched for each piece.
      if (this.#length < LOOKED_AT_ONCE_MAX) this.#changed();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
      this.#changed();
    });
  }

  /** `from`: the address of this machine that it connects from. */
  static open(port: number, isTls: boolean, from = '127.0.0.1'): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, localAddress: from };
      const socket = isTls ? connectTls({ ...options, rejectUnauthorized: false }) : connectTcp(options);
      socket.once('error', reject);
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        socket.off('error', reject);
        resolve(new RawClient(socket));
      });
    });
  }

  /** All that has been received and not been taken. */
  get received(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
      this.received.copy(larger);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Waits until what was received satisfies the condition. */
  async until(condition: (received: Buffer) => boolean): Promise<Buffer> {
    await this.#wait(() => condition(this.received));
    return this.received;
  }

  async untilClosed(): Promise<Buffer> {
    await this.#wait(() => this.isClosed);
    return this.received;
  }

  /** Waits for one whole answer and takes it from what was received. */
  async answer(isHead = false): Promise<Answer> {
    let found = parseAnswer(this.received, isHead);
    await this.#wait(() => {
      if (this.#mayBeWhole()) found = parseAnswer(this.received, isHead);
      return found !== undefined;
    });
    // The answer keeps the buffer it lies in.
    const rest = this.received.subarray(found!.length);
    this.#buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    this.#length = 0;
    this.#keep(rest);
    return found!.answer;
  }

  async #wait(condition: () => boolean): Promise<void> {
    await eventually(
      () => condition() || this.isClosed,
      (wake) => {
        this.#changed = wake;
      },
    );
    if (!condition()) throw new Error(`closed with only ${JSON.stringify(this.received.toString('latin1', 0, 200))}`);
  }

  /** False while a long answer's end has surely not arrived: joining and splitting it costs much. */
  #mayBeWhole(): boolean {
    if (this.#length < LOOKED_AT_ONCE_MAX) return true;
    const { received } = this;
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(received.toString('latin1', 0, 4096))?.[1];
    if (length !== undefined) return received.length >= Number(length);
    return received.toString('latin1', received.length - CLOSING_CHUNK.length) === CLOSING_CHUNK;
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Waits for a condition that is looked at whenever `subscribe`'s callback is called, and now and then. */
export function eventually(condition: () => boolean, subscribe: (wake: () => void) => void = () => {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => finish(new Error('the condition did not come about')), GIVE_UP_MS);
    const looks = setInterval(() => look(), 10);
    const finish = (error?: Error): void => {
      clearTimeout(deadline);
      clearInterval(looks);
      if (error === undefined) resolve();
      else reject(error);
    };
    const look = (): void => {
      try {
        if (condition()) finish();
      } catch (error) {
        finish(error as Error);
      }
    };
    subscribe(look);
    look();
  });
}

function parseAnswer(bytes: Buffer, isHead: boolean): { answer: Answer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  if (status === 100) {
    const next = parseAnswer(bytes.subarray(headEnd + 4), isHead);
    return next === undefined ? undefined : { answer: next.answer, length: next.length + headEnd + 4 };
  }
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = bytes.subarray(headEnd + 4);
  if (isHead || status === 204 || status === 304)
    return { answer: { status, headers, body: Buffer.alloc(0) }, length: headEnd + 4 };
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunks = parseChunks(rest);
    if (!chunks.isWhole) return undefined;
    return { answer: { status, headers, body: chunks.body }, length: headEnd + 4 + chunks.length };
  }
  const length = Number(headers.get('content-length') ?? 0);
  if (rest.length < length) return undefined;
  return { answer: { status, headers, body: rest.subarray(0, length) }, length: headEnd + 4 + length };
}

/** The data of the chunks that have arrived, whether or not the line end behind the last one has. */
export function parseChunks(bytes: Buffer): { body: Buffer; isWhole: boolean; length: number } {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return { body: Buffer.concat(parts), isWhole: false, length: at };
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size >= 0)) throw new Error(`no chunk at ${at}: ${JSON.stringify(bytes.toString('latin1', at, at + 100))}`);
    const start = lineEnd + 2;
    if (size === 0) return { body: Buffer.concat(parts), isWhole: bytes.length >= start + 2, length: start + 2 };
    parts.push(bytes.subarray(start, start + size));
    if (bytes.length < start + size + 2) return { body: Buffer.concat(parts), isWhole: false, length: at };
    at = start + size + 2;
  }
}

/** The streamed body so far. */
export function streamedBody(received: Buffer): string {
  const headEnd = received.indexOf('\r\n\r\n');
  return headEnd < 0 ? '' : parseChunks(received.subarray(headEnd + 4)).body.toString();
}
