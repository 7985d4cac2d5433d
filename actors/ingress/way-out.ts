// The way out of the server as the ingress holds it: what serves it is made, and its code loaded, with the first request
// that leads out.
import type { ResourceRequestInfo } from '../../api/requests/request-info.ts';
import type { Registry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { FollowedFiles, type FollowedFilesParts } from '../../runtime/files/followed-files.ts';
import { Lazy } from '../../runtime/lazy.ts';
import { ThreadSlabs } from '../../storage/records/thread-slabs.ts';
import type { Listener, RequestHandler } from '../../transport/http.ts';
import { type AgentTlsFiles, agentTlsOf, agentTlsPaths } from '../../transport/outgoing/agent-tls.ts';
import { egressDials } from '../../transport/outgoing/egress-metrics.ts';
import { pairOf } from '../../transport/tls/material-files.ts';
import type { Aggregation, AggregationParts } from './aggregation/aggregation.ts';
import type { Backends } from './aggregation/backends.ts';
import type { ConnectSettings, Connects } from './connect/connect.ts';
import { PodLogMetrics } from './connect/pod-log-metrics.ts';
import type { DoorParts, UpgradeDoor } from './connect/upgrade-door.ts';
import type { Exchange } from './exchange/exchange.ts';

type ShownFiles = AggregationParts['settings']['shown']['files'];

export interface WayOutParts {
  readonly context: ActorContext;
  readonly registry: Registry;
  readonly requestTimeoutMs: number;
  readonly settings: ConnectSettings;
  readonly aggregation: Pick<AggregationParts, 'settings' | 'remotes' | 'identityNames' | 'bearerPrefix' | 'audit'>;
  readonly isTls: boolean;
  /** Asked with the first request: whether the listener hands over connections of any protocol. */
  readonly handsOver: () => boolean;
  readonly openDoor: (handler: RequestHandler) => Promise<Listener>;
  readonly serveAdmitted: DoorParts['serve'];
}

export class WayOut {
  readonly #parts: WayOutParts;
  readonly #logs: PodLogMetrics;
  readonly #connects = new Lazy(() => this.#load());
  readonly #aggregation = new Lazy(() => this.#loadAggregation());
  /** One for all that leads out; undefined where the listener hands over connections itself. */
  readonly #door = new Lazy(() => this.#makeDoor());
  readonly #followed: FollowedFiles[] = [];

  constructor(parts: WayOutParts) {
    this.#parts = parts;
    this.#logs = new PodLogMetrics(parts.context.metrics);
  }

  /** See Connects.serve. */
  async serve(exchange: Exchange, info: ResourceRequestInfo, type: KnownType): Promise<void> {
    return (await this.#connects.get()).serve(exchange, info, type);
  }

  /** What serves requests that other servers answer for. */
  aggregation(): Promise<Aggregation> {
    return this.#aggregation.get();
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    (await this.#connects.present())?.close();
    (await this.#aggregation.present())?.close();
    for (const files of this.#followed) files.stop();
    await this.closeDoor();
  }

  /** All that must not outlive the thread. */
  async closeDoor(): Promise<void> {
    await (await this.#door.present())?.close();
  }

  async #load(): Promise<Connects> {
    const { Connects } = await import('./connect/connect.ts');
    const { context, registry, requestTimeoutMs, settings } = this.#parts;
    const { random } = context;
    const connects = new Connects({
      registry,
      hub: context.ref('hub'),
      admission: context.ref('admission'),
      slabs: ThreadSlabs.of(context),
      requestTimeoutMs,
      random: () => random.next(),
      settings,
      logs: this.#logs,
      metrics: context.metrics,
      onDial: egressDials(context.metrics),
      door: await this.#door.get(),
    });
    await this.#followAgentTls(connects, settings.tlsFiles);
    return connects;
  }

  async #loadAggregation(): Promise<Aggregation> {
    const { Aggregation } = await import('./aggregation/aggregation.ts');
    const { aggregation, context, registry, requestTimeoutMs } = this.#parts;
    const loaded = new Aggregation({
      ...aggregation,
      context,
      dialect: registry.dialect,
      hub: context.ref('hub'),
      slabs: ThreadSlabs.of(context),
      requestTimeoutMs,
      door: await this.#door.get(),
    });
    await this.#followShown(loaded.backends, aggregation.settings.shown.files);
    return loaded;
  }

  async #makeDoor(): Promise<UpgradeDoor | undefined> {
    const { context, isTls, handsOver, openDoor, serveAdmitted } = this.#parts;
    if (handsOver()) return undefined;
    const { UpgradeDoor } = await import('./connect/upgrade-door.ts');
    const { random, timers } = context;
    return new UpgradeDoor({ open: openDoor, isTls, random, timers, serve: serveAdmitted });
  }

  /** From the first request on: what agents are shown may have been replaced since the start. */
  async #followAgentTls(connects: Connects, files: AgentTlsFiles | undefined): Promise<void> {
    if (files === undefined) return;
    const take = (texts: readonly string[]): void => connects.replaceTls(agentTlsOf(files, texts));
    await this.#follow(agentTlsPaths(files), take, 'what was replaced is not shown to node agents');
  }

  async #followShown(backends: Backends, files: ShownFiles): Promise<void> {
    if (files === undefined) return;
    const pair = { certFile: files.cert, keyFile: files.key };
    const take = ([certPem, keyPem]: readonly string[]): void => backends.replaceShown(pairOf(pair, certPem!, keyPem!));
    await this.#follow([files.cert, files.key], take, 'what was replaced is not shown to extension servers');
  }

  async #follow(paths: readonly string[], take: FollowedFilesParts['take'], refusal: string): Promise<void> {
    const { disk, log, timers } = this.#parts.context;
    const onRefused = (error: unknown): void => log.warn({ err: error }, refusal);
    const files = new FollowedFiles({ disk, timers, paths, take, onRefused });
    this.#followed.push(files);
    await files.start();
  }
}
