// Status codes in words (RFC 9110 and the IANA registry), and the Status object a listener answers when it refuses a
// request itself. What the API server's own errors say is decided elsewhere.

import { NO_CACHE } from './response-headers.ts';

const REASON_PHRASES: Readonly<Record<number, string>> = {
  100: 'Continue',
  101: 'Switching Protocols',
  102: 'Processing',
  103: 'Early Hints',
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  203: 'Non-Authoritative Information',
  204: 'No Content',
  205: 'Reset Content',
  206: 'Partial Content',
  207: 'Multi-Status',
  208: 'Already Reported',
  226: 'IM Used',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  305: 'Use Proxy',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
  506: 'Variant Also Negotiates',
  507: 'Insufficient Storage',
  508: 'Loop Detected',
  511: 'Network Authentication Required',
};

const STATUS_LINES: readonly string[] = Array.from({ length: 600 }, (_, code) => {
  const phrase = REASON_PHRASES[code];
  return phrase === undefined ? `${code} Unknown` : `${code} ${phrase}`;
});

/** The code with its reason phrase, as in `404 Not Found`; a code without a registered phrase reads `Unknown`. */
export function statusLine(code: number): string {
  return STATUS_LINES[code] ?? `${code} Unknown`;
}

/** True for the codes whose answers carry no body and no length (RFC 9110 6.4.1). */
export function isBodiless(code: number): boolean {
  return code === 204 || code === 304 || code < 200;
}

/** The code, reason and message of the Status that a listener refuses a request with. */
export type Refusal = readonly [code: number, reason: string, message: string];

/** What came is no request (RFC 9112). */
export const MALFORMED: Refusal = [400, 'BadRequest', 'the request is not valid HTTP'];

/** A failed Status object as JSON text, for the refusals of the listener itself. */
export function failureBody(code: number, reason: string, message: string): string {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return `${JSON.stringify(status)}\n`;
}

/** What a handler that failed before it answered is replaced by; says nothing about the cause. */
export const HANDLER_FAILURE_BODY = failureBody(
  500,
  'InternalError',
  'Internal error occurred: the request could not be handled',
);

/** The headers of a failureBody. */
export const FAILURE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Content-Type', 'application/json'],
  NO_CACHE,
];
