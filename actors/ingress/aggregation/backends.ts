// The servers that answer for groups of their own: where each is at the moment, and the connections to it, which are kept as long
// as its APIService says the same.
import type { RemoteApiService } from '../../../api/aggregation/api-service.ts';
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import type { Series } from '../../../runtime/metrics/metrics.ts';
import type { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import type { AgentTarget, AgentTls } from '../../../transport/outgoing/agent-address.ts';
import { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import type { ServiceCredentials } from '../../../transport/outgoing/connection-file.ts';
import type { EgressWay, OnDial } from '../../../transport/outgoing/egress.ts';
import { egressDials } from '../../../transport/outgoing/egress-metrics.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import { NoPlace, type PlaceFinder, placeOfService } from '../../outside/service-places.ts';
import { PatientTells } from '../../patient-tells.ts';

/** How extension servers are called. Plain data. */
export interface AggregationSettings {
  /** `--enable-aggregator-routing`. */
  readonly callsEndpoints: boolean;
  /** `--proxy-client-cert-file` and its key. */
  readonly shown: Pick<ServiceCredentials, 'certPem' | 'keyPem' | 'files'>;
  /** The way out to members of the cluster; absent: straight. */
  readonly way?: EgressWay | undefined;
}

export interface BackendParts {
  readonly context: ActorContext;
  readonly dialect: Dialect;
  readonly hub: Ref<HubProtocol>;
  readonly slabs: ThreadSlabs;
  readonly remotes: RemoteGroups;
  readonly requestTimeoutMs: number;
  readonly settings: AggregationSettings;
}

/** A server that is called: how, and by what. */
export interface Backend {
  readonly client: AgentClient;
  readonly target: AgentTarget;
}

/** The front-proxy certificate, with its key. */
type ShownPair = Pick<ServiceCredentials, 'certPem' | 'keyPem'>;

const CONNECT_MS = 10_000;
/**
 * Answers come in bursts: with few connections kept, the rest of a burst is closed and every request that follows pays for a
 * handshake, which is many times what it costs to pass it on.
 */
const IDLE_MAX = 256;
const NUMBERS_A_PLACE = 2;

interface Kept {
  readonly caPem: string;
  readonly insecure: boolean;
  readonly client: AgentClient;
}

export class Backends {
  readonly #parts: BackendParts;
  readonly #finder: PlaceFinder;
  readonly #releases: PatientTells<HubProtocol>;
  /** By name. */
  readonly #kept = new Map<string, Kept>();
  readonly #onDial: OnDial;
  readonly #nameless: Series;
  #shown: ShownPair;
  #edition = -1;

  constructor(parts: BackendParts) {
    this.#parts = parts;
    const { context, dialect, hub, settings } = parts;
    this.#shown = settings.shown;
    this.#onDial = egressDials(context.metrics);
    const help = 'Connections to extension servers whose certificates name them in the subject alone.';
    this.#nameless = context.metrics.counter('apiserver_kube_aggregator_x509_missing_san_total', help);
    this.#releases = new PatientTells(hub, context.timers);
    this.#finder = {
      dialect,
      callsEndpoints: settings.callsEndpoints,
      find: (storageKey, namespace, name) => this.find(storageKey, namespace, name),
      list: (storageKey, namespace) => this.#list(storageKey, namespace),
      random: () => context.random.next(),
    };
  }

  /** Where the server is now. Rejects with NoPlace and StatusError. */
  async of(apiService: RemoteApiService): Promise<Backend> {
    const { backend, insecure } = apiService;
    const place = await placeOfService(this.#finder, backend);
    return {
      client: this.#clientOf(apiService),
      target: {
        scheme: 'https',
        ...place,
        trust: insecure ? 'unverifiedAgent' : 'service',
        serverName: `${backend.service}.${backend.namespace}.svc`,
      },
    };
  }

  /** An object as it is now; undefined where there is none. Rejects with NoPlace while nothing of the store is known. */
  async find(storageKey: string, namespace: string, name: string): Promise<JsonObject | undefined> {
    const { hub, slabs, requestTimeoutMs } = this.#parts;
    const answer = await hub.ask(
      { type: 'get', storageKey, namespace, name, freshness: { kind: 'mostRecent' } },
      { deadlineMs: requestTimeoutMs },
    );
    if (answer.refused !== undefined) throw new NoPlace('the store has not been read');
    return answer.place === null ? undefined : slabs.decode(answer.place);
  }

  /** Connections from now on are made with another certificate; requests in progress go on. */
  replaceShown(shown: ShownPair): void {
    this.#shown = shown;
    for (const { caPem, client } of this.#kept.values()) client.replaceTls(this.#tlsFor(caPem));
  }

  /** Ends every connection. */
  close(): void {
    for (const { client } of this.#kept.values()) client.close();
    this.#kept.clear();
  }

  async #list(storageKey: string, namespace: string): Promise<readonly JsonObject[]> {
    const { hub, slabs, requestTimeoutMs } = this.#parts;
    const selection = { storageKey, namespace, labelSelector: '', fieldSelector: '', limit: 0, continueToken: '' };
    const answer = await hub.ask(
      { type: 'list', ...selection, freshness: { kind: 'mostRecent' } },
      { deadlineMs: requestTimeoutMs },
    );
    if (answer.refused !== undefined) throw new NoPlace('the store has not been read');
    const { incarnation, places, pin } = answer;
    try {
      return Array.from({ length: places.length / NUMBERS_A_PLACE }, (_, index) =>
        slabs.decode({ incarnation, slab: places[2 * index]!, offset: places[2 * index + 1]! }),
      );
    } finally {
      if (pin !== 0) this.#releases.tell<'release'>({ type: 'release', pin });
    }
  }

  #clientOf({ name, caPem, insecure }: RemoteApiService): AgentClient {
    this.#dropGone();
    const kept = this.#kept.get(name);
    if (kept?.caPem === caPem && kept.insecure === insecure) return kept.client;
    kept?.client.retire();
    const { way } = this.#parts.settings;
    const client = new AgentClient({
      ...{ tls: this.#tlsFor(caPem), connectTimeoutMs: CONNECT_MS, idleMax: IDLE_MAX, way },
      onDial: this.#onDial,
      onNameless: () => this.#nameless.add(1),
    });
    this.#kept.set(name, { caPem, insecure, client });
    return client;
  }

  #tlsFor(caPem: string): AgentTls {
    const { certPem, keyPem } = this.#shown;
    return { ...(caPem === '' ? {} : { caPem }), ...(certPem === '' ? {} : { certPem, keyPem }) };
  }

  #dropGone(): void {
    const { remotes } = this.#parts;
    if (remotes.edition === this.#edition) return;
    this.#edition = remotes.edition;
    for (const [name, { client }] of this.#kept) {
      if (remotes.named(name) !== undefined) continue;
      this.#kept.delete(name);
      client.retire();
    }
  }
}
