// Whether a client has already what it asks for (RFC 9110 13.1.2, 13.1.3): by the tags of what it has, else by its age.
import type { HttpRequest } from './http.ts';

/** Tags of one header that are looked at. */
const TAGS_MAX = 64;
const TAG = /\s*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)/y;

/** What is asked for, as it is now. */
export interface Validators {
  /** With its quotes. */
  readonly etag: string;
  /** Wall time in milliseconds; of no account below a second. */
  readonly lastModifiedMs: number;
}

/** True when 304 is the answer. */
export function isUnmodified(request: Pick<HttpRequest, 'header'>, { etag, lastModifiedMs }: Validators): boolean {
  const tags = request.header('if-none-match');
  if (tags !== '') return tags.trim() === '*' || names(tags, etag);
  const since = request.header('if-modified-since');
  // Not a date: as if it were not there.
  return since !== '' && Math.floor(lastModifiedMs / 1000) <= Math.floor(Date.parse(since) / 1000);
}

function names(tags: string, etag: string): boolean {
  TAG.lastIndex = 0;
  for (let i = 0; i < TAGS_MAX; i++) {
    const found = TAG.exec(tags);
    if (found === null) return false;
    if (found[1] === etag) return true;
    if (TAG.lastIndex >= tags.length) return false;
  }
  return false;
}
