// The digests that tokens are looked up by. Whoever shows a token shows it with each request, and to see that it is one of the last
// time costs a quarter of its SHA-256, of the thousand characters of a service account's a tenth. Owns the tokens that it compares
// with, and gives them to nobody.
import { Kept } from '../../../values/kept.ts';
import { tokenDigest } from './token-file.ts';

/** How a JSON web token begins: only of these is it known that they end in a signature. */
const SIGNED_START = 'eyJ';
/** Shorter ones are compared with each that is kept. */
const LENGTH_MIN = 256;
/** Longer ones are digested each time: what is kept has a bound. */
const LENGTH_MAX = 4096;
const KEPT_MAX = 256;
/**
 * By so many of its last characters a token is found: 96 bits of its signature, which nobody guesses, in a table whose hashes
 * are salted. Only who has these is compared with the rest, so the time that the comparison takes tells nobody else anything.
 */
const END_LENGTH = 16;
/** Of short ones: who shows a fifth in turn with four others has it digested, and pays a little for having been compared. */
const SHORT_MAX = 4;

interface SeenToken {
  readonly token: string;
  readonly digest: string;
}

interface ShortToken {
  readonly codes: Uint16Array;
  readonly digest: string;
}

/** Digests tokens, those seen lately without working it out again. */
export class TokenDigests {
  readonly #seen = new Kept<string, SeenToken>(KEPT_MAX);
  /** The one that was shown last comes first. */
  readonly #short: ShortToken[] = [];
  readonly #digestOf: (token: string) => string;

  /** `digestOf` works a digest out; only tests count how often. */
  constructor(digestOf: (token: string) => string = tokenDigest) {
    this.#digestOf = digestOf;
  }

  /** SHA-256 of the token, lower-case hexadecimal. */
  of(token: string): string {
    const { length } = token;
    if (length < LENGTH_MIN) return this.#ofShort(token);
    if (length > LENGTH_MAX || !token.startsWith(SIGNED_START)) return this.#digestOf(token);
    const end = token.slice(-END_LENGTH);
    const seen = this.#seen.get(end);
    if (seen !== undefined && seen.token === token) return seen.digest;
    const digest = this.#digestOf(token);
    this.#seen.set(end, { token, digest });
    return digest;
  }

  #ofShort(token: string): string {
    const short = this.#short;
    for (let i = 0; i < short.length; i++) {
      const seen = short[i]!;
      if (!isSame(token, seen.codes)) continue;
      if (i > 0) toFront(short, i);
      return seen.digest;
    }
    const digest = this.#digestOf(token);
    const codes = Uint16Array.from({ length: token.length }, (_, i) => token.charCodeAt(i));
    short.unshift({ codes, digest });
    if (short.length > SHORT_MAX) short.pop();
    return digest;
  }
}

function toFront(tokens: ShortToken[], from: number): void {
  const token = tokens[from]!;
  for (let i = from; i > 0; i--) tokens[i] = tokens[i - 1]!;
  tokens[0] = token;
}

/**
 * Nothing of a short token is beyond guessing bit by bit, so that it is compared whole wherever it differs: the time tells nothing but
 * whether the two are equally long, which is no secret: the size of each request says it.
 */
function isSame(token: string, codes: Uint16Array): boolean {
  if (token.length !== codes.length) return false;
  let difference = 0;
  for (let i = 0; i < codes.length; i++) difference |= token.charCodeAt(i) ^ codes[i]!;
  return difference === 0;
}
