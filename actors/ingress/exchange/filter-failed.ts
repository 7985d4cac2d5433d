// What a filter on the way of a request could not do. It is answered in plain text, as the original's filters do.
import type { HttpRequest } from '../../../transport/http.ts';

/** The request fails with 500, and may be tried again. What it says is shown to the client. */
export class FilterFailed extends Error {}

/** The text of the answer. */
export function filterFailure({ path, query }: Pick<HttpRequest, 'path' | 'query'>, { message }: FilterFailed): string {
  const uri = query === '' ? path : `${path}?${query}`;
  const text = `Internal Server Error: ${JSON.stringify(uri)}: ${message}`;
  return `${text.replace(/[&<>]/g, (character) => ENTITIES[character]!)}\n`;
}

/** Whatever shows the text is not to take a part of it for markup. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
