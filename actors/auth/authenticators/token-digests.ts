// The digests that tokens are looked up by. A token of a service account is a thousand characters, and whoever shows it shows
// it with each request: to see that it is the one of the last time costs a tenth of its SHA-256. Owns the tokens that it
// compares with, and gives them to nobody.
import { Kept } from '../../kept.ts';
import { tokenDigest } from './token-file.ts';

/** How a JSON web token begins: only of these is it known that they end in a signature. */
const SIGNED_START = 'eyJ';
/** Shorter ones cost little. */
const LENGTH_MIN = 256;
/** Longer ones are digested each time: what is kept has a bound. */
const LENGTH_MAX = 4096;
const KEPT_MAX = 256;
/**
 * By so many of its last characters a token is found: 96 bits of its signature, which nobody guesses, in a table whose hashes
 * are salted. Only who has these is compared with the rest, so the time that the comparison takes tells nobody else anything.
 */
const END_LENGTH = 16;

interface SeenToken {
  readonly token: string;
  readonly digest: string;
}

/** Digests tokens, signed ones seen lately without working it out again. */
export class TokenDigests {
  readonly #seen = new Kept<string, SeenToken>(KEPT_MAX);
  readonly #digestOf: (token: string) => string;

  /** `digestOf` works a digest out; only tests count how often. */
  constructor(digestOf: (token: string) => string = tokenDigest) {
    this.#digestOf = digestOf;
  }

  /** SHA-256 of the token, lower-case hexadecimal. */
  of(token: string): string {
    const { length } = token;
    if (length < LENGTH_MIN || length > LENGTH_MAX || !token.startsWith(SIGNED_START)) return this.#digestOf(token);
    const end = token.slice(-END_LENGTH);
    const seen = this.#seen.get(end);
    if (seen !== undefined && seen.token === token) return seen.digest;
    const digest = this.#digestOf(token);
    this.#seen.set(end, { token, digest });
    return digest;
  }
}
