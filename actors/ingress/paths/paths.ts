// Everything that is not a resource: discovery, version, OpenAPI, health, metrics. A table of paths; what stands in none is
// a 404.
import type { Discovery } from '../../../api/discovery/discovery.ts';
import type { NonResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { methodNotAllowed } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
import { ownTurn } from '../../../runtime/next-turn.ts';
import type { AuthProtocol } from '../../auth/protocol.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { DUMPS, mergedDump } from '../fairness/dump.ts';
import { type FlowDump, SNAPSHOT_PATH } from '../protocol.ts';
import { inTime } from '../reads/answer-time.ts';
import { headersFor, sendText } from '../reads/answers.ts';
import type { Representations } from '../reads/representation.ts';
import type { Health, HealthEndpoint } from './health.ts';
import { type MetricsParts, sendMetrics } from './metrics-answer.ts';
import { answerNothingThere } from './nothing-there.ts';
import type { OpenApi } from './openapi.ts';
import { type DebugFlags, isFlagPath } from './profiles/debug-flags.ts';
import { PROFILES_PATH, UNSLASHED_PROFILES_PATH } from './profiles/profile-answers.ts';
import type { Profiles } from './profiles/profiles.ts';
import { SIMULATION_PATH, type SimulationParts, sendSimulation } from './simulation.ts';
import { type SnapshotParts, sendSnapshot } from './store-snapshot.ts';
import { ISSUER_PATHS, serveIssuer } from './token-issuer.ts';

export interface PathParts extends Omit<MetricsParts, 'pause'> {
  readonly timers: Timers;
  readonly health: Health;
  readonly representations: Representations;
  readonly registry: Registry;
  readonly openapi: OpenApi;
  readonly auth: Ref<AuthProtocol>;
  readonly requestTimeoutMs: number;
  readonly snapshot: SnapshotParts;
  readonly simulation: SimulationParts;
  /** What waits and runs on each thread; undefined: nothing ever waits. */
  readonly flows: () => Promise<readonly FlowDump[] | undefined>;
  /** Absent without `--profiling`. */
  readonly profiles: Profiles | undefined;
  /** Likewise. */
  readonly flags: DebugFlags | undefined;
}

const HEALTH_ENDPOINTS: ReadonlySet<string> = new Set<HealthEndpoint>(['healthz', 'livez', 'readyz']);

/** Answers a request; resolves false where there is nothing at the path after all. */
type Serve = (exchange: Exchange, path: string, parts: PathParts) => Promise<unknown>;

const issuer: Serve = (exchange, path, { auth, requestTimeoutMs }) =>
  serveIssuer(exchange, path, auth, requestTimeoutMs);
const openapi3: Serve = (exchange, path, { openapi }) => openapi.serveVersion3(exchange, path);

/** Paths served here besides discovery's; those of health are its own. */
const SERVED: ReadonlyMap<string, Serve> = new Map<string, Serve>([
  ['/metrics', (exchange, _path, parts) => sendMetricsInTime(exchange, parts)],
  ['/openapi/v2', (exchange, _path, { openapi }) => openapi.serve(exchange)],
  ['/openapi/v3', openapi3],
  [SNAPSHOT_PATH, (exchange, _path, { snapshot, timers }) => sendSnapshot(exchange, snapshot, timers)],
  ...ISSUER_PATHS.map((path) => [path, issuer] as const),
]);
const BELOW_OPENAPI3 = '/openapi/v3/';
const ANY_METHOD: ReadonlySet<string> = new Set(['/', '/metrics', '/openapi/v2']);
/** Of a version of the core group, or of another group and perhaps a version, whether there are such or not. */
const BELOW_API = /^\/(?:api|apis\/(?<group>[^/]+))(?:\/(?<version>[^/]*)|$)/;
/** The list of groups, and the groups. */
const GROUP_PATH = /^\/apis(?:\/[^/]+)?\/?$/;
/** Not for HEAD: what it would count is the whole store. */
const GET_ONLY: ReadonlySet<string> = new Set([SNAPSHOT_PATH]);

/** The parameter that has requests described in a dump. */
const DETAILS = 'includeRequestDetails';

/** As OpenAPI spells them, and clients that are made from it: with a slash at the end. */
const SLASHED_PATHS: ReadonlyMap<string, string> = new Map(ISSUER_PATHS.map((path) => [`${path}/`, path]));

/** For the list at `/`. */
export const EXTRA_PATHS: readonly string[] = [...SERVED.keys()];

export class Paths {
  readonly #parts: PathParts;
  /** The documents of discovery, encoded once as long as the types stay the same. */
  readonly #bodies = new Map<string, Uint8Array>();
  #described: Discovery | undefined;

  constructor(parts: PathParts) {
    this.#parts = parts;
  }

  async serve(exchange: Exchange, { path: asked, verb }: NonResourceRequestInfo): Promise<void> {
    const path = SLASHED_PATHS.get(asked) ?? asked;
    const [first = '', ...rest] = path.slice(1).split('/');
    if (path === SIMULATION_PATH) return sendSimulation(exchange, this.#parts.simulation);
    const flags = isFlagPath(path) ? this.#parts.flags : undefined;
    if (flags !== undefined && (await flags.serve(exchange, path, verb))) return;
    if (verb !== 'get' && verb !== 'head' && !this.#takesAnyMethod(path, first)) {
      if (this.#isKnown(path)) throw new StatusError(methodNotAllowed());
      return this.#document(exchange, path);
    }
    if (HEALTH_ENDPOINTS.has(first)) return this.#health(exchange, first as HealthEndpoint, rest);
    if (isProfilePath(path) && verb === 'get') {
      if ((await this.#parts.profiles?.serve(exchange, path)) === true) return;
    }
    const serve = path.startsWith(BELOW_OPENAPI3) ? openapi3 : SERVED.get(path);
    if (DUMPS.has(path) && (await sendDump(exchange, path, this.#parts)) !== false) return;
    if (serve !== undefined && (verb === 'get' || !GET_ONLY.has(path))) {
      if ((await serve(exchange, path, this.#parts)) !== false) return;
    }
    return this.#document(exchange, path);
  }

  /** What is no route of its API, Kubernetes serves whatever the method. */
  #takesAnyMethod(path: string, first: string): boolean {
    if (HEALTH_ENDPOINTS.has(first) || ANY_METHOD.has(path)) return true;
    return GROUP_PATH.test(path) && this.#parts.discovery().document(path) !== undefined;
  }

  #isKnown(path: string): boolean {
    if (SERVED.has(path) || DUMPS.has(path) || path.startsWith(BELOW_OPENAPI3)) return true;
    return isProfilePath(path) || this.#parts.discovery().document(path) !== undefined;
  }

  #document(exchange: Exchange, path: string): void {
    const { representations, registry } = this.#parts;
    const discovery = this.#parts.discovery();
    if (discovery !== this.#described) {
      this.#described = discovery;
      this.#bodies.clear();
    }
    const found = discovery.document(path);
    const asked = found === undefined ? BELOW_API.exec(path)?.groups : undefined;
    if (asked !== undefined) {
      answerNothingThere(exchange, registry, asked.group ?? '', asked.version ?? '');
      return;
    }
    // An unknown path gets the list of known ones, and the code that says it is none of them.
    const code = found === undefined ? 404 : 200;
    const known = found === undefined ? '/' : path;
    const document = found ?? discovery.document(known) ?? {};
    const { contentType, encode, pretty } = representations.ofDocument(exchange, document);
    const key = `${pretty ? 'pretty' : ''} ${contentType} ${known}`;
    let body = this.#bodies.get(key);
    if (body === undefined) {
      body = Buffer.from(encode(document));
      this.#bodies.set(key, body);
    }
    exchange.answer(code, headersFor(contentType), body);
  }

  async #health(exchange: Exchange, endpoint: HealthEndpoint, rest: readonly string[]): Promise<void> {
    const { health } = this.#parts;
    const { query } = exchange;
    const check = rest.join('/');
    const report =
      rest.length === 0
        ? await health.report(endpoint, new Set(query.all('exclude')), query.get('verbose') !== undefined)
        : await health.single(endpoint, check);
    if (report === undefined) return this.#document(exchange, `/${endpoint}/${check}`);
    sendText(exchange, report.healthy ? 200 : 500, report.text);
  }
}

function sendMetricsInTime(exchange: Exchange, parts: PathParts): Promise<void> {
  const { timers, requestTimeoutMs } = parts;
  const sending = sendMetrics(exchange, { ...parts, pause: () => ownTurn(timers) });
  return inTime(sending, exchange, timers, requestTimeoutMs);
}

/** Not listed at `/`, as in Kubernetes. */
async function sendDump(exchange: Exchange, path: string, { flows }: PathParts): Promise<unknown> {
  const dumps = await flows();
  if (dumps === undefined) return false;
  const levels = mergedDump(dumps);
  return sendText(exchange, 200, DUMPS.get(path)!(levels, (exchange.query.get(DETAILS) ?? '') !== ''));
}

function isProfilePath(path: string): boolean {
  return path.startsWith(PROFILES_PATH) || path === UNSLASHED_PROFILES_PATH;
}
