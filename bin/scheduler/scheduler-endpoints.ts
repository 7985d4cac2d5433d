// What a scheduler serves about itself (SPEC.md "Scheduler endpoints"): health, metrics and its configuration; over HTTPS to who
// may, and in plain HTTP, which is deprecated, to everyone who reaches the port.
import type { Logger } from 'pino';
import { FilterFailed, filterFailure } from '../../actors/ingress/exchange/filter-failed.ts';
import {
  type HealthFindings,
  type HealthReport,
  reportOf,
  reportOfOne,
} from '../../actors/ingress/paths/health-report.ts';
import { BrowserRules } from '../../actors/ingress/pipeline/browser-rules.ts';
import { ServingTls } from '../../actors/ingress/serving-tls.ts';
import type { SchedulerConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import { SCHEDULER_RELEASE } from '../../config/cross-checks.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { MetricsRegistry } from '../../runtime/metrics/metrics-registry.ts';
import { metricsRules, shownReadings } from '../../runtime/metrics/metrics-rules.ts';
import { processMetrics } from '../../runtime/metrics/process-metrics.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import {
  HEADER_BYTES_MAX,
  type HttpRequest,
  type HttpResponse,
  type Listener,
  type RequestHandler,
} from '../../transport/http.ts';
import { openNodeListener } from '../../transport/node/listener.ts';
import { handshakeErrors } from '../../transport/tls/handshake-errors.ts';
import { bracketed, isEveryAddress } from '../../values/host-text.ts';
import { warn } from '../command-line/print-lines.ts';
import { buildInfo } from '../version.ts';
import { type ClientAuthorities, pemOf, SchedulerAccess } from './scheduler-access.ts';
import { clientAuthorities, clusterAuthorities, ownAuthorities } from './scheduler-authorities.ts';
import { type MakePage, type Page, profilePages } from './scheduler-profiles.ts';
import { ReplacedAuthorities } from './scheduler-replaced.ts';
import { schedulerTls } from './scheduler-tls.ts';

const IDLE_SECONDS = 60;
const TEXT = 'text/plain; charset=utf-8';

export interface SchedulerEndpointsParts {
  readonly options: SchedulerOptions;
  readonly configuration: SchedulerConfiguration;
  /** The configuration as a file has it. */
  readonly written: object;
  readonly metrics: MetricsRegistry;
  readonly log: Logger;
  /** Empty where the scheduler is well, else what is not. */
  readonly health: () => string;
  /** Metrics of what pods request. Rejects where nobody can tell. */
  readonly podResources: () => Promise<string>;
}

type Pages = Readonly<Record<string, MakePage>>;

export class SchedulerEndpoints {
  readonly #parts: SchedulerEndpointsParts;
  readonly #listeners: Listener[] = [];
  /** Of the one thread, whatever they are asked for on. */
  #profilePages: Pages | undefined;
  /** What is looked at from time to time. */
  readonly #followers: { stop(): void }[] = [];

  constructor(parts: SchedulerEndpointsParts) {
    this.#parts = parts;
  }

