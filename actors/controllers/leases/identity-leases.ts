// The lease of this server's identity, under the gate APIServerIdentity: one a start, renewed as long as the server runs, and
// removed by any server once nobody has renewed it for as long as it holds. SPEC.md, "API server options (remaining)".
import { asText, partAt } from '../../../api/json/object-fields.ts';
import { microTimeOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { apiServerIdentity } from '../identities.ts';
import { ComponentLeases } from './component-leases.ts';

/** The options of the leases, and what tells this start from others. */
export interface IdentityLeaseSettings {
  readonly durationSeconds: number;
  readonly renewIntervalSeconds: number;
  /** A UUID. */
  readonly uid: string;
}

/** Renews this start's lease and removes those that nobody renews. Keys are names of leases in the system namespace. */
export class IdentityLeases implements Controller {
  readonly name = 'identity-leases';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 4;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #settings: IdentityLeaseSettings;
  /** Those of servers, of which this start's is the own one. */
  readonly component: ComponentLeases;
  readonly #leases = new Map<string, { readonly lease: ApiObject; readonly revision: number }>();
  #renewedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, due: Due, dialect: Dialect, settings: IdentityLeaseSettings) {
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#settings = settings;
    this.component = new ComponentLeases(dialect, dialect.spell('@short-apiserver'), settings.uid);
    this.wants = [this.component.storageKey];
  }

  reset(): void {
    this.#leases.clear();
  }

  onEvent(event: FeedEvent): void {
    if (!this.component.isNear(event)) return;
    const { own } = this.component;
    const { name } = event;
    if (event.type === 'delete') {
      this.#leases.delete(name);
      if (name === own) this.#renewedMs = Number.NEGATIVE_INFINITY;
    } else {
      const lease = this.component.shownBy(event);
      if (lease === undefined) return;
      this.#leases.set(name, { lease, revision: event.revision });
    }
    if (name !== own || event.type === 'delete') this.#due.add(name);
  }

  onSynced(): void {
    this.#due.add(this.component.own);
    for (const name of this.#leases.keys()) this.#due.add(name);
  }

  plan(name: string): Plan {
    return name === this.component.own ? this.#renewal() : this.#removal(name);
  }

  onOutcome(name: string, _write: Write, { ok }: WriteOutcome): void {
    if (name === this.component.own && ok) this.#renewedMs = this.#clock.monotonicMs();
  }

  #renewal(): Plan {
    const intervalMs = this.#settings.renewIntervalSeconds * 1000;
    const leftMs = this.#renewedMs + intervalMs - this.#clock.monotonicMs();
    if (leftMs > 0) return { writes: [], againAfterMs: leftMs };
    const stored = this.#leases.get(this.component.own)?.lease;
    const now = microTimeOf(this.#clock.nowMs());
    const spec = {
      holderIdentity: this.component.own,
      leaseDurationSeconds: this.#settings.durationSeconds,
      acquireTime: asText(partAt(stored ?? {}, 'spec').acquireTime) || now,
      renewTime: now,
    };
    return { writes: [this.component.renewal(stored, spec)], againAfterMs: intervalMs };
  }

  #removal(name: string): Plan {
    const known = this.#leases.get(name);
    if (known === undefined) return NOTHING;
    const { renewTime, leaseDurationSeconds } = partAt(known.lease, 'spec');
    const endsMs = Date.parse(asText(renewTime)) + 1000 * Number(leaseDurationSeconds);
    const leftMs = endsMs - this.#clock.nowMs();
    // One that does not say until when it holds is over.
    return leftMs >= 0 ? { writes: [], againAfterMs: leftMs + 1 } : { writes: [this.component.removal(name, known)] };
  }
}
