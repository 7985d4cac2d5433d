// The query part of a request's address: name and value pairs, decoded once, on first use. Knows nothing of what the
// parameters mean.
import { decodePercent } from '../../values/percent.ts';

/** The decoded parameters of one request. */
export interface Query {
  /** The first value of `name`, or undefined when it is not there. */
  get(name: string): string | undefined;
  /** Every value of `name`, in order. */
  all(name: string): readonly string[];
  /** Why the query cannot be understood (answer 400); empty when it can. Then no parameter is visible. */
  readonly badRequest: string;
}

/**
 * More parameters than this are refused, not ignored: the one ignored might be `dryRun`. Each word of a command that is run in a pod is
 * one.
 */
export const QUERY_PARAMETERS_MAX = 4096;

/**
 * Reads a query as sent, without its `?`. Both `+` and percent encoding are decoded (as in HTML forms), a name without
 * `=` has an empty value. Never throws: what cannot be decoded, or is too much, shows in `badRequest`. The cost is paid
 * at the first look-up.
 */
export function parseQuery(query: string): Query {
  return query === '' ? EMPTY : new LazyQuery(query);
}

/**
 * A boolean parameter as Kubernetes reads it: absent, `false` and `0` are false; anything else, also nothing
 * (`?watch`), is true.
 */
export function isTrueParameter(value: string | undefined): boolean {
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
}

interface Pair {
  readonly name: string;
  readonly value: string;
}

class LazyQuery implements Query {
  readonly #text: string;
  #pairs: Pair[] | undefined;
  #badRequest = '';

  constructor(text: string) {
    this.#text = text;
  }

  get(name: string): string | undefined {
    for (const pair of this.#parsed()) if (pair.name === name) return pair.value;
    return undefined;
  }

  all(name: string): readonly string[] {
    const values: string[] = [];
    for (const pair of this.#parsed()) if (pair.name === name) values.push(pair.value);
    return values;
  }

  get badRequest(): string {
    this.#parsed();
    return this.#badRequest;
  }

  #parsed(): Pair[] {
    if (this.#pairs !== undefined) return this.#pairs;
    const pairs = this.#parse();
    this.#pairs = typeof pairs === 'string' ? [] : pairs;
    this.#badRequest = typeof pairs === 'string' ? pairs : '';
    return this.#pairs;
  }

  #parse(): Pair[] | string {
    const text = this.#text;
    const pairs: Pair[] = [];
    for (let start = 0, end = 0; start < text.length; start = end + 1) {
      end = text.indexOf('&', start);
      if (end < 0) end = text.length;
      if (end === start) continue;
      if (pairs.length === QUERY_PARAMETERS_MAX) return `more than ${QUERY_PARAMETERS_MAX} query parameters`;
      const pair = decodePair(text.slice(start, end));
      if (pair === undefined) return 'the query is not properly percent-encoded';
      pairs.push(pair);
    }
    return pairs;
  }
}

const EMPTY: Query = { get: () => undefined, all: () => [], badRequest: '' };

function decodePair(text: string): Pair | undefined {
  const equals = text.indexOf('=');
  const name = decodeForm(equals < 0 ? text : text.slice(0, equals));
  const value = equals < 0 ? '' : decodeForm(text.slice(equals + 1));
  return name === undefined || value === undefined ? undefined : { name, value };
}

function decodeForm(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return decodePercent(spaced);
}
