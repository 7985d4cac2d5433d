// The subresources that lead out of the server: logs, exec, attach and port forwarding at a pod's node, and the proxies to
// nodes, pods and services. Finds out where to and what to ask there; the bytes are passed on by transport/outgoing/agent-client.ts.
// Loaded with the first such request.

import { logRequest, type PodStream, skipsVerificationOf, streamRequest } from '../../../api/connect/agent-request.ts';
import {
  type AgentReach,
  agentOf,
  type Backend,
  hasAddress,
  isIpText,
  noEndpoints,
  podBackend,
  serviceCandidates,
} from '../../../api/connect/backends.ts';
import { connectOptions } from '../../../api/connect/connect-options.ts';
import { backendPath, backendQuery, forwardedRequestHeaders } from '../../../api/connect/forwarded.ts';
import { isPortNumber, type ProxiedName, parseProxiedName } from '../../../api/connect/proxied-name.ts';
import { addressProblem } from '../../../api/connect/proxyable-address.ts';
import { proxyPlace } from '../../../api/connect/seen-from-outside.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, textAt } from '../../../api/json/object-fields.ts';
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import {
  badRequest,
  failure,
  internalError,
  notFound,
  quote,
  serviceUnavailable,
  unnamedError,
} from '../../../api/status/failures.ts';
import { answerRefused } from '../../../api/status/refused-answer.ts';
import { type Status, StatusError } from '../../../api/status/status.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import type { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import type { HeaderList } from '../../../transport/http.ts';
import { type AgentTarget, type AgentTls, AgentUnreachable } from '../../../transport/outgoing/agent-address.ts';
import type { AgentAnswer } from '../../../transport/outgoing/agent-answer.ts';
import { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import type { AgentTlsFiles } from '../../../transport/outgoing/agent-tls.ts';
import type { EgressWay, OnDial } from '../../../transport/outgoing/egress.ts';
import { NO_CACHE } from '../../../transport/response-headers.ts';
import { hostPort } from '../../../values/host-text.ts';
import type { AdmissionProtocol } from '../../admission/protocol.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { ResponseWithHeaders } from '../exchange/response-with-headers.ts';
import { warningHeader } from '../reads/answers.ts';
import { webSocketBearerPrefix } from '../watch/web-socket-offer.ts';
import { asksForTunnel, forwardedFrom, isSentElsewhere, join, type Route, relay } from './passage.ts';
import type { PodLogMetrics } from './pod-log-metrics.ts';
import { type Redirections, urlOf } from './redirections.ts';
import { CLUSTER_MEMBERS, StreamPlaces } from './stream-places.ts';
import type { UpgradeDoor } from './upgrade-door.ts';

/** How the way out is set up. Plain data. */
export interface ConnectSettings extends AgentReach {
  readonly tls: AgentTls;
  /** Where `tls` is from; absent: it never changes. */
  readonly tlsFiles?: AgentTlsFiles;
  /** `--orchlet-timeout`. */
  readonly connectTimeoutMs: number;
  /** The way out to members of the cluster; absent: straight. */
  readonly way?: EgressWay | undefined;
  /** Of streams of pods, by their node agents. */
  readonly redirections: Redirections;
}

export interface ConnectParts {
  readonly registry: Registry;
  readonly hub: Ref<HubProtocol>;
  readonly admission: Ref<AdmissionProtocol>;
  readonly slabs: ThreadSlabs;
  readonly requestTimeoutMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly settings: ConnectSettings;
  readonly logs: PodLogMetrics;
  readonly metrics: Metrics;
  readonly onDial: OnDial;
  /** Where connections are handed over that the listener cannot; undefined where it can. */
  readonly door: UpgradeDoor | undefined;
}

/** Of an agent's refusal that is passed on. */
const REFUSAL_BYTES_MAX = 16 * 1024;
const LOGS = 'pods/log';

export class Connects {
  readonly #parts: ConnectParts;
  readonly #client: AgentClient;
  readonly #places: StreamPlaces;

  constructor(parts: ConnectParts) {
    this.#parts = parts;
    this.#client = new AgentClient({ ...parts.settings, onDial: parts.onDial });
    this.#places = new StreamPlaces(CLUSTER_MEMBERS, parts.metrics);
  }

  /** Serves one request. Throws StatusError. */
  serve(exchange: Exchange, info: ResourceRequestInfo, type: KnownType): Promise<void> {
    return this.#places.during(exchange, async () => {
      try {
        if (info.subresource === 'log') await this.#log(exchange, info, type);
        else await this.#connect(exchange, info, type, await this.#admitted(exchange, info, type));
      } catch (error) {
        if (error instanceof AgentUnreachable && exchange.response.aborted) return;
        throw error;
      }
    });
  }

  /** What the connection asks for, as admission plugins have it. Throws what one of them refuses it with. */
  async #admitted(exchange: Exchange, info: ResourceRequestInfo, type: KnownType): Promise<JsonObject> {
    if (exchange.query.get('dryRun') !== undefined) throw new StatusError(badRequest('dryRun is not supported'));
    const { group, version, resource, subresource, namespace, name, rest } = info;
    const options = connectOptions(type.subresources.get(subresource)?.kind ?? '', exchange.query, rest);
    const { refused, changed, auditAnnotations, warnings } = await this.#parts.admission.ask(
      {
        type: 'connect',
        target: { group, version, resource, subresource, namespace, name },
        user: exchange.user,
        userAgent: exchange.request.header('user-agent'),
        options,
      },
      { deadlineMs: this.#parts.requestTimeoutMs, requestNumber: exchange.requestNumber },
    );
    if (auditAnnotations !== undefined) exchange.audit?.annotateBy(auditAnnotations);
    if (warnings !== undefined)
      exchange.response = new ResponseWithHeaders(exchange.response, warnings.map(warningHeader));
    if (refused !== undefined) throw new StatusError(refused);
    return changed ?? options;
  }

  async #connect(exchange: Exchange, info: ResourceRequestInfo, type: KnownType, options: JsonObject): Promise<void> {
    const { subresource } = info;
    if (subresource === 'proxy') await this.#proxy(exchange, info, type, textAt(options, 'path'));
    else await this.#podStream(exchange, info, type, subresource as PodStream, options);
  }

  /** Agents are shown other certificates, and believed by others, from now on. */
  replaceTls(tls: AgentTls): void {
    this.#client.replaceTls(tls);
  }

  /** Ends every connection. */
  close(): void {
    this.#client.close();
  }

  async #log(exchange: Exchange, info: ResourceRequestInfo, pods: KnownType): Promise<void> {
    const { logs } = this.#parts;
    logs.asked(skipsVerificationOf(exchange.query));
    const pod = await this.#required(exchange, pods, info.namespace, info.name);
    const { path, skipsVerification } = logRequest(pod, exchange.query);
    const nodeName = nodeOf(pod);
    // Nothing has run yet that could have said anything.
    if (nodeName === '') return answerEmpty(exchange);
    const route = await this.#agentRoute(exchange, nodeName, path, skipsVerification ? 'unverifiedAgent' : 'agent');
    const unreachable: Route['unreachable'] = (detail, isUnbelieved = false) => {
      if (isUnbelieved) logs.untrusted();
      return unnamedError(`Get ${quote(urlOf(route))}: ${detail}`);
    };
    await this.#agentStream(exchange, { ...route, unreachable }, info.name);
  }

  async #podStream(
    exchange: Exchange,
    info: ResourceRequestInfo,
    pods: KnownType,
    stream: PodStream,
    options: JsonObject,
  ): Promise<void> {
    const pod = await this.#required(exchange, pods, info.namespace, info.name);
    const { path } = streamRequest(stream, pod, options);
    const nodeName = nodeOf(pod);
    if (nodeName === '') throw new StatusError(badRequest(`pod ${info.name} does not have a host assigned`));
    if (await isSentElsewhere(this.#parts.door, exchange, info)) return;
    const route = await this.#agentRoute(exchange, nodeName, path, 'agent');
    await this.#join(exchange, route, this.#parts.settings.redirections);
  }

  async #agentRoute(exchange: Exchange, nodeName: string, path: string, trust: AgentTarget['trust']): Promise<Route> {
    const target = { ...(await this.#agent(exchange, nodeName)), trust, addressProblem: this.#agentProblem };
    return { target, path, unreachable: undialed };
  }

  /** `rest`: the path at the backend. */
  async #proxy(exchange: Exchange, info: ResourceRequestInfo, type: KnownType, rest: string): Promise<void> {
    const name = parseProxiedName(info.name);
    if (name === undefined)
      throw new StatusError(badRequest(`invalid ${SINGULARS[type.plural]} request ${quote(info.name)}`));
    const target = await PROXY_TARGETS[type.plural]!(this, exchange, info, name);
    if (rest === '') {
      redirectInside(exchange);
      return;
    }
    const path = backendPath(rest) + backendQuery(exchange.request.query);
    const unreachable: Route['unreachable'] = (detail) =>
      serviceUnavailable(`error trying to reach service: ${detail}`);
    if (!asksForTunnel(exchange)) await this.#passOn(exchange, info, { target, path, unreachable });
    else if (!(await isSentElsewhere(this.#parts.door, exchange, info)))
      await this.#join(exchange, { target, path, unreachable: undialed });
  }

  /** The agent itself, or another port of its machine. */
  async nodeTarget(
    exchange: Exchange,
    _info: ResourceRequestInfo,
    { scheme, name, port }: ProxiedName,
  ): Promise<AgentTarget> {
    const agent = await this.#agent(exchange, name);
    if (port === '' || port === String(agent.port))
      return { ...agent, trust: 'agent', addressProblem: this.#agentProblem };
    const host = agent.host;
    // Names are looked at when they are resolved.
    const problem = isIpText(host) ? addressProblem(host) : undefined;
    if (problem !== undefined || !/^\d+$/.test(port))
      throw new StatusError(badRequest(`node ${name} cannot be reached: ${problem ?? `port ${port} is no number`}`));
    return {
      scheme: scheme || 'http',
      host,
      port: Number(port),
      trust: 'none',
      addressProblem: (address) => addressProblem(address),
    };
  }

  async podTarget(exchange: Exchange, { namespace }: ResourceRequestInfo, name: ProxiedName): Promise<AgentTarget> {
    const pod = await this.#required(exchange, this.#type('core/pods'), namespace, name.name);
    return { ...podBackend(pod, name), trust: 'none' };
  }

  async serviceTarget(exchange: Exchange, info: ResourceRequestInfo, name: ProxiedName): Promise<AgentTarget> {
    const { namespace } = info;
    const service = isPortNumber(name.port)
      ? await this.#required(exchange, this.#type('core/services'), namespace, name.name)
      : undefined;
    // Whatever is missing, it is the service that the client asked for.
    const endpoints = await this.#found(exchange, this.#type('core/endpoints'), namespace, name.name);
    if (endpoints === undefined) throw new StatusError(notFound(this.#type('core/services'), name.name));
    for (const { backend, podName } of serviceCandidates(service, endpoints, name, this.#parts.random)) {
      const pod = await this.#found(exchange, this.#type('core/pods'), namespace, podName);
      if (pod !== undefined && hasAddress(pod, backend.host)) return { ...backend, trust: 'none' };
    }
    throw new StatusError(noEndpoints(endpoints, name, info.name));
  }

  async #agent(exchange: Exchange, nodeName: string): Promise<Backend> {
    const node = await this.#required(exchange, this.#type('core/nodes'), '', nodeName);
    return agentOf(node, this.#parts.settings);
  }

  /** Asked about each address that an agent's name stands for. */
  readonly #agentProblem = (address: string): string | undefined =>
    addressProblem(address, this.#parts.settings.permitsLoopback);

  /** What an agent says itself is answered with a Status of ours where it refuses. */
  #agentStream(exchange: Exchange, route: Route, podName: string): Promise<void> {
    const check = async (answer: AgentAnswer): Promise<void> => {
      if (answer.status < 200 || answer.status > 206) throw new StatusError(await refusalOf(answer, podName));
    };
    return this.#at(exchange, route, () =>
      relay(this.#client, exchange, route, { headers: [], body: undefined, check }),
    );
  }

  #join(exchange: Exchange, route: Route, followed?: Redirections): Promise<void> {
    const headers = this.#headers(exchange, true);
    return this.#at(exchange, route, () =>
      join(this.#client, exchange, route, { headers, followed, unswitched: unnamedError }),
    );
  }

  #passOn(exchange: Exchange, info: ResourceRequestInfo, route: Route): Promise<void> {
    const headers = [...this.#headers(exchange, false), ...forwardedFrom(exchange)];
    const place = proxyPlace(info, route.target, exchange.request.header('host'));
    return this.#at(exchange, route, () =>
      relay(this.#client, exchange, route, { headers, body: exchange.bodyFlow, place }),
    );
  }

  #at(exchange: Exchange, { target }: Route, serve: () => Promise<void>): Promise<void> {
    return this.#places.at(exchange, hostPort(target.host, target.port), serve);
  }

  #headers({ request }: Exchange, keepsUpgrade: boolean): HeaderList {
    const bearerPrefix = webSocketBearerPrefix(this.#parts.registry.dialect);
    return forwardedRequestHeaders(request.headersWithPrefix(''), keepsUpgrade, bearerPrefix);
  }

  #type(storageKey: string): KnownType {
    const type = this.#parts.registry.storageType(storageKey);
    if (type === undefined) throw new StatusError(internalError(`there is no ${storageKey}`));
    return type;
  }

  async #required(exchange: Exchange, type: KnownType, namespace: string, name: string): Promise<JsonObject> {
    const object = await this.#found(exchange, type, namespace, name);
    if (object === undefined) throw new StatusError(notFound(type, name));
    return object;
  }

  async #found(exchange: Exchange, type: KnownType, namespace: string, name: string): Promise<JsonObject | undefined> {
    const { hub, slabs, requestTimeoutMs } = this.#parts;
    const answer = await hub.ask(
      { type: 'get', storageKey: type.storageKey, namespace, name, freshness: { kind: 'mostRecent' } },
      { deadlineMs: requestTimeoutMs, requestNumber: exchange.requestNumber },
    );
    if (answer.refused !== undefined)
      throw new StatusError(refusalStatus(answer, exchange.query.get('resourceVersion')));
    if (answer.place === null) return undefined;
    return slabs.decode(answer.place);
  }
}

type FindTarget = (
  connects: Connects,
  exchange: Exchange,
  info: ResourceRequestInfo,
  name: ProxiedName,
) => Promise<AgentTarget>;

/** As refusals call them. */
const SINGULARS: Readonly<Record<string, string>> = { nodes: 'node', pods: 'pod', services: 'service' };

const PROXY_TARGETS: Readonly<Record<string, FindTarget>> = {
  nodes: (connects, ...rest) => connects.nodeTarget(...rest),
  pods: (connects, ...rest) => connects.podTarget(...rest),
  services: (connects, ...rest) => connects.serviceTarget(...rest),
};

/** What an agent refuses of a pod's log, as a Status of ours. */
async function refusalOf(answer: AgentAnswer, podName: string): Promise<Status> {
  const whole = await answer.text(REFUSAL_BYTES_MAX).catch(() => undefined);
  if (whole === undefined) return internalError('unexpected EOF');
  const text = whole.trim();
  if (answer.status === 400) return badRequest(text);
  if (answer.status === 500) return internalError(text);
  const code = answer.status < 400 ? 502 : answer.status;
  const { reason, message } = answerRefused(code, text);
  return failure(code, reason, `${message} ( ${LOGS} ${podName})`, { name: podName, kind: LOGS });
}

/** Of a stream, whatever it is to: 503 is for requests that stay with HTTP. */
function undialed(detail: string): Status {
  return unnamedError(`error dialing backend: ${detail}`);
}

function nodeOf({ spec }: JsonObject): string {
  return textAt(asObject(spec), 'nodeName');
}

function answerEmpty(exchange: Exchange): void {
  exchange.answer(204, [NO_CACHE], '');
}

/** A proxy is a place of its own: relative links in its pages count on the closing slash. */
function redirectInside(exchange: Exchange): void {
  const { request } = exchange;
  const query = request.query === '' ? '' : `?${request.query}`;
  exchange.answer(301, [NO_CACHE, ['Location', `${request.path}/${query}`]], '');
}
