// Signs the certificate requests that were approved, for the signers that every cluster has. What a signer does not sign is
// marked as failed, with the reason, and stays so.

import { requestedParts } from '../../../api/certificates/certificate-request.ts';
import { CertificateAuthority, usagesProblem } from '../../../api/certificates/issue.ts';
import { SIGNER_PROBLEMS } from '../../../api/certificates/signers.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock, Random } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { KeyPair } from '../../../transport/http.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import type { SigningAuthority } from '../options.ts';
import {
  certificateOf,
  isDecided,
  parsedRequest,
  pemOf,
  requestsStorageKey,
  signerNameOf,
  statusWrite,
  usagesOf,
} from './certificate-requests.ts';

/** A year, as `--cluster-signing-duration` of the original has it. */
const VALID_MS = 365 * 24 * 3600 * 1000;
/** A client whose clock is behind accepts a new certificate all the same. */
const BACKDATED_MS = 5 * 60 * 1000;
const SERIAL_BYTES = 16;

/** The certificate signing controller. Keys are names of requests. */
export class CertificateSigning implements Controller {
  readonly name = 'certificate-signing';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 5;
  readonly #environment: { readonly clock: Clock; readonly random: Random };
  readonly #due: Due;
  readonly #dialect: Dialect;
  #authority: CertificateAuthority;
  /** By the full name of the signer. */
  readonly #problems: ReadonlyMap<string, (typeof SIGNER_PROBLEMS)[string]>;
  /** Approved, and neither signed nor failed. */
  readonly #waiting = new Map<string, ApiObject>();

  constructor(
    environment: { readonly clock: Clock; readonly random: Random },
    due: Due,
    dialect: Dialect,
    authority: SigningAuthority,
  ) {
    this.identity = controllerIdentity(dialect, 'certificate-controller');
    this.wants = [requestsStorageKey(dialect)];
    this.#environment = environment;
    this.#due = due;
    this.#dialect = dialect;
    this.#authority = new CertificateAuthority(authority);
    this.#problems = new Map(Object.entries(SIGNER_PROBLEMS).map(([name, rule]) => [dialect.spell(name), rule]));
  }

  /** Signs with this pair from now on. Throws where it is none. */
  replaceAuthority(pair: KeyPair): void {
    this.#authority = new CertificateAuthority(pair);
  }

  reset(): void {
    this.#waiting.clear();
  }

  onEvent(event: FeedEvent): void {
    this.#waiting.delete(event.name);
    if (event.type === 'delete') return;
    const request = event.object();
    const isWaiting = isDecided(request, 'Approved') && !isDecided(request, 'Failed') && certificateOf(request) === '';
    if (!isWaiting || !this.#problems.has(signerNameOf(request))) return;
    this.#waiting.set(event.name, request);
    this.#due.add(event.name);
  }

  onSynced(): void {
    for (const name of this.#waiting.keys()) this.#due.add(name);
  }

  plan(key: string): Plan {
    const request = this.#waiting.get(key);
    if (request === undefined) return NOTHING;
    const problem = this.#problemOf(request);
    const more =
      problem === ''
        ? { certificate: this.#certificate(request) }
        : { condition: { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: problem } };
    return { writes: [statusWrite(request, this.#dialect, 'status', more)] };
  }

  #problemOf(request: ApiObject): string {
    const { notAfterMs } = this.#authority;
    // A start makes a new authority. Requesters ask anew of a request that failed; one that waits is asked for by nobody.
    if (this.#environment.clock.nowMs() >= notAfterMs)
      return `the signer has expired: NotAfter=${new Date(notAfterMs).toISOString()}`;
    const parsed = parsedRequest(request);
    if (parsed === undefined) return 'PEM block type must be CERTIFICATE REQUEST';
    const usages = usagesOf(request);
    const rule = this.#problems.get(signerNameOf(request))!;
    return rule(parsed, usages) || usagesProblem(usages);
  }

  /** No certificate outlives the authority that vouches for it. */
  #certificate(request: ApiObject): string {
    const { clock, random } = this.#environment;
    const nowMs = clock.nowMs();
    return this.#authority.issue(requestedParts(pemOf(request))!, usagesOf(request), {
      notBefore: new Date(nowMs - BACKDATED_MS),
      notAfter: new Date(Math.min(nowMs + VALID_MS - BACKDATED_MS, this.#authority.notAfterMs)),
      random: random.bytes(SERIAL_BYTES),
    });
  }
}
