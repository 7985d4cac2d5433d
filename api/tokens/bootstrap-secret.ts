// What the secret of a bootstrap token says, as those who let its holder in and those who clean it up read it alike.
import { parseInstant } from '../codec/timestamp.ts';

/** When a token ends, of the text in its secret; infinite for an empty one. What is no moment of RFC 3339 has been. */
export function tokenEndMs(expiration: string): number {
  if (expiration === '') return Number.POSITIVE_INFINITY;
  const instant = parseInstant(expiration);
  return instant === undefined ? 0 : instant.seconds * 1000 + Math.trunc(instant.nanos / 1_000_000);
}
