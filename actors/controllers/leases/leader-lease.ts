// Which of several servers does what one is to do: whoever holds a lease and renews it. Each server goes by its own clock: a lease
// is held as long as it was seen to change. Never two lead as long as clocks run at about the same speed, since a leader that
// cannot renew gives up well before others may take over.

import { asObject, asText, partAt } from '../../../api/json/object-fields.ts';
import { microTimeOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import type { ApiObject, Controller, Due, Identity, Plan, Write } from '../controller.ts';

/** The original's. */
const LEASE_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RETRY_MS = 2000;

export interface LeaderLeaseParts {
  readonly clock: Clock;
  readonly dialect: Dialect;
  /** Of the lease in the system namespace, as the dialect spells it. */
  readonly lease: string;
  /** The program whose work it is about. */
  readonly identity: Identity;
  /** Of this start alone. */
  readonly holder: string;
  readonly onChange: (leads: boolean) => void;
}

interface Seen {
  readonly lease: ApiObject;
  readonly changedMs: number;
}

/** There is one key: the lease. */
export class LeaderLease implements Controller {
  readonly name: string;
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 1;
  /** Whoever cannot renew loses the lease soon, and nobody does the work until it is taken again. */
  readonly backoffMaxMs = RETRY_MS;
  readonly #parts: LeaderLeaseParts;
  readonly #due: Due;
  readonly #group: string;
  readonly #namespace: string;
  readonly #lease: string;
  #seen: Seen | undefined;
  #triedMs = 0;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #leads = false;

  constructor(due: Due, parts: LeaderLeaseParts) {
    const { dialect } = parts;
    this.#parts = parts;
    this.#due = due;
    this.#lease = dialect.spell(parts.lease);
    this.name = `leader-of-${this.#lease}`;
    this.identity = parts.identity;
    this.#group = dialect.spell('coordination.@group');
    this.#namespace = dialect.systemNamespace;
    this.wants = [`${this.#group}/leases`];
  }

  /** Whether this server leads now; a leader that could not renew in time ends here. To be asked every second or so. */
  check(): boolean {
    if (this.#leads && this.#parts.clock.monotonicMs() - this.#renewedMs > RENEW_DEADLINE_MS) this.#lead(false);
    return this.#leads;
  }

  reset(): void {
    this.#seen = undefined;
  }

  onEvent(event: FeedEvent): void {
    if (event.namespace !== this.#namespace || event.name !== this.#lease) return;
    this.#seen =
      event.type === 'delete' ? undefined : { lease: event.object(), changedMs: this.#parts.clock.monotonicMs() };
    const holder = asText(partAt(this.#seen?.lease ?? {}, 'spec').holderIdentity);
    if (holder !== this.#parts.holder && holder !== '') this.#lead(false);
    if (!this.#leads) this.#due.add(this.#lease);
  }

  onSynced(): void {
    this.#due.add(this.#lease);
  }

  plan(): Plan {
    const now = this.#parts.clock.monotonicMs();
    const spec = partAt(this.#seen?.lease ?? {}, 'spec');
    const holder = asText(spec.holderIdentity);
    const isOurs = holder === this.#parts.holder;
    const isHeld = this.#seen !== undefined && holder !== '' && now - this.#seen.changedMs < LEASE_MS;
    if (isOurs && this.#leads && now - this.#renewedMs < RETRY_MS) return { writes: [], againAfterMs: RETRY_MS };
    if (!isOurs && isHeld) return { writes: [], againAfterMs: RETRY_MS };
    this.#triedMs = now;
    return { writes: [this.#claim(spec, isOurs)], againAfterMs: RETRY_MS };
  }

  onOutcome(_key: string, _write: Write, { ok }: { readonly ok: boolean }): void {
    if (!ok) return;
    // As of when it was begun: the others count from when it was written at the earliest.
    this.#renewedMs = this.#triedMs;
    // One that comes so late that others may have taken over is no news of who leads.
    const tookMs = this.#parts.clock.monotonicMs() - this.#renewedMs;
    if (tookMs <= RENEW_DEADLINE_MS) this.#lead(true);
    // Else what was just won would be given up again before the next renewal.
    if (tookMs >= RETRY_MS) this.#due.add(this.#lease);
  }

  /** Lets the others know that nobody leads. */
  onStop(): readonly Write[] {
    const stored = this.#seen?.lease;
    const spec = partAt(stored ?? {}, 'spec');
    if (stored === undefined || asText(spec.holderIdentity) !== this.#parts.holder) return [];
    this.#lead(false);
    const body = { ...stored, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } };
    return [{ verb: 'update', target: this.#target(this.#lease), body }];
  }

  #claim(spec: Readonly<Record<string, unknown>>, isOurs: boolean): Write {
    const renewTime = microTimeOf(this.#parts.clock.nowMs());
    const transitions = Number(spec.leaseTransitions ?? 0);
    const next = {
      holderIdentity: this.#parts.holder,
      leaseDurationSeconds: LEASE_MS / 1000,
      acquireTime: isOurs ? asText(spec.acquireTime) || renewTime : renewTime,
      renewTime,
      leaseTransitions: this.#seen === undefined ? 0 : transitions + (isOurs ? 0 : 1),
    };
    const stored = this.#seen?.lease;
    // The version that comes with it is a precondition: of two that take over one does.
    if (stored !== undefined) {
      return { verb: 'update', target: this.#target(this.#lease), body: { ...asObject(stored), spec: next } };
    }
    const metadata = { name: this.#lease, namespace: this.#namespace };
    const body = { apiVersion: `${this.#group}/v1`, kind: 'Lease', metadata, spec: next };
    return { verb: 'create', target: this.#target(''), body };
  }

  #lead(leads: boolean): void {
    if (this.#leads === leads) return;
    this.#leads = leads;
    this.#parts.onChange(leads);
  }

  #target(name: string): WriteTarget {
    return { group: this.#group, version: 'v1', resource: 'leases', subresource: '', namespace: this.#namespace, name };
  }
}
