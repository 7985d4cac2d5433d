// What both listeners do to the headers of an answer before they are sent. Framing belongs to the listener: a handler
// names neither lengths nor transfer codings, but for the length of somebody else's body, which may be left out (HEAD).
import type { HeaderList } from './http.ts';

/** The header of an answer that depends on who asks, and on when. */
export const NO_CACHE = ['Cache-Control', 'no-cache, private'] as const;

const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

// Only names of these lengths can be framing headers: most names are passed without being lower-cased.
const FRAMING_LENGTHS: ReadonlySet<number> = new Set([...FRAMING_HEADERS].map((name) => name.length));

/** True for a header that the listener writes itself, so that a handler's (or a proxied answer's) is left out. */
export function isFramingHeader(name: string): boolean {
  return FRAMING_LENGTHS.has(name.length) && FRAMING_HEADERS.has(name.toLowerCase());
}

/**
 * The headers of another server's answer, which no cache shows to anybody else, nor again unasked: that server knows nothing of this
 * one's users. What it says of caches stands beside it.
 */
export function uncached(headers: HeaderList): HeaderList {
  const isSaid = headers.some(([name, value]) => name.toLowerCase() === 'cache-control' && value === NO_CACHE[1]);
  return isSaid ? headers : [NO_CACHE, ...headers];
}

/** How long a streamed body will be, or would be where a HEAD request leaves it out, as the handler says; undefined: it does not. */
export function lengthSaid(headers: HeaderList): number | undefined {
  const value = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? '';
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about.
const FORBIDDEN_IN_VALUE = /[\x00-\x08\n-\x1f\x7f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: likewise.
const FORBIDDEN_IN_VALUE_ALL = /[\x00-\x08\n-\x1f\x7f]/g;

/** The text of a header value, which cannot end its line (RFC 9110 5.5): what a client sent may be echoed in one. It is sent as UTF-8. */
export function safeHeaderValue(value: string): string {
  return FORBIDDEN_IN_VALUE.test(value) ? value.replace(FORBIDDEN_IN_VALUE_ALL, ' ') : value;
}

/** True when the streamed body is JSON text as it is on the wire, where white space between values means nothing. */
export function isPlainJson(headers: HeaderList): boolean {
  let isJson = false;
  for (const [name, value] of headers) {
    const lowerName = name.toLowerCase();
    if (lowerName === 'content-encoding') return false;
    if (lowerName === 'content-type') isJson = value.startsWith('application/json');
  }
  return isJson;
}

/** True when the streamed body is watch events behind four bytes of their length each (Protobuf). */
export function isLengthDelimited(headers: HeaderList): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && value.endsWith(';stream=watch'));
}
