// The address of a service, read once, and the bytes of a request to it: what of the head is the same from one call to the next is
// put together once. Nothing that could end a header early gets into one.
import { isIP } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { Place } from './open-connection.ts';

const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** What a request may be for. */
export const TARGET = /^\/[\x21-\x7e]*$/;

export interface CalledAddress {
  readonly url: string;
  readonly isTls: boolean;
  /** Empty for an IP address. */
  readonly hostname: string;
  readonly place: Place;
  readonly target: string;
  /** Host and port. */
  readonly authority: string;
  /** By what the address says itself of who asks. */
  readonly authorization: string;
  /** Empty: whoever asks does not say what it is. */
  readonly userAgent: string;
  /** The head of the last request up to its length, and what it is of. */
  begun: Begun | undefined;
}

interface Begun {
  readonly method: string;
  readonly authorization: string;
  readonly hasBody: boolean;
  readonly text: string;
}

/** An http or https address; undefined for any other text. */
export function calledAddress(url: string, userAgent = ''): CalledAddress | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  const isTls = parsed.protocol === 'https:';
  if (!isTls && parsed.protocol !== 'http:') return undefined;
  const { hostname: host, port, path, auth } = urlToHttpOptions(parsed);
  const name = host as string;
  const hostname = isIP(name) === 0 ? name : '';
  return {
    url,
    isTls,
    hostname,
    place: { host: name, port: Number(port) || (isTls ? 443 : 80), serverName: hostname },
    target: path ?? '/',
    authority: parsed.host,
    authorization: auth ? `Basic ${Buffer.from(auth).toString('base64')}` : '',
    userAgent,
    begun: undefined,
  };
}

/** Head and body of a request; undefined where its address or the credentials cannot be sent. */
export function requestBytes(
  address: CalledAddress,
  method: 'GET' | 'POST',
  given: string,
  json: string | undefined,
): Buffer | undefined {
  const authorization = given || address.authorization;
  const hasBody = json !== undefined;
  let { begun } = address;
  if (begun?.method !== method || begun.authorization !== authorization || begun.hasBody !== hasBody) {
    const text = beginning(address, method, authorization, hasBody);
    if (text === undefined) return undefined;
    begun = { method, authorization, hasBody, text };
    address.begun = begun;
  }
  return hasBody ? withBody(begun.text, json) : Buffer.from(begun.text, 'latin1');
}

/** Of a head, all being ASCII. */
const HEAD_ROOM = 4096;
/** Where most requests are put together: a body's length is known once it is written, and stands before it. */
const DRAFT = Buffer.allocUnsafeSlow(64 * 1024);
/** Of UTF-8 for a unit of a string. */
const UNIT_BYTES_MAX = 3;

/** In bytes, since a request waits for its answer: a string would be moved about in the heap meanwhile. */
function withBody(begun: string, json: string): Buffer {
  if (begun.length + 16 > HEAD_ROOM || json.length * UNIT_BYTES_MAX > DRAFT.length - HEAD_ROOM)
    return Buffer.from(`${begun}${Buffer.byteLength(json)}\r\n\r\n${json}`);
  const bodyBytes = DRAFT.write(json, HEAD_ROOM, 'utf8');
  const head = `${begun}${bodyBytes}\r\n\r\n`;
  const start = HEAD_ROOM - head.length;
  DRAFT.write(head, start, 'latin1');
  return Buffer.from(DRAFT.subarray(start, HEAD_ROOM + bodyBytes));
}

function beginning(
  { target, authority, userAgent }: CalledAddress,
  method: string,
  authorization: string,
  hasBody: boolean,
): string | undefined {
  if (!TARGET.test(target) || !HEADER_VALUE.test(authority + authorization)) return undefined;
  const head =
    `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\nAccept: application/json, */*\r\n` +
    (userAgent === '' ? '' : `User-Agent: ${userAgent}\r\n`) +
    (authorization === '' ? '' : `Authorization: ${authorization}\r\n`);
  return hasBody ? `${head}Content-Type: application/json\r\nContent-Length: ` : `${head}\r\n`;
}
