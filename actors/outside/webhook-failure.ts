// Why a call of a webhook came to nothing, as its caller is told: of a webhook of admission, one that converts, or one that judges requests.
// The short sentences are those that clients of the original know.
import { isJsonObject } from '../../api/json/json-value.ts';
import { textAt } from '../../api/json/object-fields.ts';
import { answerRefused, NO_TEXT } from '../../api/status/refused-answer.ts';
import { isStatusError } from '../../api/status/status.ts';
import { ServiceCallFailed, ServiceRefused, ServiceTooLate } from '../../transport/outgoing/service-client.ts';
import { NoPlace } from './service-places.ts';

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

/** A Status of a failure that is answered says it itself. */
function refusalOf({ status, text, isText }: ServiceRefused): string {
  const answered = objectIn(text);
  if (answered?.kind === 'Status' && answered.status === 'Failure') return textAt(answered, 'message', '');
  return answerRefused(status, isText ? text.slice(0, TEXT_LENGTH_MAX).trim() : NO_TEXT).message;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
