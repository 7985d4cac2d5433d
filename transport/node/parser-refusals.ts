// What a request is answered that Node's parser refuses (RFC 9112): it comes to no handler, so that nobody is asked whose it is.

import { MALFORMED, type Refusal } from '../http-status.ts';
import { TOKEN_PATTERN } from '../token.ts';

export const OVERSIZED: Refusal = [431, 'RequestHeaderFieldsTooLarge', 'the headers of the request are too large'];
const UNKNOWN_METHOD: Refusal = [
  405,
  'MethodNotAllowed',
  'the server does not allow this method on the requested resource',
];

/** By the parser's error code; anything else is malformed. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: OVERSIZED,
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Timeout', 'the request did not arrive in time'],
};

/** The parser knows its methods by name: any other token may be one as well (RFC 9110, section 9.1). */
const REQUEST_LINE = new RegExp(`^${TOKEN_PATTERN} \\S+ HTTP/1\\.[01]\\r?\\n`);
const REQUEST_LINE_BYTES_MAX = 16 * 1024;

/** What the parser tells of a request. */
export interface ParserError extends NodeJS.ErrnoException {
  /** What had come of it at once. */
  readonly rawPacket?: Buffer;
}

export function parserRefusal({ code = '', rawPacket }: ParserError): Refusal {
  const isRequest = REQUEST_LINE.test(rawPacket?.toString('latin1', 0, REQUEST_LINE_BYTES_MAX) ?? '');
  if (code === 'HPE_INVALID_METHOD' && isRequest) return UNKNOWN_METHOD;
  return REFUSALS[code] ?? MALFORMED;
}
