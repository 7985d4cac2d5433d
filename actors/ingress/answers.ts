// How answers are written: status codes, headers, and bodies in the representation the client accepts. Objects go out as
// the bytes they are stored as whenever that is what the client takes.
import type { JsonObject } from '../../api/json-value.ts';
import type { Status } from '../../api/status/status.ts';
import { httpCode, retryAfterSeconds } from '../../api/status/status.ts';
import { decodeStored } from '../../storage/stored-json.ts';
import type { HeaderList } from '../../transport/exchange.ts';
import { isPrettyRequest } from '../../transport/negotiation.ts';
import { prettyJson } from '../../transport/pretty-json.ts';
import { yamlText } from '../../transport/yaml-write.ts';
import type { Exchange } from './exchange.ts';
import type { Representation } from './representation.ts';

export const JSON_TYPE = 'application/json';
const NO_CACHE = ['Cache-Control', 'no-cache, private'] as const;
const JSON_HEADERS: HeaderList = [NO_CACHE, ['Content-Type', JSON_TYPE]];

/** The headers of an answer in a content type, with warnings for the client's user if there are any. */
export function headersFor(contentType: string, warnings?: readonly string[]): HeaderList {
  if (warnings === undefined || warnings.length === 0) {
    return contentType === JSON_TYPE ? JSON_HEADERS : [NO_CACHE, ['Content-Type', contentType]];
  }
  const lines = warnings.map((text) => ['Warning', `299 - ${JSON.stringify(text)}`] as const);
  return [NO_CACHE, ['Content-Type', contentType], ...lines];
}

/** A Status, always as JSON: negotiation may be what failed. */
export function sendStatus(exchange: Exchange, status: Status): void {
  const code = httpCode(status);
  const retryAfter = retryAfterSeconds(status);
  const headers =
    retryAfter === undefined ? JSON_HEADERS : [...JSON_HEADERS, ['Retry-After', String(retryAfter)] as const];
  const pretty = isPrettyRequest(exchange.query.get('pretty') ?? null, exchange.request.header('user-agent'));
  exchange.code = code;
  exchange.response.respond(code, headers, pretty ? prettyText(status) : `${JSON.stringify(status)}\n`);
}

export function sendText(exchange: Exchange, code: number, text: string, headers: HeaderList = []): void {
  exchange.code = code;
  exchange.response.respond(
    code,
    [NO_CACHE, ['Content-Type', 'text/plain; charset=utf-8'], ['X-Content-Type-Options', 'nosniff'], ...headers],
    text,
  );
}

/** A stored object: `body` is its JSON with the closing newline. */
export function sendStored(
  exchange: Exchange,
  code: number,
  body: Buffer,
  representation: Representation,
  warnings?: readonly string[],
): void {
  if (representation.format === 'json' && representation.shaping === undefined) {
    exchange.code = code;
    const bytes = representation.pretty ? prettyJson(body) : body;
    exchange.response.respond(code, headersFor(representation.contentType, warnings), bytes);
    return;
  }
  sendObject(exchange, code, decodeStored(body), representation, warnings);
}

/** Any object, shaped and encoded for this answer alone. */
export function sendObject(
  exchange: Exchange,
  code: number,
  object: object,
  representation: Representation,
  warnings?: readonly string[],
): void {
  const { shaping } = representation;
  const shaped = shaping === undefined ? object : shaping.object(object as JsonObject);
  sendValue(exchange, code, shaped, representation, warnings);
}

/** A value that already has the shape it was asked for in, encoded for this answer alone. */
export function sendValue(
  exchange: Exchange,
  code: number,
  value: object,
  representation: Representation,
  warnings?: readonly string[],
): void {
  const text =
    representation.format === 'yaml'
      ? yamlText(value)
      : representation.pretty
        ? prettyText(value)
        : `${JSON.stringify(value)}\n`;
  exchange.code = code;
  exchange.response.respond(code, headersFor(representation.contentType, warnings), text);
}

/** Indented text of a value that is no stored object. */
function prettyText(value: object): Uint8Array {
  return prettyJson(Buffer.from(JSON.stringify(value)));
}

/** True when what is stored can be sent as it lies. */
export function takesStoredBytes({ format, pretty, shaping }: Representation): boolean {
  return format === 'json' && !pretty && shaping === undefined;
}
