// What a request is answered that Node's parser refuses (RFC 9112): it comes to no handler, so that nobody is asked whose it is.

/** The code, reason and message of a Status. */
export type ParserRefusal = readonly [code: number, reason: string, message: string];

export const OVERSIZED: ParserRefusal = [
  431,
  'RequestHeaderFieldsTooLarge',
  'the headers of the request are too large',
];
const UNKNOWN_METHOD: ParserRefusal = [
  405,
  'MethodNotAllowed',
  'the server does not allow this method on the requested resource',
];
const MALFORMED: ParserRefusal = [400, 'BadRequest', 'the request is not valid HTTP'];

/** By the parser's error code; anything else is malformed. */
const REFUSALS: Readonly<Record<string, ParserRefusal>> = {
  HPE_HEADER_OVERFLOW: OVERSIZED,
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Timeout', 'the request did not arrive in time'],
};

/** The parser knows its methods by name: any other token may be one as well (RFC 9110, section 9.1). */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;
const REQUEST_LINE_BYTES_MAX = 16 * 1024;

/** What the parser tells of a request. */
export interface ParserError extends NodeJS.ErrnoException {
  /** What had come of it at once. */
  readonly rawPacket?: Buffer;
}

export function parserRefusal({ code = '', rawPacket }: ParserError): ParserRefusal {
  const isRequest = REQUEST_LINE.test(rawPacket?.toString('latin1', 0, REQUEST_LINE_BYTES_MAX) ?? '');
  if (code === 'HPE_INVALID_METHOD' && isRequest) return UNKNOWN_METHOD;
  return REFUSALS[code] ?? MALFORMED;
}
