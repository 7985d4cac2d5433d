// Watch events read from a stream of bytes without parsing them: the type, the object's number, its version and its tier are
// looked up in each line. Lines may arrive in pieces of any size.
import type { Tier } from './selections.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

export interface EventSink {
  /** `object` is -1 where the line is about none of the soak's objects. */
  onEvent(type: EventType, object: number, version: number, line: Buffer): void;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const TYPE = Buffer.from('"type":"');
const NAME = Buffer.from('"name":"o-');
const VERSION = Buffer.from('"resourceVersion":"');
const TIER = Buffer.from('"tier":"');
const TYPES: Readonly<Record<string, EventType>> = {
  A: 'ADDED',
  M: 'MODIFIED',
  D: 'DELETED',
  B: 'BOOKMARK',
  E: 'ERROR',
};
/** A line that is shorter is the empty one that pushes out a chunk. */
const LINE_BYTES_MIN = 8;

export class EventReader {
  readonly #sink: EventSink;
  #partial: Buffer | undefined;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /** A piece of the stream: `buffer[start, end)`, used during the call only. */
  feed(buffer: Buffer, start: number, end: number): void {
    let at = start;
    for (;;) {
      const newline = buffer.indexOf(NEWLINE, at);
      if (newline < 0 || newline >= end) break;
      const rest = buffer.subarray(at, newline);
      const line = this.#partial === undefined ? rest : Buffer.concat([this.#partial, rest]);
      this.#partial = undefined;
      at = newline + 1;
      if (line.length >= LINE_BYTES_MIN) this.#read(line);
    }
    if (at === end) return;
    const rest = buffer.subarray(at, end);
    this.#partial = this.#partial === undefined ? Buffer.from(rest) : Buffer.concat([this.#partial, rest]);
  }

  #read(line: Buffer): void {
    const type = TYPES[String.fromCharCode(line[line.indexOf(TYPE) + TYPE.length] ?? 0)];
    if (type === undefined) throw new Error(`this is no watch event: ${line.toString('utf8').slice(0, 200)}`);
    this.#sink.onEvent(type, numberAfter(line, NAME), numberAfter(line, VERSION), line);
  }
}

/** The tier in an object's labels. */
export function tierOf(line: Buffer): Tier {
  return line[line.indexOf(TIER) + TIER.length] === 0x61 ? 'a' : 'b';
}

/** The number in quotes that a text is followed by; -1 when the text is not there. */
function numberAfter(line: Buffer, text: Buffer): number {
  const found = line.indexOf(text);
  if (found < 0) return -1;
  let number = 0;
  for (let at = found + text.length; line[at] !== QUOTE && at < line.length; at++)
    number = number * 10 + line[at]! - 0x30;
  return number;
}
