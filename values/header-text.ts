// Text in HTTP headers: a value holds bytes, those of the text in UTF-8, and Node says each of them as one character. Pure.

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are in ASCII as well.
const BEYOND_ASCII = /[^\x00-\x7f]/;

/** True for a text of which Node is told other characters than its own. */
export function isBeyondAscii(text: string): boolean {
  return BEYOND_ASCII.test(text);
}

/** A text as Node takes a header's value: each byte as one character. */
export function headerValueOf(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** The text of a header's value, of which Node has said each byte as a character. */
export function headerTextOf(value: string): string {
  return BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}
