// Deletes certificate requests that nobody needs any more: an hour after they were signed, denied or failed, a day after they
// were made when nobody decided about them, and when their certificate has expired.
import { X509Certificate } from 'node:crypto';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, deletionOf, NOTHING, type Plan } from '../controller.ts';
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

interface Dated {
  readonly endMs: number;
  readonly revision: number;
  readonly target: ReturnType<typeof requestTarget>;
}

/** The cleaner of certificate requests. Keys are their names. */
export class CertificateCleanup implements Controller {
  readonly name = 'certificate-cleanup';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 5;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #dialect: Dialect;
  readonly #dated = new Map<string, Dated>();

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'certificate-controller');
    this.wants = [requestsStorageKey(dialect)];
    this.#clock = clock;
    this.#due = due;
    this.#dialect = dialect;
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
    this.#dated.set(event.name, { endMs, revision: event.revision, target: requestTarget(request, this.#dialect) });
    this.#due.add(event.name);
  }

  onSynced(): void {
    for (const name of this.#dated.keys()) this.#due.add(name);
  }

  // The revision is a precondition: a request that was decided about meanwhile has another end.
  plan(key: string): Plan {
    const dated = this.#dated.get(key);
    if (dated === undefined) return NOTHING;
    const { endMs, revision, target } = dated;
    const leftMs = endMs - this.#clock.nowMs();
    if (leftMs > 0) return { writes: [], againAfterMs: leftMs };
    return { writes: [deletionOf(target, { resourceVersion: String(revision) })] };
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

function expiryOf(pem: string): number {
  try {
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    // Whoever signed it wrote something else: it does not say when it ends.
    return Number.POSITIVE_INFINITY;
  }
}
