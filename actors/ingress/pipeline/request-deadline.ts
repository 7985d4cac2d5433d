// How long a client gives its own request (`?timeout=10s`): a bound below the server's, and what a text that is none is told.
import type { Query } from '../../../api/requests/query.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { durationProblem, parseDurationMs } from '../../../values/duration.ts';

const INVALID = 'invalid timeout specified in the request URL';

/**
 * Milliseconds that the request may take, where that is less than `mostMs`; undefined otherwise, as for 0, which asks for
 * no limit. Throws StatusError 400.
 */
export function askedTimeoutMs(query: Query, mostMs: number): number | undefined {
  const text = query.get('timeout');
  if (text === undefined || text === '') return undefined;
  const timeoutMs = parseDurationMs(text);
  if (timeoutMs === undefined) throw new StatusError(badRequest(`${INVALID} - time: ${durationProblem(text)}`));
  if (timeoutMs < 0) throw new StatusError(badRequest(`${INVALID} - timeout duration can not be negative`));
  return timeoutMs > 0 && timeoutMs < mostMs ? timeoutMs : undefined;
}
