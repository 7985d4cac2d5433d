// What answers tell browsers: to come by HTTPS alone (RFC 6797), and which other sites' scripts may read them (CORS, in the
// Fetch standard). Stands before everything else, so that refusals say it too.
import type { HeaderList, HttpRequest, HttpResponse } from '../../../transport/http.ts';
import { keptHeaders } from '../../../transport/kept-headers.ts';
import { ResponseWithHeaders } from '../exchange/response-with-headers.ts';

export interface BrowserRulesParts {
  /** Of the Strict-Transport-Security header; none: it is not sent. */
  readonly transportDirectives: readonly string[];
  /** Undefined: no script of another site reads anything. */
  readonly allowsOrigin: ((origin: string) => boolean) | undefined;
}

/** As Kubernetes 1.21 has them, for what scripts send and read. */
const ALLOWED: HeaderList = [
  ['Access-Control-Allow-Methods', 'POST, GET, OPTIONS, PUT, DELETE, PATCH'],
  [
    'Access-Control-Allow-Headers',
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  ],
  ['Access-Control-Expose-Headers', 'Date'],
  ['Access-Control-Allow-Credentials', 'true'],
];

export class BrowserRules {
  /** What every answer says. */
  readonly transport: HeaderList;
  readonly #allowsOrigin: BrowserRulesParts['allowsOrigin'];

  constructor({ transportDirectives, allowsOrigin }: BrowserRulesParts) {
    const directives = [...transportDirectives].sort().join('; ');
    this.transport = directives === '' ? [] : keptHeaders([['Strict-Transport-Security', directives]]);
    this.#allowsOrigin = allowsOrigin;
  }

  /** The response to go on with; undefined when it has been answered: the question whether a script may ask. */
  apply(request: HttpRequest, response: HttpResponse): HttpResponse | undefined {
    const origin = this.#allowsOrigin === undefined ? '' : request.header('origin');
    const isAllowed = origin !== '' && this.#allowsOrigin!(origin);
    if (!isAllowed) return this.transport.length === 0 ? response : new ResponseWithHeaders(response, this.transport);
    const headers: HeaderList = [...this.transport, ['Access-Control-Allow-Origin', origin], ...ALLOWED];
    if (request.method !== 'OPTIONS') return new ResponseWithHeaders(response, headers);
    response.respond(204, headers, '');
    return undefined;
  }
}
