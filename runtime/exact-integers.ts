// Lets JSON.stringify write integers that doubles do not hold: those are bigints (api/json/exact-json.ts), which it refuses of itself.
// For each thread that writes JSON of clients' objects, once, at its start. Nothing else changes the language's own objects. (What
// newer engines have for this, JSON.rawJSON, is behind a flag in Node 20 and spoils texts beyond Latin-1 there.)
import { randomUUID } from 'node:crypto';

const stringify = JSON.stringify;
/** What no client can know, so that no text of one is taken for a number. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');
/** Bigints that have been written on this thread. */
let written = 0;

/** Numbers that are bigints are written by their digits from here on. */
export function writeExactIntegers(): void {
  replace(BigInt.prototype, 'toJSON', marked);
  replace(JSON, 'stringify', exactly);
}

function replace(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, configurable: true, writable: true });
}

function marked(this: bigint): string {
  written++;
  return `${MARK}${this}`;
}

/** As JSON.stringify; a text without bigints costs a call more. */
function exactly(value: unknown, replacer?: (string | number)[], space?: string | number): string {
  const before = written;
  const text = stringify(value, replacer, space);
  return written === before ? text : text.replace(MARKED, '$1');
}
