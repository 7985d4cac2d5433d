// What a backend's answer is turned into where the client sees the backend under a path of ours: redirections and the
// links of pages lead to where the client finds them.
import { type Duplex, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { forwardedResponseHeaders } from '../../../api/connect/forwarded.ts';
import { PageLinks } from '../../../api/connect/page-links.ts';
import { headersOutside, type ProxyPlace, referenceOutside } from '../../../api/connect/seen-from-outside.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { AgentAnswer } from '../../../transport/outgoing/agent-answer.ts';

interface Seen {
  readonly headers: HeaderList;
  /** What the body goes through. */
  readonly stages: readonly Duplex[];
}

const PAGE = /^\s*text\/html\s*(?:;|$)/i;
/** Undefined where a page comes as it is. A page in another encoding is not looked into. */
const DECODERS: ReadonlyMap<string, () => Duplex | undefined> = new Map<string, () => Duplex | undefined>([
  ['', () => undefined],
  ['identity', () => undefined],
  ['gzip', () => createGunzip()],
]);
/** Statuses without a body of their own: none at all, or a part of one, in which no tag is sure to be one. */
const BODYLESS: ReadonlySet<number> = new Set([204, 206, 304]);
/** What is no longer true of a page that is rewritten. */
const OF_THE_BYTES: ReadonlySet<string> = new Set(['content-length', 'content-encoding']);

export function seenOutside({ status, headers }: AgentAnswer, place: ProxyPlace | undefined, hasBody: boolean): Seen {
  const forwarded = forwardedResponseHeaders(headers);
  if (place === undefined) return { headers: forwarded, stages: [] };
  const moved = headersOutside(forwarded, place);
  const decoder = DECODERS.get(headerOf(headers, 'content-encoding').trim().toLowerCase());
  const isPage = PAGE.test(headerOf(headers, 'content-type')) && !BODYLESS.has(status);
  // Who is sent elsewhere does not read the page.
  if (!isPage || decoder === undefined || headerOf(headers, 'location') !== '') return { headers: moved, stages: [] };
  return {
    headers: moved.filter(([name]) => !OF_THE_BYTES.has(name.toLowerCase())),
    stages: hasBody ? [decoder(), linksStage(place)].filter((stage) => stage !== undefined) : [],
  };
}

function linksStage(place: ProxyPlace): Duplex {
  const links = new PageLinks((reference) => referenceOutside(reference, place));
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      done(null, Buffer.from(links.push(chunk.toString('latin1')), 'latin1')),
    flush: (done) => done(null, Buffer.from(links.end(), 'latin1')),
  });
}

function headerOf(headers: HeaderList, wanted: string): string {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
}
