// Indents JSON text for people without parsing it: the order of names and the spelling of numbers stay as they are.

const CODE = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  space: 0x20,
  newline: 0x0a,
} as const;

const INDENT_WIDTH = 2;

/** Deeper levels are not indented further: what a client nests a thousandfold must not grow a thousandfold. */
const INDENTED_LEVELS_MAX = 32;

/** Growth of the output when it is full. */
const GROWTH_FACTOR = 2;

/** The text with two blanks an indent and no line end behind it. `json` is valid JSON in UTF-8. */
export function prettyJson(json: Uint8Array): Uint8Array {
  const output = new Output(json.length * GROWTH_FACTOR);
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const code = json[i]!;
    if (code === CODE.quote) {
      const end = stringEnd(json, i);
      output.bytes(json, i, end);
      i = end - 1;
    } else if (code === CODE.openBrace || code === CODE.openBracket) {
      output.byte(code);
      const next = nextCode(json, i + 1);
      if (json[next] === CODE.closeBrace || json[next] === CODE.closeBracket) {
        output.byte(json[next]!);
        i = next;
      } else output.newLine(++depth);
    } else if (code === CODE.closeBrace || code === CODE.closeBracket) {
      output.newLine(--depth);
      output.byte(code);
    } else if (code === CODE.comma) {
      output.byte(code);
      output.newLine(depth);
    } else if (code === CODE.colon) {
      output.byte(code);
      output.byte(CODE.space);
    } else if (code > CODE.space) output.byte(code);
  }
  return output.finish();
}

/** The place behind the closing quote of the string that opens at `start`. */
function stringEnd(json: Uint8Array, start: number): number {
  let i = start + 1;
  while (i < json.length && json[i] !== CODE.quote) i += json[i] === CODE.backslash ? 2 : 1;
  return Math.min(i + 1, json.length);
}

function nextCode(json: Uint8Array, from: number): number {
  let i = from;
  while (i < json.length && json[i]! <= CODE.space) i++;
  return i;
}

class Output {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(Math.max(capacity, 64));
  }

  byte(code: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = code;
  }

  bytes(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.#bytes.set(source.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  newLine(depth: number): void {
    const width = Math.min(Math.max(depth, 0), INDENTED_LEVELS_MAX) * INDENT_WIDTH;
    this.#reserve(width + 1);
    this.#bytes[this.#length++] = CODE.newline;
    this.#bytes.fill(CODE.space, this.#length, this.#length + width);
    this.#length += width;
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * GROWTH_FACTOR));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}
