// Requests that another server answers for, as an APIService says: passed on to it with the word of this server on who asks, and its
// answer passed back. Loaded with the first of them.
import { backendText, type RemoteApiService } from '../../../api/aggregation/api-service.ts';
import type { Finding } from '../../../api/aggregation/availability.ts';
import { type IdentityNames, identityHeaders, withoutIdentity } from '../../../api/aggregation/identity-headers.ts';
import type { NamespaceSweep } from '../../../api/aggregation/namespace-sweep.ts';
import type { RemoteListing, RemoteWrite, RemoteWriteReply } from '../../../api/aggregation/remote-object.ts';
import { type RemoteOwner, type RemoteOwnerAsked, UNKNOWN_OWNER } from '../../../api/aggregation/remote-owner.ts';
import { backendQuery, forwardedRequestHeaders, sentPath } from '../../../api/connect/forwarded.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import { badRequest, internalError, serviceUnavailable, timeout, tooLarge } from '../../../api/status/failures.ts';
import { type Status, StatusError } from '../../../api/status/status.ts';
import type { BodyFlow, HeaderList } from '../../../transport/http.ts';
import type { AgentClient } from '../../../transport/outgoing/agent-client.ts';
import { decodePercent } from '../../../values/percent.ts';
import type { ComponentAudit } from '../../auditing/component-audit.ts';
import { NoPlace } from '../../outside/service-places.ts';
import { asksForTunnel, forwardedFrom, isSentElsewhere, join, type Route, relay } from '../connect/passage.ts';
import { EXTENSION_SERVERS, StreamPlaces } from '../connect/stream-places.ts';
import type { UpgradeDoor } from '../connect/upgrade-door.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { availabilityOf } from './availability.ts';
import { type Backend, type BackendParts, Backends } from './backends.ts';
import { sweepNamespace } from './namespace-sweeps.ts';
import { lookUpOwner } from './owner-look-ups.ts';
import type { RemoteCallParts } from './remote-calls.ts';
import { RemoteDocuments } from './remote-documents.ts';
import { listOwned, writeRemote } from './remote-objects.ts';

export interface AggregationParts extends BackendParts {
  readonly door: UpgradeDoor | undefined;
  /** Headers that name users to this server, where a proxy is believed. */
  readonly identityNames: IdentityNames | undefined;
  readonly bearerPrefix: string;
  /** Of what this server's controllers do there; undefined where no request is recorded. */
  readonly audit: ComponentAudit | undefined;
}

const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;

export class Aggregation {
  readonly backends: Backends;
  readonly documents: RemoteDocuments;
  readonly #parts: AggregationParts;
  readonly #places: StreamPlaces;

  constructor(parts: AggregationParts) {
    this.#parts = parts;
    this.#places = new StreamPlaces(EXTENSION_SERVERS, parts.context.metrics);
    this.backends = new Backends(parts);
    this.documents = new RemoteDocuments(parts.remotes, this.backends, parts.context);
  }

