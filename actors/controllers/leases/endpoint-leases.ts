// Which servers of a shared store are there (`--endpoint-reconciler-type lease`): each keeps a lease that says its address, and
// goes by its own clock: a lease counts from when it was seen to change, so that clocks need not agree. A lease that nobody
// renews is removed by any server.
import { asText, partAt } from '../../../api/json/object-fields.ts';
import { microTimeOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan, type Write } from '../controller.ts';
import { apiServerIdentity } from '../identities.ts';
import { ComponentLeases } from './component-leases.ts';

const RENEW_MS = 5000;
/** The original's: an address stays for so long after its server was last heard of. */
const LIVE_MS = 15_000;
const REMOVE_MS = 60_000;

interface Seen {
  readonly lease: ApiObject;
  readonly revision: number;
  /** When it was seen to change, by this server's clock. */
  readonly changedMs: number;
}

/** Keys are names of leases in the system namespace. */
export class EndpointLeases implements Controller {
  readonly name = 'endpoint-leases';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 4;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #address: string;
  readonly #component: ComponentLeases;
  readonly #leases = new Map<string, Seen>();
  #renewedMs = Number.NEGATIVE_INFINITY;

  /** `address`: at which others reach this server. */
  constructor(clock: Clock, due: Due, dialect: Dialect, address: string) {
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#address = address;
    const component = dialect.spell('@short-apiserver-endpoint');
    this.#component = new ComponentLeases(dialect, component, address.replaceAll(':', '-'));
    this.wants = [this.#component.storageKey];
  }

  /** The addresses of the servers that are there, this one among them, in order. */
  live(): readonly string[] {
    const now = this.#clock.monotonicMs();
    const addresses = new Set([this.#address]);
    for (const { lease, changedMs } of this.#leases.values()) {
      const address = asText(partAt(lease, 'spec').holderIdentity);
      if (now - changedMs <= LIVE_MS && address !== '') addresses.add(address);
    }
    return [...addresses].sort();
  }

  reset(): void {
    this.#leases.clear();
  }

  onEvent(event: FeedEvent): void {
    if (!this.#component.isNear(event)) return;
    const { own } = this.#component;
    const { name, revision } = event;
    if (event.type === 'delete') {
      this.#leases.delete(name);
      if (name === own) this.#due.add(name);
      return;
    }
    const lease = this.#component.shownBy(event);
    if (lease === undefined) return;
    this.#leases.set(name, { lease, revision, changedMs: this.#clock.monotonicMs() });
    if (name !== own) this.#due.add(name);
  }

  onSynced(): void {
    this.#due.add(this.#component.own);
    for (const name of this.#leases.keys()) this.#due.add(name);
  }

  plan(name: string): Plan {
    return name === this.#component.own ? this.#renewal() : this.#removal(name);
  }

  onOutcome(name: string, _write: Write, { ok }: { readonly ok: boolean }): void {
    if (name === this.#component.own && ok) this.#renewedMs = this.#clock.monotonicMs();
  }

  /** A server that stops is not waited for. */
  onStop(): readonly Write[] {
    return this.#leases.has(this.#component.own) ? [this.#component.end()] : [];
  }

  #renewal(): Plan {
    const stored = this.#leases.get(this.#component.own)?.lease;
    const leftMs = this.#renewedMs + RENEW_MS - this.#clock.monotonicMs();
    if (stored !== undefined && leftMs > 0) return { writes: [], againAfterMs: leftMs };
    const renewTime = microTimeOf(this.#clock.nowMs());
    const spec = { holderIdentity: this.#address, leaseDurationSeconds: LIVE_MS / 1000, renewTime };
    return { writes: [this.#component.renewal(stored, spec)], againAfterMs: RENEW_MS };
  }

  #removal(name: string): Plan {
    const seen = this.#leases.get(name);
    if (seen === undefined) return NOTHING;
    const leftMs = seen.changedMs + REMOVE_MS - this.#clock.monotonicMs();
    return leftMs > 0 ? { writes: [], againAfterMs: leftMs } : { writes: [this.#component.removal(name, seen)] };
  }
}
