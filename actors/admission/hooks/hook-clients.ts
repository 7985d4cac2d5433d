// The clients that webhooks are called by: one for each place and set of authorities, as long as a configuration names it, so that
// connections are kept from one call to the next.
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type {
  CredentialsByService,
  ServiceConnection,
  ServiceCredentials,
} from '../../../transport/outgoing/connection-file.ts';
import type { EgressWays } from '../../../transport/outgoing/egress.ts';
import { webhookCalls } from '../../../transport/outgoing/rest-client-metrics.ts';
import type { MakeWebhookClient, WebhookClient } from '../../../transport/outgoing/service-client.ts';
import { connectionToItself, type OwnService } from '../../outside/own-service.ts';
import type { Hook, HookAddress } from './hook.ts';
import { isOwnHook, urlOf } from './hook-address.ts';

const HTTPS_PORT = '443';

/** What we call ourselves to webhooks. */
function callerIn(dialect: Dialect): string {
  return dialect.spell('@short-apiserver-admission');
}

/** What webhooks are shown of us. */
export interface HookCredentials {
  readonly byService: CredentialsByService | undefined;
  /** Where that says nothing. */
  readonly standard: ServiceCredentials;
  /** The ways out: to services of the cluster, and to addresses. */
  readonly egress: EgressWays;
  readonly dialect: Dialect;
  /** The server itself, which is shown something else; absent: it cannot be asked by itself. */
  readonly ownService: OwnService | undefined;
}

/** What of a webhook makes a client. */
type CalledHook = Pick<Hook, 'address' | 'caPem' | 'timeoutMs'>;

export class HookClients {
  readonly #credentials: HookCredentials;
  readonly #environment: Pick<ActorContext, 'clock' | 'disk' | 'log' | 'metrics'>;
  readonly #makeClient: MakeWebhookClient;
  readonly #clients = new Map<string, WebhookClient>();
  /** As they were found last. One that is retired still serves those that hold what is no longer configured. */
  readonly #found = new WeakMap<CalledHook, WebhookClient>();

  constructor(
    credentials: HookCredentials,
    environment: Pick<ActorContext, 'clock' | 'disk' | 'log' | 'metrics'>,
    makeClient: MakeWebhookClient,
  ) {
    this.#makeClient = makeClient;
    this.#credentials = credentials;
    this.#environment = environment;
  }

  of(hook: CalledHook): WebhookClient {
    const found = this.#found.get(hook);
    if (found !== undefined) return found;
    const key = keyOf(hook);
    const client = this.#clients.get(key) ?? this.#make(hook);
    this.#clients.set(key, client);
    this.#found.set(hook, client);
    return client;
  }

  /** Forgets the clients of all but these webhooks. */
  keepOnly(hooks: readonly CalledHook[]): void {
    const kept = new Set(hooks.map(keyOf));
    for (const [key, client] of this.#clients) {
      if (kept.has(key)) continue;
      this.#clients.delete(key);
      client.retire();
    }
  }

  #shownTo(address: HookAddress): Partial<ServiceConnection> & ServiceCredentials {
    const { byService, standard, dialect, ownService } = this.#credentials;
    if (ownService !== undefined && isOwnHook(dialect, address)) return connectionToItself(ownService);
    return credentialsFor(byService, hostOf(address)) ?? standard;
  }

  #make({ address, caPem, timeoutMs }: CalledHook): WebhookClient {
    const { egress, dialect } = this.#credentials;
    const { clock, disk, log, metrics } = this.#environment;
    return this.#makeClient({
      connection: {
        url: calledUrl(address, timeoutMs),
        caPem,
        insecure: false,
        serverName: 'url' in address ? '' : `${address.service}.${address.namespace}.svc`,
        way: 'url' in address ? egress.controlplane : egress.cluster,
        ...this.#shownTo(address),
      },
      readFile: (path) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: (problem) => log.warn(`what was replaced is not used for webhooks: ${problem}`),
      userAgent: callerIn(dialect),
      ...webhookCalls(metrics, urlOf(address)),
    });
  }
}

function keyOf({ address, caPem, timeoutMs }: CalledHook): string {
  return JSON.stringify([address, timeoutMs, caPem]);
}

/** The address that is asked, which says how long it is waited for, in whole seconds. */
export function calledUrl(address: HookAddress, timeoutMs: number): string {
  const url = new URL(urlOf(address));
  url.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`);
  // A service is named with its port, which a URL leaves out where it is the usual one.
  return 'url' in address ? url.href : `https://${hostOf(address)}${url.pathname}${url.search}`;
}

/** Host and port; of an address without a port the host alone. */
function hostOf(address: HookAddress): string {
  return 'url' in address ? new URL(address.url).host : `${address.service}.${address.namespace}.svc:${address.port}`;
}

/** The user that a file names after a host, with its port or (443) without, itself before any `*.` of a domain. */
function credentialsFor(file: CredentialsByService | undefined, host: string): ServiceCredentials | undefined {
  if (file === undefined) return undefined;
  const bare = host.endsWith(`:${HTTPS_PORT}`) ? host.slice(0, -HTTPS_PORT.length - 1) : host;
  for (const name of [...namesOf(host), ...(bare === host ? [] : namesOf(bare)), '*']) {
    const found = file.users[name];
    if (found !== undefined) return found;
  }
  return file.standard;
}

/** `a.b.c`, `*.b.c`, `*.c`. */
function namesOf(host: string): readonly string[] {
  const labels = host.split('.');
  return labels.map((_, from) => (from === 0 ? host : `*.${labels.slice(from).join('.')}`));
}