  /** Serves one request. Throws StatusError. */
  serve(exchange: Exchange, apiService: RemoteApiService): Promise<void> {
    return this.#places.during(exchange, () =>
      this.#places.at(exchange, apiService.name, async () =>
        this.#passOn(exchange, await this.#available(exchange, apiService)),
      ),
    );
  }

  /** Whether a server can be reached, as it is committed now; undefined: there is none of that name. */
  async availability(name: string): Promise<Finding | undefined> {
    const apiService = await this.#newest(name);
    if (apiService === undefined) return undefined;
    const { context, dialect } = this.#parts;
    return availabilityOf(apiService, { backends: this.backends, dialect, timers: context.timers });
  }

  /** Deletes what all extension servers have of a namespace, as they are committed now. Never rejects. */
  async sweep(namespace: string): Promise<NamespaceSweep> {
    await this.#newest('');
    return sweepNamespace(this.#callParts(), this.#parts.remotes.all(), namespace);
  }

  /** What the server that answers for an owner's group, as it is committed now, says of the owner. Never rejects. */
  async owner(asked: RemoteOwnerAsked): Promise<RemoteOwner> {
    const { remotes } = this.#parts;
    await this.#newest('');
    const { group, version } = splitApiVersion(asked.apiVersion);
    const apiService = remotes.at(group, version);
    if (apiService === undefined) return UNKNOWN_OWNER;
    return lookUpOwner(this.#callParts(), apiService, asked);
  }

  /** Which objects of all extension servers, as they are committed now, are owned or on their way out, and how many there are. Never rejects. */
  async owned(): Promise<RemoteListing> {
    await this.#newest('');
    return listOwned(this.#callParts(), this.#parts.remotes.all());
  }

  /** Writes to an object where it is. Rejects where its server does not answer, or is none any more. */
  async write(write: RemoteWrite): Promise<RemoteWriteReply> {
    const apiService = this.#parts.remotes.at(write.group, write.version);
    if (apiService === undefined) throw new Error(`no other server answers for ${write.group}/${write.version}`);
    return writeRemote(this.#callParts(), apiService, write);
  }

  #callParts(): RemoteCallParts {
    const { context, dialect, audit } = this.#parts;
    const { clock, timers } = context;
    return { backends: this.backends, dialect, clock, timers, audit };
  }

  /** Ends every connection. */
  close(): void {
    this.backends.close();
  }

  /** As it is committed now, where this thread has not heard yet that it can be reached. Throws 503. */
  async #available(exchange: Exchange, apiService: RemoteApiService): Promise<RemoteApiService> {
    if (apiService.isAvailable) return apiService;
    const newest = await this.#newest(apiService.name);
    if (newest?.isAvailable === true) return newest;
    throw new StatusError(unavailable(exchange, apiService, 'it is not available'));
  }

  /** Waits until the hub of the thread has applied what is committed. */
  async #newest(name: string): Promise<RemoteApiService | undefined> {
    const { remotes } = this.#parts;
    await this.backends.find(remotes.storageKey, '', name).catch(() => undefined);
    return remotes.named(name);
  }

  async #passOn(exchange: Exchange, apiService: RemoteApiService): Promise<void> {
    const { request, user, bodyFlow } = exchange;
    const body = bodyFlow ?? (await bufferedBody(exchange));
    const shown = identityHeaders(user);
    if (shown === undefined) throw new StatusError(internalError('the user has a name that no header can say'));
    if (DOTS.test(decodePercent(exchange.path) ?? ''))
      throw new StatusError(badRequest('the path has a segment that is no name'));
    const { client, target } = await this.#backend(exchange, apiService);
    const route: Route = {
      target,
      path: sentPath(exchange.path) + backendQuery(request.query),
      unreachable: (detail) => unavailable(exchange, apiService, detail),
    };
    const ours = [...shown, ...forwardedFrom(exchange)];
    const limit = this.#limited(exchange);
    try {
      if (asksForTunnel(exchange)) await this.#tunnel(client, exchange, route, ours, limit);
      else
        await relay(client, exchange, route, {
          headers: this.#headers(exchange, ours, false),
          body,
          onSent: limit.onSent,
        });
    } catch (error) {
      throw limit.isOver()
        ? new StatusError(timeout(`${backendText(apiService.backend)} did not answer in time`))
        : error;
    } finally {
      limit.end();
    }
  }

  async #tunnel(
    client: AgentClient,
    exchange: Exchange,
    route: Route,
    ours: HeaderList,
    { onSent }: RequestLimit,
  ): Promise<void> {
    const { info } = exchange;
    if (!info.isResource) throw new StatusError(badRequest('the path is no stream'));
    if (await isSentElsewhere(this.#parts.door, exchange, info)) return;
    const headers = this.#headers(exchange, ours, true);
    await join(client, exchange, route, { headers, unswitched: route.unreachable, onSent });
  }

  /** What is known of the client, and what it says that is not for this server alone. */
  #headers(exchange: Exchange, ours: HeaderList, keepsUpgrade: boolean): HeaderList {
    const { identityNames, bearerPrefix } = this.#parts;
    const given = forwardedRequestHeaders(exchange.request.headersWithPrefix(''), keepsUpgrade, bearerPrefix);
    return [...withoutIdentity(given, identityNames), ...ours];
  }

  /** Gives up what is not answered whole within the time of a request; a watch and its like go on. */
  #limited(exchange: Exchange): RequestLimit {
    const { context, requestTimeoutMs } = this.#parts;
    const cancels: (() => void)[] = [];
    const cancel = (): void => {
      for (const one of cancels) one();
    };
    let isOver = false;
    // While its body was waited for, say: what has been answered is not begun any more.
    let { isGivenUp } = exchange;
    const timer = exchange.longRunning
      ? undefined
      : context.timers.after(requestTimeoutMs, () => {
          isOver = true;
          cancel();
        });
    exchange.onGivenUp = () => {
      isGivenUp = true;
      cancel();
    };
    return {
      // One that is given up on a kept connection looks like a connection that was closed, and is sent again.
      onSent: (one) => {
        if (isOver || isGivenUp) one();
        else cancels.push(one);
      },
      isOver: () => isOver,
      end: () => timer?.cancel(),
    };
  }

  async #backend(exchange: Exchange, apiService: RemoteApiService): Promise<Backend> {
    try {
      return await this.backends.of(apiService);
    } catch (error) {
      if (error instanceof NoPlace) throw new StatusError(unavailable(exchange, apiService, error.message));
      throw error;
    }
  }
}

interface RequestLimit {
  readonly onSent: (cancel: () => void) => void;
  readonly isOver: () => boolean;
  readonly end: () => void;
}

/** What the request is answered with, which counts as turned away. */
function unavailable(exchange: Exchange, { name, backend }: RemoteApiService, detail: string): Status {
  exchange.terminatedBy = 'aggregator';
  return serviceUnavailable(`${backendText(backend)}, which answers for ${name}: ${detail}`);
}

/** The body of a request that was read whole. Throws 413. */
async function bufferedBody({ body }: Exchange): Promise<BodyFlow | undefined> {
  const bytes = await body;
  if (bytes === null) throw new StatusError(tooLarge());
  if (bytes === undefined || bytes.length === 0) return undefined;
  return {
    start: (receiver) => {
      receiver.onChunk(bytes);
      receiver.onEnd();
    },
    resume: () => {},
  };
}
