// How answers are written: status codes, headers, and bodies in the encoding the client accepts. Stored objects and lists
// have files of their own (rendered-object.ts, list-body.ts and others).
import type { EnvelopePieces } from '../../../api/codec/envelope.ts';
import type { Status } from '../../../api/status/status.ts';
import { httpCode, retryAfterSeconds } from '../../../api/status/status.ts';
import type { HeaderList } from '../../../transport/http.ts';
import { keptHeaders } from '../../../transport/kept-headers.ts';
import { NO_CACHE } from '../../../transport/response-headers.ts';
import { Kept } from '../../../values/kept.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Encoded } from './representation.ts';

export const JSON_TYPE = 'application/json';
const CONTENT_TYPES_MAX = 64;
/** By content type. Of some there may be many: with the parameters that a client asked for. */
const byContentType = new Kept<string, HeaderList>(CONTENT_TYPES_MAX);

/** The headers of an answer in a content type, with warnings for the client's user if there are any. */
export function headersFor(contentType: string, warnings?: readonly string[]): HeaderList {
  if (warnings === undefined || warnings.length === 0) {
    return byContentType.get(contentType) ?? newHeadersFor(contentType);
  }
  return [NO_CACHE, ['Content-Type', contentType], ...warnings.map(warningHeader)];
}

function newHeadersFor(contentType: string): HeaderList {
  const headers = keptHeaders([NO_CACHE, ['Content-Type', contentType]]);
  byContentType.set(contentType, headers);
  return headers;
}

/** A text for the client's user (RFC 7234 section 5.5). */
export function warningHeader(text: string): readonly [name: string, value: string] {
  return ['Warning', `299 - ${JSON.stringify(text)}`];
}

/** A Status, in the encoding that `Representations.ofStatus` found. */
export function sendStatus(
  exchange: Exchange,
  status: Status,
  { contentType, encode }: Encoded,
  warnings?: readonly string[],
): void {
  exchange.audit?.answerStatus(status);
  const code = httpCode(status);
  const retryAfter = retryAfterSeconds(status);
  const headers = headersFor(contentType, warnings);
  const all = retryAfter === undefined ? headers : [...headers, ['Retry-After', String(retryAfter)] as const];
  exchange.answer(code, all, encode(status));
}

/** Answers plain text, which browsers must not take for anything else. */
export function sendText(exchange: Exchange, code: number, text: string, headers: HeaderList = []): void {
  exchange.answer(
    code,
    [NO_CACHE, ['Content-Type', 'text/plain; charset=utf-8'], ['X-Content-Type-Options', 'nosniff'], ...headers],
    text,
  );
}

/** An object that is encoded as Protobuf, in its envelope. */
export function sendMessage(
  exchange: Exchange,
  code: number,
  envelope: EnvelopePieces,
  message: Buffer,
  { contentType }: Encoded,
  warnings?: readonly string[],
): void {
  const body = Buffer.allocUnsafe(envelope.bytesAround(message.length));
  const at = envelope.open(body, 0, message.length);
  envelope.close(body, at + message.copy(body, at));
  exchange.answer(code, headersFor(contentType, warnings), body);
}

/** A value that already has the shape it was asked for in, encoded for this answer alone. */
export function sendValue(
  exchange: Exchange,
  code: number,
  value: object,
  { contentType, encode }: Encoded,
  warnings?: readonly string[],
): void {
  const body = encode(value);
  exchange.answer(code, headersFor(contentType, warnings), body);
}
