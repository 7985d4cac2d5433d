// Why a call of a webhook came to nothing, as its caller is told: of a webhook of admission, or one that converts.
import { isStatusError } from '../../../../api/status/status.ts';
import { ServiceCallFailed } from '../../../../transport/outgoing/service-client.ts';
import { NoPlace } from '../../../service-places.ts';

/** What is told of a failure; undefined for one that is not the webhook's. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof ServiceCallFailed || error instanceof NoPlace) return error.message;
  if (isStatusError(error)) return error.status.message ?? '';
  // A bundle of authorities that is none, found when a connection is made.
  return error instanceof Error && 'code' in error
    ? `the service could not be reached (${String(error.code)})`
    : undefined;
}
