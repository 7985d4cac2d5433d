// What the bare listener answers with, whichever carries it: bodies of any size, and the events of a turn.
import { fillerText } from '../objects.ts';

const BYTES_MAX = 256 * 1024 * 1024;
const OPENING = '{"type":"MODIFIED","object":';
const CLOSING = '}\n';

const bodies = new Map<number, Buffer>();

/** JSON text of so many bytes; the last one asked for is kept. */
export function bodyOf(bytes: number): Buffer {
  let body = bodies.get(bytes);
  if (body === undefined) {
    const kept = Math.min(Math.max(0, bytes), BYTES_MAX);
    body = Buffer.alloc(kept, fillerText(Math.min(kept, 64 * 1024)) || ' ');
    bodies.clear();
    bodies.set(bytes, body);
  }
  return body;
}

/** An event with the object, filled up to `frameBytes`. */
export function frameOf(object: Buffer, frameBytes: number): Buffer {
  const bytes = Math.max(Math.min(BYTES_MAX, frameBytes), OPENING.length + object.length + CLOSING.length);
  const frame = Buffer.alloc(bytes, ' ');
  frame.write(OPENING, 0, 'latin1');
  object.copy(frame, OPENING.length);
  frame.write(CLOSING, bytes - CLOSING.length, 'latin1');
  return frame;
}

/** Frames of a turn: what arrives together is sent together, as the server does with a commit's events. */
export class Frames {
  readonly #send: (chunk: Buffer) => void;
  #waiting: Buffer[] = [];

  constructor(send: (chunk: Buffer) => void) {
    this.#send = send;
  }

  publish(frame: Buffer): void {
    // Within the request's callback the writer's socket is corked, and only one can be: the others would write piecemeal.
    if (this.#waiting.length === 0) setImmediate(() => this.#sendAll());
    this.#waiting.push(frame);
  }

  #sendAll(): void {
    const chunk = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#send(chunk);
  }
}
