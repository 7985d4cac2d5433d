// Deletes certificate requests that nobody needs any more: an hour after they were signed, denied or failed, a day after they
// were made when nobody decided about them, and when their certificate has expired.
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { expiryOf } from '../../../transport/tls/certificates.ts';
import type { ApiObject, Controller, Due, Plan } from '../controller.ts';
import { DatedDeletions } from '../dated-deletions.ts';
import { controllerIdentity } from '../identities.ts';
import {
  certificateOf,
  createdMs,
  decidedMs,
  hasConditions,
  requestsStorageKey,
  requestTarget,
} from './certificate-requests.ts';

const HOUR_MS = 3600 * 1000;
const DECIDED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;

/** The cleaner of certificate requests. Keys are their names. */
export class CertificateCleanup implements Controller {
  readonly name = 'certificate-cleanup';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 5;
  readonly #dialect: Dialect;
  readonly #dated: DatedDeletions;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'certificate-controller');
    this.wants = [requestsStorageKey(dialect)];
    this.#dialect = dialect;
    this.#dated = new DatedDeletions(clock, due);
  }

  reset(): void {
    this.#dated.clear();
  }

  onEvent(event: FeedEvent): void {
    this.#dated.delete(event.name);
    if (event.type === 'delete') return;
    const request = event.object();
    const endMs = endOf(request);
    if (endMs === Number.POSITIVE_INFINITY) return;
    const preconditions = { resourceVersion: String(event.revision) };
    this.#dated.add(event.name, { endMs, target: requestTarget(request, this.#dialect), preconditions });
  }

  onSynced(): void {
    this.#dated.onSynced();
  }

  plan(key: string): Plan {
    return this.#dated.plan(key);
  }
}

/** When a request is to go; infinite for one that was approved and is still to be signed. */
function endOf(request: ApiObject): number {
  const certificate = certificateOf(request);
  const approvedMs = certificate === '' ? undefined : decidedMs(request, 'Approved');
  const ends = [approvedMs, decidedMs(request, 'Denied'), decidedMs(request, 'Failed')]
    .filter((time) => time !== undefined)
    .map((time) => time + DECIDED_MS);
  if (!hasConditions(request)) ends.push(createdMs(request) + PENDING_MS);
  if (approvedMs !== undefined) ends.push(expiryOf(certificate));
  return Math.min(...ends);
}
