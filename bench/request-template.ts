// Turns a request template into the bytes of an HTTP/1.1 request with holes of fixed width, so that a load sends a
// request by writing a few digits into a buffer. Owns the token syntax; does no I/O.
import type { Endpoint, RequestTemplate } from './load-protocol.ts';

const DIGITS = 8;
/** A quoted revision: 20 digits hold any 64-bit number. */
const VERSION_BYTES = 22;
const BLANK = 0x20;
const QUOTE = 0x22;
const ZERO = 0x30;

const TOKEN = /\{(seq|object|version)\}/g;
type Token = 'seq' | 'object' | 'version';

const PLACEHOLDERS: Readonly<Record<Token, string>> = {
  seq: '0'.repeat(DIGITS),
  object: '0'.repeat(DIGITS),
  version: `""${' '.repeat(VERSION_BYTES - 2)}`,
};

/** The text with every token replaced by what has its width. */
export function withPlaceholders(text: string): string {
  return text.replace(TOKEN, (_, token: Token) => PLACEHOLDERS[token]);
}

/** A name part with the digits that `{seq}` or `{object}` get for this number. */
export function digitsOf(number: number): string {
  return String(number).padStart(DIGITS, '0');
}

/** One connection's copy of a request. The bytes are valid until the next change: send at most one at a time. */
export class PreparedRequest {
  readonly bytes: Buffer;
  readonly #seqOffsets: readonly number[];
  readonly #objectOffsets: readonly number[];
  readonly #versionOffsets: readonly number[];

  private constructor(bytes: Buffer, offsets: Readonly<Record<Token, readonly number[]>>) {
    this.bytes = bytes;
    this.#seqOffsets = offsets.seq;
    this.#objectOffsets = offsets.object;
    this.#versionOffsets = offsets.version;
  }

  /** Compiles the template for an endpoint. The texts are ASCII apart from what JSON strings hold. */
  static compile(template: RequestTemplate, endpoint: Endpoint): PreparedRequest {
    const body = template.body ?? '';
    const head = [
      `${template.method} ${template.path} HTTP/1.1`,
      `Host: ${endpoint.host}:${endpoint.port}`,
      'User-Agent: bench',
      `Accept: ${template.accept ?? 'application/json'}`,
    ];
    if (endpoint.authorization !== undefined) head.push(`Authorization: ${endpoint.authorization}`);
    if (template.body !== undefined) {
      head.push(`Content-Type: ${template.contentType ?? 'application/json'}`);
      head.push(`Content-Length: ${Buffer.byteLength(withPlaceholders(body))}`);
    }
    return fill(`${head.join('\r\n')}\r\n\r\n${body}`, (bytes, offsets) => new PreparedRequest(bytes, offsets));
  }

  setSequence(sequence: number): void {
    for (const offset of this.#seqOffsets) writeDigits(this.bytes, offset, sequence);
  }

  setObject(object: number): void {
    for (const offset of this.#objectOffsets) writeDigits(this.bytes, offset, object);
  }

  /** An empty version asks for an unconditional write. JSON allows the blanks behind the string. */
  setVersion(version: string): void {
    for (const offset of this.#versionOffsets) {
      this.bytes.fill(BLANK, offset, offset + VERSION_BYTES);
      this.bytes[offset] = QUOTE;
      this.bytes.write(version, offset + 1, VERSION_BYTES - 2, 'latin1');
      this.bytes[offset + 1 + Math.min(version.length, VERSION_BYTES - 2)] = QUOTE;
    }
  }
}

type Offsets = Record<Token, number[]>;

function fill<T>(text: string, make: (bytes: Buffer, offsets: Offsets) => T): T {
  const offsets: Offsets = { seq: [], object: [], version: [] };
  const parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: string): void => {
    const encoded = Buffer.from(part);
    parts.push(encoded);
    bytes += encoded.length;
  };
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const token = match[1] as Token;
    add(text.slice(at, match.index));
    offsets[token].push(bytes);
    add(PLACEHOLDERS[token]);
    at = match.index + match[0].length;
  }
  add(text.slice(at));
  return make(Buffer.concat(parts, bytes), offsets);
}

function writeDigits(bytes: Buffer, offset: number, number: number): void {
  let rest = number;
  for (let at = offset + DIGITS - 1; at >= offset; at -= 1) {
    bytes[at] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
