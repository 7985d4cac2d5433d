// Why a call of a webhook came to nothing, as its caller is told: of a webhook of admission, or one that converts. The short
// sentences about codes and about time are those that clients of the original know.
import { isJsonObject } from '../../../../api/json-value.ts';
import { textAt } from '../../../../api/object-fields.ts';
import { quote } from '../../../../api/status/failures.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import { ServiceCallFailed, ServiceRefused, ServiceTooLate } from '../../../../transport/outgoing/service-client.ts';
import { NoPlace } from '../../../service-places.ts';

/** Of codes that say enough. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};
/** Codes whose answer says why. */
const SAID: readonly number[] = [403, 406, 415];
/** Of what a service answers beside its code. */
const TEXT_LENGTH_MAX = 2048;

/** What is told of a failure of a call to an address; undefined for one that is not the webhook's. */
export function reasonOf(error: unknown, url: string): string | undefined {
  if (error instanceof ServiceRefused) return refusalOf(error);
  const detail = detailOf(error);
  return detail === undefined ? undefined : `Post "${url}": ${detail}`;
}

function detailOf(error: unknown): string | undefined {
  if (error instanceof ServiceTooLate) return 'context deadline exceeded';
  if (error instanceof ServiceCallFailed || error instanceof NoPlace) return error.message;
  if (isStatusError(error)) return error.status.message ?? '';
  // A bundle of authorities that is none, found when a connection is made.
  return error instanceof Error && 'code' in error
    ? `the service could not be reached (${String(error.code)})`
    : undefined;
}

/** A Status that is answered says it itself. */
function refusalOf({ status, text }: ServiceRefused): string {
  const answered = objectIn(text);
  if (answered?.kind === 'Status') return textAt(answered, 'message', 'unknown');
  const said = answered === undefined ? text.slice(0, TEXT_LENGTH_MAX).trim() : 'unknown';
  if (SAID.includes(status)) return said;
  const known = REFUSALS[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${quote(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
