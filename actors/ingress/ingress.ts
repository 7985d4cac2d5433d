// The edge. Owns the sockets of its thread. Serves each request through the pipeline, at whose end dispatch.ts finds who answers it,
// carries the hub's frames to open watches, and drains at shutdown.

import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Ref, Reply } from '../../runtime/actor.ts';
import { isLogWritable } from '../../runtime/logging/log.ts';
import { HeapRoom } from '../../runtime/memory/heap-room.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { ThreadSlabs } from '../../storage/records/thread-slabs.ts';
import { GzipSlots } from '../../transport/gzip-response.ts';
import type { HubProtocol } from '../hub/protocol.ts';
import type { Aggregation } from './aggregation/aggregation.ts';
import type { PresentDocuments } from './aggregation/remote-documents.ts';
import { type Auditor, auditorFor } from './audit/auditor.ts';
import { Dispatch } from './dispatch.ts';
import { INGRESS_FACTS } from './facts.ts';
import { RequestLimits } from './fairness/request-limits.ts';
import { IngressListener } from './ingress-listener.ts';
import type { IngressOptions } from './options.ts';
import { OutsideConversion } from './outside-conversion.ts';
import { ComponentStatuses } from './paths/component-status.ts';
import { Health, uptimeBy } from './paths/health.ts';
import { OpenApi } from './paths/openapi.ts';
import { EXTRA_PATHS, Paths } from './paths/paths.ts';
import { presentApi, presentDiscovery } from './paths/present-types.ts';
import { DebugFlags } from './paths/profiles/debug-flags.ts';
import { Profiles } from './paths/profiles/profiles.ts';
import { Deprecations } from './pipeline/deprecations.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { RequestMetrics } from './pipeline/request-metrics.ts';
import type { IngressProtocol, IngressStatus } from './protocol.ts';
import { AnswerForms } from './reads/answer-forms.ts';
import { Lists } from './reads/lists.ts';
import type { ReadParts } from './reads/read-parts.ts';
import { Reads } from './reads/reads.ts';
import { Representations } from './reads/representation.ts';
import { Tracer } from './tracing/tracer.ts';
import { ConnectionThrottle } from './watch/connection-throttle.ts';
import { Watches } from './watch/watches.ts';
import { webSocketBearerPrefix } from './watch/web-socket-offer.ts';
import { WayOut } from './way-out.ts';
import { Writes } from './writes.ts';

/** At shutdown, how long requests in progress may take. */
const DRAIN_MS = 10_000;
const DRAIN_CHECK_MS = 10;
const NO_DOCUMENTS: PresentDocuments = { edition: 0, documents: [], editions: new Map() };

class Ingress implements Actor<IngressProtocol> {
  readonly #context: ActorContext;
  readonly #options: IngressOptions;
  readonly #listener: IngressListener;
  readonly #pipeline: Pipeline;
  readonly #dispatch: Dispatch;
  readonly #watches: Watches;
  /** Undefined: requests are not traced. */
  readonly #tracer: Tracer | undefined;
  readonly #auditor: Auditor | undefined;
  readonly #representations: Representations;
  readonly #limits: RequestLimits;
  readonly #out: WayOut;
  #draining = false;
  #stopped = false;

  constructor(context: ActorContext, options: IngressOptions) {
    this.#context = context;
    this.#options = options;
    this.#listener = new IngressListener(context, options);
    const { registry, requestTimeoutMs } = options;
    const { dialect } = registry;
    const hub = context.ref('hub');
    const slabs = ThreadSlabs.of(context);
    this.#limits = new RequestLimits(context, options, dialect);
    this.#representations = new Representations(dialect, context.clock);
    const forms = new AnswerForms(registry, this.#representations);
    const heapRoom = new HeapRoom(options.heapRoomBytes);
    const conversion = new OutsideConversion(context.ref('admission'), requestTimeoutMs, context.timers, heapRoom);
    const readParts: ReadParts = {
      hub,
      slabs,
      records: options.records,
      requestTimeoutMs,
      metaGroup: dialect.metaGroup,
      timers: context.timers,
      jobs: options.jobs,
      heapRoom,
      conversion,
      forms,
    };
    const reads = new Reads(readParts);
    this.#watches = new Watches({
      context,
      hub,
      conversion,
      forms,
      schema: () => options.records.schema,
      bearerPrefix: webSocketBearerPrefix(dialect),
      requestTimeoutMs,
      minRequestTimeoutMs: options.minRequestTimeoutMs,
      metaGroup: dialect.metaGroup,
    });
    this.#tracer = options.tracing && new Tracer(context, options.tracing);
    this.#auditor = auditorFor(context, options.audit, dialect, requestTimeoutMs);
    this.#pipeline = this.#pipelineWith(dialect);
    this.#out = this.#wayOut();
    this.#dispatch = new Dispatch({
      options,
      hub,
      forms,
      reads,
      lists: new Lists(readParts, options.paging),
      writes: new Writes({ context, reads, statuses: this.#representations, requestTimeoutMs }),
      watches: this.#watches,
      components: new ComponentStatuses(context, dialect, options.healthcheckTimeoutMs),
      deprecations: new Deprecations(registry, context.metrics, options.warningHeaders),
      paths: this.#pathsWith(this.#health(hub, dialect)),
      out: this.#out,
    });
    context.metrics.beforeReading(() => this.#gauge());
  }

