// One connection from its opening to its end: sends what an input says in the pieces it says, gathers what comes back, and
// waits no longer than a server may take.
import { connect as connectTcp, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Input } from '../input.ts';
import { Violation } from '../target.ts';
import { answersIn } from './answers.ts';
import { type Carrier, type Ending, TOKEN } from './wire-requests.ts';

/** A server has this long for its answers, however busy the machine is. */
const PATIENCE_MS = 120_000;
/** A stream that is silent for so long has nothing to say. */
const SILENCE_MS = 150;
const LOOK_MS = 25;

/** Throws Violation when what comes back is not what a server may answer, or does not come. */
export async function converse({ text, body }: Input, port: number, token: string): Promise<void> {
  const bytes = withToken(Buffer.from(body), token);
  const socket = await opened(port, text.carrier as Carrier);
  if (socket === undefined) throw new Violation('the server does not accept connections');
  const connection = new Connection(socket, methodsOf(text.methods ?? ''));
  try {
    await connection.send(bytes, text.pieces ?? '', text.carrier === 'garbage');
    const ending = text.ending as Ending;
    if (ending === 'reset') return;
    if (ending === 'half-close') socket.end();
    if (text.carrier === 'tls') await connection.end(ending === 'half-close', text.isWhole === 'true');
    else await connection.endOfNonsense();
  } finally {
    socket.destroy();
  }
}

function methodsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

function withToken(bytes: Buffer, token: string): Buffer {
  const text = bytes.toString('latin1');
  return text.includes(TOKEN) ? Buffer.from(text.replaceAll(TOKEN, token), 'latin1') : bytes;
}

function opened(port: number, carrier: Carrier): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port };
    const socket = carrier === 'raw' ? connectTcp(options) : connectTls({ ...options, rejectUnauthorized: false });
    socket.once('error', () => resolve(undefined));
    socket.once(carrier === 'raw' ? 'connect' : 'secureConnect', () => resolve(socket));
  });
}

class Connection {
  readonly #socket: Socket;
  readonly #methods: readonly string[];
  readonly #parts: Buffer[] = [];
  #isClosed = false;
  #heardAtMs = performance.now();
  #wake: () => void = () => {};

  constructor(socket: Socket, methods: readonly string[]) {
    this.#socket = socket;
    this.#methods = methods;
    socket.on('data', (part: Buffer) => {
      this.#parts.push(part);
      this.#heardAtMs = performance.now();
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** `pieces`: `bytes`, or where to cut. */
  async send(bytes: Buffer, pieces: string, hasGarbage: boolean): Promise<void> {
    const cuts = pieces === 'bytes' ? Array.from(bytes.keys()) : pieces.split(',').filter(Boolean).map(Number);
    let from = 0;
    for (const cut of [...cuts, bytes.length]) {
      if (this.#isClosed || this.#socket.destroyed) return;
      if (cut <= from) continue;
      this.#socket.write(bytes.subarray(from, cut));
      from = cut;
      await turn();
    }
    if (hasGarbage) underTls(this.#socket)?.write(Buffer.from('17030300ff0102030405', 'hex'));
  }

  /** What is answered to no TLS is no HTTP: nothing is asked but that the server gets over it. */
  async endOfNonsense(): Promise<void> {
    while (!this.#isClosed && performance.now() - this.#heardAtMs < SILENCE_MS) await this.#look();
  }

  #look(): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Resolves when the server has done what it must: answered every whole request, or closed the connection. */
  async end(mustClose: boolean, isWhole: boolean): Promise<void> {
    const giveUpAtMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const received = Buffer.concat(this.#parts);
      const answers = answersIn(received, this.#methods, this.#isClosed);
      if (this.#isClosed) return;
      const last = answers.at(-1);
      const isSilent = performance.now() - this.#heardAtMs > SILENCE_MS;
      // A watch goes on, and what was sent behind it waits for its end.
      if (last?.state === 'open' && isSilent) return;
      const whole = last?.state === 'open' ? answers.length - 1 : answers.length;
      if (!mustClose && whole >= this.#methods.length && (isWhole || isSilent)) return;
      if (performance.now() > giveUpAtMs) {
        const what = mustClose ? 'the connection stays open' : `${whole} of ${this.#methods.length} requests answered`;
        throw new Violation(
          `${what} after ${PATIENCE_MS} ms: ${JSON.stringify(received.toString('latin1').slice(-300))}`,
        );
      }
      await this.#look();
    }
  }
}

/** The socket that carries a TLS connection, to write behind its back. */
function underTls(socket: Socket): Socket | undefined {
  const { _parent: parent } = socket as unknown as { readonly _parent?: Socket | null };
  return parent ?? undefined;
}
