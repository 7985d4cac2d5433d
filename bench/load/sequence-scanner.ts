// Finds the numbers of writes in a stream of events: a marker and eight digits behind it, however slices cut them. Runs
// for every event of every watcher, so it makes no strings.

/** Width of a number, as request-template.ts writes it. */
const DIGITS = 8;
const ZERO = 0x30;

export class SequenceScanner {
  readonly #marker: Buffer;
  readonly #onSequence: (sequence: number) => void;
  /** Bytes from the beginning of a marker to the end of its number. */
  readonly #whole: number;
  /** The end of what was fed, as far back as a number may have begun in it. */
  readonly #kept: Buffer;
  #keptBytes = 0;
  /** Bytes between the two closest numbers so far: nothing closer to one is looked for where the next stands just there. */
  #stride = Number.POSITIVE_INFINITY;

  /** `onSequence` is called with each number; a marker with anything else behind it is passed over. */
  constructor(marker: Buffer, onSequence: (sequence: number) => void) {
    this.#marker = marker;
    this.#onSequence = onSequence;
    this.#whole = marker.length + DIGITS;
    this.#kept = Buffer.alloc(2 * this.#whole);
  }

  /** Takes `buffer[start, end)`. */
  feed(buffer: Buffer, start: number, end: number): void {
    let from = start;
    if (this.#keptBytes > 0) {
      const taken = buffer.copy(this.#kept, this.#keptBytes, start, Math.min(end, start + this.#whole - 1));
      const joined = this.#keptBytes + taken;
      const rest = this.#scan(this.#kept, 0, joined);
      if (start + taken === end) {
        this.#kept.copyWithin(0, rest, joined);
        this.#keptBytes = joined - rest;
        return;
      }
      // So much was taken that whatever began in what was kept is decided.
      from = start + rest - this.#keptBytes;
    }
    const rest = this.#scan(buffer, from, end);
    this.#keptBytes = buffer.copy(this.#kept, 0, rest, end);
  }

  /** Reports the numbers that are whole in `buffer[start, end)`. Returns from where one may be that is not. */
  #scan(buffer: Buffer, start: number, end: number): number {
    let at = start;
    let last = Number.NEGATIVE_INFINITY;
    for (;;) {
      const expected = last + this.#stride;
      const found = this.#isNumberAt(buffer, expected, end) ? expected : buffer.indexOf(this.#marker, at);
      if (found === -1 || found + this.#whole > end) return Math.max(at, end - this.#whole + 1);
      const sequence = numberAt(buffer, found + this.#marker.length);
      at = found + (sequence < 0 ? 1 : this.#whole);
      if (sequence < 0) continue;
      if (found - last < this.#stride) this.#stride = found - last;
      last = found;
      this.#onSequence(sequence);
    }
  }

  /** Events of a load are of one length: searching for each would be a quarter of what a watcher costs. */
  #isNumberAt(buffer: Buffer, at: number, end: number): boolean {
    // Also where nothing was found yet: infinity.
    if (!(at >= 0 && at + this.#whole <= end)) return false;
    const marker = this.#marker;
    for (let index = 0; index < marker.length; index += 1) if (buffer[at + index] !== marker[index]) return false;
    return numberAt(buffer, at + marker.length) >= 0;
  }
}

/** The eight digits there; -1 for anything else. */
function numberAt(buffer: Buffer, at: number): number {
  let number = 0;
  for (let index = at; index < at + DIGITS; index += 1) {
    const digit = buffer[index]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}