  async start(): Promise<void> {
    this.#limits.start();
    await this.#listener.open((request, response) => {
      void this.#pipeline.serve(request, response);
    });
    // Stopped while it was opening: nobody else would close it, and the thread cannot end with it open.
    if (this.#stopped) await this.#listener.close();
  }

  onMessage(message: MessageOf<IngressProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'watchFrames':
        this.#watches.frames(message);
        return;
      case 'watchEnded':
        this.#watches.end(message);
        return;
      case 'storeBatch':
      case 'storeLost':
      case 'seatFree':
      case 'dumpFlows':
        this.#limits.onMessage(message, reply);
        return;
      case 'status':
        reply.send(this.#status());
        return;
      case 'tryApiService':
        this.#askRemotes(reply, async (remotes) => ({ finding: await remotes.availability(message.name) }));
        return;
      case 'lookUpOwner':
        this.#askRemotes(reply, (remotes) => remotes.owner(message));
        return;
      case 'listOwnedRemotes':
        this.#askRemotes(reply, (remotes) => remotes.owned());
        return;
      case 'writeRemote':
        this.#askRemotes(reply, (remotes) => remotes.write(message.write));
        return;
      case 'sweepNamespace':
        this.#askRemotes(reply, (remotes) => remotes.sweep(message.namespace));
        return;
      default:
        unreachable(message);
    }
  }

  peerRestarted(name: string): void {
    if (name === 'store') this.#limits.onStoreLost();
  }

  /** /readyz fails from now on, and clients are told to go elsewhere, while everything is still served. */
  drain(): void {
    this.#draining = true;
    this.#listener.sendAway();
  }

  /** Stops accepting, waits for the requests in progress, and ends watches between two events: they hear of those too. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#draining = true;
    this.#listener.stopAccepting();
    const { clock, timers } = this.#context;
    const giveUpMs = clock.monotonicMs() + DRAIN_MS;
    while (this.#limits.count + (this.#auditor?.holding ?? 0) > 0 && clock.monotonicMs() < giveUpMs) {
      await new Promise<void>((resolve) => {
        timers.after(DRAIN_CHECK_MS, resolve);
      });
    }
    this.#limits.stop();
    await this.#watches.catchUp();
    this.#watches.endAll();
    await this.#out.close();
    await this.#listener.close();
    this.#auditor?.flush();
    await this.#tracer?.stop();
    await this.#options.jobs.close();
  }

  /** The thread is ending: watches end between two events, so that clients resume, and the port is freed. */
  onCrash(): Promise<void> {
    this.#stopped = true;
    this.#watches.endAll();
    return Promise.all([this.#listener.close(true), this.#out.closeDoor()]).then(() => {});
  }

  async #remoteDocuments(): Promise<PresentDocuments> {
    if (this.#options.remotes.isEmpty) return NO_DOCUMENTS;
    return (await this.#out.aggregation()).documents.present();
  }

  /** Answers with what is found out of extension servers, also where they cannot be asked. */
  #askRemotes(reply: Reply, ask: (remotes: Aggregation) => Promise<unknown>): void {
    const asking = this.#out.aggregation().then(ask);
    asking.then(
      (found) => reply.send(found),
      (error: unknown) => reply.fail(error),
    );
  }

  #wayOut(): WayOut {
    const { registry, requestTimeoutMs, connect, tls, audit } = this.#options;
    return new WayOut({
      context: this.#context,
      registry,
      requestTimeoutMs,
      settings: connect,
      aggregation: {
        settings: this.#options.aggregation,
        remotes: this.#options.remotes,
        identityNames: this.#options.identityHeaders,
        bearerPrefix: webSocketBearerPrefix(registry.dialect),
        audit: audit && this.#auditor?.ofComponents(audit, this.#context.random),
      },
      isTls: tls !== undefined,
      handsOver: () => this.#listener.kind === 'node',
      openDoor: (handler) => this.#listener.openDoor(handler),
      serveAdmitted: (request, response, earlier) => void this.#pipeline.serveAdmitted(request, response, earlier),
    });
  }

  #pathsWith(health: Health): Paths {
    const context = this.#context;
    const {
      registry,
      remotes,
      requestTimeoutMs,
      serverAddress,
      build,
      openapi,
      storePrefix,
      servesProfiles,
      tellsStorageVersions,
    } = this.#options;
    const { jobs, startedWallMs } = this.#options;
    const { dialect } = registry;
    const extraPaths = [...EXTRA_PATHS, ...health.paths()];
    return new Paths({
      brand: registry.dialect.brand,
      discovery: presentDiscovery(registry, remotes, { serverAddress, extraPaths, build, tellsStorageVersions }),
      health,
      representations: this.#representations,
      registry,
      openapi: new OpenApi(
        openapi,
        () => presentApi(registry),
        () => this.#remoteDocuments(),
        jobs,
        (edition) => (edition === 0 ? startedWallMs : context.clock.nowMs()),
        context,
      ),
      auth: context.ref('auth'),
      requestTimeoutMs,
      snapshot: {
        store: context.ref('store'),
        clock: context.clock,
        dialect: dialect.name,
        storePrefix,
        timeoutMs: requestTimeoutMs,
      },
      simulation: { context, timeoutMs: requestTimeoutMs },
      metrics: () => context.metricsOfAllThreads(),
      metricsRules: this.#options.metricsRules,
      timers: context.timers,
      profiles: servesProfiles ? new Profiles(context.refs('thread'), context.clock) : undefined,
      flags: servesProfiles ? new DebugFlags(context.refs('thread')) : undefined,
      flows: () => this.#limits.dumps(),
    });
  }

  #pipelineWith(dialect: Dialect): Pipeline {
    const context = this.#context;
    const { registry, requestTimeoutMs, compressesAnswers, connectionBytesPerSecondMax } = this.#options;
    return new Pipeline({
      context,
      auth: context.ref('auth'),
      limits: this.#limits,
      tracer: this.#tracer,
      auditor: this.#auditor,
      metrics: new RequestMetrics(context.metrics, registry),
      representations: this.#representations,
      bearerPrefix: webSocketBearerPrefix(dialect),
      // The only method that browsers know by themselves.
      challenge: this.#options.takesPasswords ? `Basic realm="${dialect.brand}-master"` : undefined,
      identityHeaders: this.#options.identityHeaders,
      gzipSlots: compressesAnswers ? new GzipSlots() : undefined,
      throttle:
        connectionBytesPerSecondMax === 0
          ? undefined
          : new ConnectionThrottle(connectionBytesPerSecondMax, context.clock),
      requestTimeoutMs,
      remotes: this.#options.remotes,
      dispatch: (exchange) => this.#dispatch.serve(exchange),
    });
  }

  #health(hub: Ref<HubProtocol>, dialect: Dialect): Health {
    const context = this.#context;
    const options = this.#options;
    return new Health({
      store: context.ref('store'),
      hub,
      admission: context.ref('admission'),
      controllers: context.ref('controllers'),
      isLogWritable,
      limits: this.#limits,
      dialect,
      startHooks: options.startHooks,
      isDraining: () => this.#draining,
      uptimeMs: uptimeBy(context.clock, options.startedWallMs),
      livezGracePeriodMs: options.livezGracePeriodMs,
      checkTimeoutMs: options.healthcheckTimeoutMs,
      keyServices: options.keyServices,
    });
  }

  #status(): IngressStatus {
    return {
      listener: this.#listener.kind,
      port: this.#listener.port,
      connections: this.#listener.openConnections,
      requestsInFlight: this.#limits.count,
    };
  }

  #gauge(): void {
    this.#context.metrics.gauge('orch_ingress_connections', 'Open connections.').set(this.#listener.openConnections);
  }
}

/** The ingress as a placeable actor. */
export const ingressActor: ActorDefinition<IngressOptions> = {
  ...INGRESS_FACTS,
  owns: 'the listening sockets of its thread',
  create: (context, options) => new Ingress(context, options),
};
