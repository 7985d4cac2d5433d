// Indents JSON text for people without parsing it: the order of names and the spelling of numbers stay as they are. Long
// texts are indented a piece at a time, so that whoever sends them can do other work in between.

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
/** The most that one token takes besides a string's own bytes: itself, a line end and its indent. */
const TOKEN_BYTES_MAX = 2 + INDENTED_LEVELS_MAX * INDENT_WIDTH;
/** Shorter strings are copied by a loop, which a call would cost more than. */
const COPIED_BY_LOOP_MAX = 48;

/**
 * The text with two blanks an indent and no line end behind it. `json` is valid JSON in UTF-8.
 *
 * @param depth levels that the text stands in: its first line is not indented, all others are by that much more.
 */
export function prettyJson(json: Uint8Array, depth = 0): Uint8Array {
  const text = new IndentedJson(json, depth);
  return text.next(Number.POSITIVE_INFINITY);
}

/** A text on its way out. The pieces together are what `prettyJson` makes, and none of them ends in a line end. */
export class IndentedJson {
  readonly #json: Uint8Array;
  #at = 0;
  #depth: number;
  /** A line end and its indent stand before whatever comes next. */
  #lineIsDue = false;
  #output = new Uint8Array(0);
  #length = 0;

  constructor(json: Uint8Array, depth = 0) {
    this.#json = json;
    this.#depth = depth;
  }

  get done(): boolean {
    return this.#at >= this.#json.length;
  }

  /** The next piece: at least `bytesMin`, unless the text ends before, and at most a string more. */
  next(bytesMin: number): Uint8Array {
    this.#output = new Uint8Array(this.#capacity(bytesMin));
    this.#length = 0;
    const json = this.#json;
    while (this.#at < json.length && this.#length < bytesMin) {
      const code = json[this.#at]!;
      if (code === CODE.quote) this.#string();
      else if (code > CODE.space) this.#token(code);
      else this.#at++;
    }
    return this.#output.subarray(0, this.#length);
  }

  /** For what is left, or for a piece: indents double most texts at most. */
  #capacity(bytesMin: number): number {
    const expected = Math.min((this.#json.length - this.#at) * GROWTH_FACTOR, bytesMin);
    return expected + 4 * TOKEN_BYTES_MAX;
  }

  #string(): void {
    const json = this.#json;
    const start = this.#at;
    let end = start + 1;
    while (end < json.length && json[end] !== CODE.quote) end += json[end] === CODE.backslash ? 2 : 1;
    end = Math.min(end + 1, json.length);
    this.#reserve(end - start + TOKEN_BYTES_MAX);
    if (this.#lineIsDue) this.#newLine();
    const output = this.#output;
    let length = this.#length;
    if (end - start > COPIED_BY_LOOP_MAX) {
      output.set(json.subarray(start, end), length);
      length += end - start;
    } else for (let i = start; i < end; i++) output[length++] = json[i]!;
    this.#length = length;
    this.#at = end;
  }

  /** A bracket, comma or colon, or one character of a number or a word. */
  #token(code: number): void {
    this.#reserve(2 * TOKEN_BYTES_MAX);
    this.#at++;
    if (code === CODE.closeBrace || code === CODE.closeBracket) {
      // An empty object or list stays on its line.
      this.#depth--;
      if (this.#lineIsDue) this.#lineIsDue = false;
      else this.#newLine();
      this.#output[this.#length++] = code;
      return;
    }
    if (this.#lineIsDue) this.#newLine();
    this.#output[this.#length++] = code;
    if (code === CODE.colon) this.#output[this.#length++] = CODE.space;
    else if (code === CODE.comma) this.#lineIsDue = true;
    else if (code === CODE.openBrace || code === CODE.openBracket) {
      this.#depth++;
      this.#lineIsDue = true;
    }
  }

  #newLine(): void {
    const width = Math.min(Math.max(this.#depth, 0), INDENTED_LEVELS_MAX) * INDENT_WIDTH;
    const output = this.#output;
    let length = this.#length;
    output[length++] = CODE.newline;
    for (let i = 0; i < width; i++) output[length++] = CODE.space;
    this.#length = length;
    this.#lineIsDue = false;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#output.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#output.length * GROWTH_FACTOR));
    grown.set(this.#output);
    this.#output = grown;
  }
}