  /** Answers where what is served, one line each. Rejects with OrchError BadConfiguration. */
  async open(): Promise<readonly string[]> {
    const secure = await this.#openSecure();
    return [...secure, ...(await this.#openPlain())];
  }

  async close(): Promise<void> {
    for (const follower of this.#followers) follower.stop();
    for (const listener of this.#listeners) listener.stopAccepting();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  async #openSecure(): Promise<readonly string[]> {
    const { options, metrics, log } = this.#parts;
    if (options.securePort === 0) return [];
    const own = ownAuthorities(options);
    const cluster = await clusterAuthorities(options, warn);
    const authorities = clientAuthorities(options, own, cluster);
    let access = new SchedulerAccess(options, authorities, metrics);
    const { tls: first, files } = await schedulerTls(options, pemOf(authorities));
    const serving = new ServingTls({ ...realEnvironment, log }, files, first);
    this.#followers.push(serving);
    const tls = await serving.read();
    const rules = await browserRules(options);
    const answer = pagesHandler(this.#pages(true, true));
    const { http2MaxStreamsPerConnection: streams } = options;
    const failedHandshakes = handshakeErrors(metrics);
    const port = await this.#listen(options.bindAddress, options.securePort, {
      tls,
      sharedPort: options.permitPortSharing,
      ownHeaders: rules.transport,
      onHandshakeError: () => failedHandshakes.add(1),
      ...(streams > 0 ? { streamsPerConnectionMax: streams } : {}),
      handler: (request, response) => {
        const passed = rules.apply(request, response);
        return passed === undefined ? undefined : guarded(access, request, passed, answer);
      },
    });
    await serving.follow(this.#listeners.at(-1)!, tls);
    const take = async (others: ClientAuthorities): Promise<void> => {
      const next = new SchedulerAccess(options, others, metrics);
      await serving.ask(pemOf(others));
      access.retire();
      access = next;
    };
    const replaced = new ReplacedAuthorities({ options, own, cluster, log, take });
    this.#followers.push(replaced);
    await replaced.start();
    return [`address https://${hostOf(options.bindAddress)}:${port}`];
  }

  /** Health and metrics may be asked for on two addresses, or on one. */
  async #openPlain(): Promise<readonly string[]> {
    const { healthzBindAddress: health, metricsBindAddress: metrics } = this.#parts.configuration;
    const addresses = [...new Set([health, metrics])].filter((address) => address !== '' && !address.endsWith(':0'));
    const lines: string[] = [];
    for (const address of addresses) {
      const { host, port } = placeOf(address);
      const handler = pagesHandler(this.#pages(address === health, address === metrics));
      const open = await this.#listen(host, port, { handler, sharedPort: false });
      lines.push(`plain http://${hostOf(host)}:${open}`);
    }
    return lines;
  }

  #profiles(): Pages {
    this.#profilePages ??= profilePages();
    return this.#profilePages;
  }

  async #listen(
    host: string,
    port: number,
    options: Omit<Parameters<typeof openNodeListener>[0], 'host' | 'port' | 'headerBytesMax' | 'idleTimeoutSeconds'>,
  ): Promise<number> {
    const { log } = this.#parts;
    const listener = await openNodeListener({
      host,
      port,
      headerBytesMax: HEADER_BYTES_MAX,
      idleTimeoutSeconds: IDLE_SECONDS,
      onError: (err) => log.error({ err }, 'a request could not be answered'),
      ...options,
    });
    this.#listeners.push(listener);
    return listener.port;
  }

  #pages(withHealth: boolean, withMetrics: boolean): Pages {
    const { options, configuration, health, metrics, podResources, written } = this.#parts;
    const rules = metricsRules(options, SCHEDULER_RELEASE);
    return {
      ...(withHealth ? healthPages(health) : {}),
      ...(withMetrics
        ? {
            '/metrics': async () => {
              // It brings its library along.
              const { METRICS_CONTENT_TYPE, renderMetrics } = await import('../../transport/metrics-text.ts');
              const { buildMetric } = await import('../../actors/ingress/paths/build-metric.ts');
              const { versionDocument } = await import('../../api/discovery/discovery.ts');
              const dialect = DIALECTS[options.apiDialect];
              const build = buildMetric(dialect.brand, versionDocument(dialect, buildInfo()));
              const readings = [metrics.reading(), await processMetrics(), build];
              const body = await renderMetrics(shownReadings(readings, rules));
              return { status: 200, type: METRICS_CONTENT_TYPE, body };
            },
            '/metrics/resources': async () => {
              const { METRICS_CONTENT_TYPE } = await import('../../transport/metrics-text.ts');
              return podResources().then(
                (body) => ({ status: 200, type: METRICS_CONTENT_TYPE, body }),
                (error: unknown) => ({ status: 503, type: TEXT, body: `${(error as Error).message}\n` }),
              );
            },
            '/configz': () => json(200, { componentconfig: written }),
            ...(configuration.enableProfiling ? this.#profiles() : {}),
          }
        : {}),
    };
  }
}

/** All checks, and each by its name. `problem`: what keeps the lock from being held; empty when it is. */
function healthPages(problem: () => string): Pages {
  const checks: Readonly<Record<string, () => string>> = { ping: () => '', leaderElection: problem };
  const endpoints = ['healthz', 'livez', 'readyz'];
  const asked = (query: URLSearchParams): HealthFindings => ({
    names: Object.keys(checks),
    results: new Map(Object.entries(checks).map(([name, check]) => [name, check()])),
    excluded: new Set(query.getAll('exclude')),
    verbose: query.has('verbose'),
  });
  return Object.fromEntries(
    endpoints.flatMap((endpoint): [string, MakePage][] => [
      [`/${endpoint}`, (query) => healthPage(reportOf(endpoint, asked(query)))],
      ...Object.entries(checks).map(([name, check]): [string, MakePage] => [
        `/${endpoint}/${name}`,
        () => healthPage(reportOfOne(name, check())),
      ]),
    ]),
  );
}

function healthPage({ healthy, text }: HealthReport): Page {
  return { status: healthy ? 200 : 500, type: TEXT, body: text };
}

function json(status: number, value: object): Page {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}

async function guarded(
  access: SchedulerAccess,
  request: HttpRequest,
  response: HttpResponse,
  answer: RequestHandler,
): Promise<void> {
  const refusal = await access.refusal(request);
  if (refusal === undefined) return answer(request, response);
  if (refusal instanceof FilterFailed)
    return send(response, { status: 500, type: TEXT, body: filterFailure(request, refusal) });
  send(response, json(refusal.code ?? 500, refusal));
}

function pagesHandler(pages: Pages): RequestHandler {
  return async (request, response) => {
    const make = Object.hasOwn(pages, request.path) ? pages[request.path] : undefined;
    if (make === undefined) return send(response, { status: 404, type: TEXT, body: '404 page not found\n' });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return send(response, { status: 405, type: TEXT, body: 'Method Not Allowed\n' });
    }
    send(response, await make(new URLSearchParams(request.query), response));
  };
}

function send(response: HttpResponse, { status, type, body, headers: more = [] }: Page): void {
  const headers = [
    ['Content-Type', type],
    ['X-Content-Type-Options', 'nosniff'],
    ['Cache-Control', 'no-cache, private'],
    ...more,
  ] as const;
  response.respond(status, headers, body);
}

async function browserRules(options: SchedulerOptions): Promise<BrowserRules> {
  const { strictTransportSecurityDirectives: transportDirectives, corsAllowedOrigins } = options;
  if (corsAllowedOrigins.length === 0) return new BrowserRules({ transportDirectives, allowsOrigin: undefined });
  const { OriginPatterns } = await import('../../transport/origin-patterns.ts');
  const patterns = new OriginPatterns(corsAllowedOrigins);
  return new BrowserRules({ transportDirectives, allowsOrigin: (origin) => patterns.allow(origin) });
}

/** `0.0.0.0:10251`, `[::1]:10251`. */
function placeOf(address: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(address) ?? [];
  if (port === undefined) throw new OrchError('BadConfiguration', `${address} is no address with a port`);
  return { host: bracketed ?? (plain === '' ? '0.0.0.0' : plain!), port: Number(port) };
}

function hostOf(host: string): string {
  return bracketed(isEveryAddress(host) ? '127.0.0.1' : host);
}
