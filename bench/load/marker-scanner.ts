// Finds a short text in a stream of bytes that arrives in slices, however the slices cut it, and on demand the value
// behind it up to the next quote. This is all the load generator ever looks at in a body.

const VALUE_BYTES_MAX = 64;
const QUOTE = 0x22;

export class MarkerScanner {
  readonly #needle: Buffer;
  /** Called with the text between the marker and the next quote; absent: markers are only counted. */
  readonly #onValue: ((value: string) => void) | undefined;
  /** For each prefix of the marker, how much of it is also its own suffix. */
  readonly #borders: readonly number[];
  #matched = 0;
  #value: string | undefined;
  /** Markers seen. */
  count = 0;

  constructor(marker: string, onValue?: (value: string) => void) {
    this.#needle = Buffer.from(marker);
    this.#onValue = onValue;
    this.#borders = bordersOf(this.#needle);
  }

  /** Forgets what was half seen: the next slice begins another body. */
  reset(): void {
    this.#matched = 0;
    this.#value = undefined;
  }

  /** Takes `buffer[start, end)`. */
  feed(buffer: Buffer, start: number, end: number): void {
    const length = this.#needle.length;
    let at = start;
    while (at < end) {
      if (this.#value !== undefined) {
        at = this.#readValue(buffer, at, end);
      } else if (this.#matched > 0) {
        this.#matchByte(buffer[at]!);
        at += 1;
      } else {
        const found = buffer.indexOf(this.#needle, at);
        if (found === -1 || found + length > end) {
          for (at = Math.max(at, end - length + 1); at < end; at += 1) this.#matchByte(buffer[at]!);
          return;
        }
        at = found + length;
        this.#hit();
      }
    }
  }

  #matchByte(byte: number): void {
    while (this.#matched > 0 && this.#needle[this.#matched] !== byte) this.#matched = this.#borders[this.#matched - 1]!;
    if (this.#needle[this.#matched] === byte) this.#matched += 1;
    if (this.#matched === this.#needle.length) this.#hit();
  }

  #hit(): void {
    this.#matched = 0;
    this.count += 1;
    if (this.#onValue !== undefined) this.#value = '';
  }

  #readValue(buffer: Buffer, start: number, end: number): number {
    const found = buffer.indexOf(QUOTE, start);
    const stop = found === -1 || found > end ? end : found;
    const value = this.#value! + buffer.toString('latin1', start, Math.min(stop, start + VALUE_BYTES_MAX));
    if (stop === end) {
      this.#value = value.slice(0, VALUE_BYTES_MAX);
      return end;
    }
    this.#value = undefined;
    this.#onValue!(value);
    return stop + 1;
  }
}

function bordersOf(needle: Uint8Array): number[] {
  const borders = [0];
  for (let at = 1; at < needle.length; at += 1) {
    let border = borders[at - 1]!;
    while (border > 0 && needle[at] !== needle[border]) border = borders[border - 1]!;
    borders.push(needle[at] === needle[border] ? border + 1 : 0);
  }
  return borders;
}
