// What is told of a refusal of another server (a webhook, a node agent) by its code, in the sentences that clients of the original
// know. Pure.
import { quote } from './failures.ts';
import type { StatusReason } from './status.ts';

interface Refused {
  readonly reason: StatusReason;
  readonly message: string;
}

interface Refusal {
  readonly reason: StatusReason;
  /** Absent: the server's own text is told. */
  readonly message?: string;
  /** Told in place of that where it says nothing. */
  readonly unsaid?: string;
}

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' },
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  403: { reason: 'Forbidden' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' },
  406: {
    reason: 'NotAcceptable',
    unsaid: 'the server was unable to respond with a content type that the client supports',
  },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  415: { reason: 'UnsupportedMediaType' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
};

/** What stands for an answer that is no text. */
export const NO_TEXT = 'unknown';

/** `said`: the text of the answer. */
export function answerRefused(code: number, said: string): Refused {
  const known = REFUSALS[code];
  if (known !== undefined) {
    const { reason, unsaid = said } = known;
    return { reason, message: known.message ?? (said === '' || said === NO_TEXT ? unsaid : said) };
  }
  if (code >= 500) {
    const message = `an error on the server (${quote(said)}) has prevented the request from succeeding`;
    return { reason: 'InternalError', message };
  }
  const message = `the server responded with the status code ${code} but did not return more information`;
  return { reason: '', message };
}
