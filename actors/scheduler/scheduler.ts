// Chooses a node for each pod that needs one. Follows the store, and binds through admission like any other
// writer. Holds no state that the store does not: after a restart it lists and goes on. Never writes a node or a pod's
// spec itself. The decisions are scheduling-core.ts, their rhythm scheduling-loop.ts; this file only joins the parts.

import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import type { FeedEvent } from '../../storage/store-feed.ts';
import { FeedFollower, type FeedListener } from '../feed-follower.ts';
import { type FeedFactory, feedOfThread } from '../feed-of-thread.ts';
import { SchedulingCore } from './core/scheduling-core.ts';
import { WaitingPods } from './core/waiting-pods.ts';
import type { SchedulerConfiguration } from './configuration/configuration.ts';
import { defaultConfiguration } from './configuration/defaults.ts';
import { profilesOf } from './configuration/profiles.ts';
import { QUEUE_DEFAULTS } from './core/queue.ts';
import { loadOwnPlugins, type MakeOwnPlugin } from './driver/own-plugins.ts';
import type { Profile } from './framework/framework.ts';
import { admissionPort } from './driver/admission-port.ts';
import { BestEffortWrites } from './driver/best-effort-writes.ts';
import type { ClusterPort } from './driver/cluster-port.ts';
import { ConditionWriter } from './driver/condition-writer.ts';
import { EventRecorder } from './driver/event-recorder.ts';
import { Pace } from './driver/pace.ts';
import { Preemptor } from './driver/preemptor.ts';
import { type SchedulerMetrics, schedulerMetrics } from './driver/scheduler-metrics.ts';
import { type LoopLimits, SchedulingLoop } from './driver/scheduling-loop.ts';
import { SCHEDULER_FACTS } from './facts.ts';
import type { SchedulerProtocol, SchedulerStatus } from './protocol.ts';
import { SCHEDULER_SETTINGS } from './settings.ts';

export interface SchedulerOptions {
  readonly dialect: Dialect;
  /** Absent: the defaults. */
  readonly configuration?: SchedulerConfiguration;
}

const PODS = 'core/pods';
const NODES = 'core/nodes';

type Settings = { readonly [Name in keyof typeof SCHEDULER_SETTINGS]: number };

export class Scheduler implements Actor<SchedulerProtocol> {
  readonly #core: SchedulingCore;
  readonly #loop: SchedulingLoop;
  readonly #follower: FeedFollower;
  readonly #eventWrites: BestEffortWrites;
  readonly #conditionWrites: BestEffortWrites;

  constructor(context: ActorContext, { dialect, profiles, configuration }: SchedulerParts, feedFactory: FeedFactory) {
    const settings: Settings = { ...SCHEDULER_SETTINGS, ...(context.settings as Partial<Settings>) };
    const { percentageOfNodesToScore, podInitialBackoffMs, podMaxBackoffMs } = configuration;
    this.#core = new SchedulingCore({
      profiles,
      random: context.random,
      dialect,
      percentageOfNodesToScore,
      queue: { ...QUEUE_DEFAULTS, backoffInitialMs: podInitialBackoffMs, backoffMaxMs: podMaxBackoffMs },
    });
    const metrics = schedulerMetrics(context.metrics, this.#core);
    this.#eventWrites = eventWrites(context, metrics, settings);
    this.#conditionWrites = conditionWrites(context, metrics, settings);
    const port = admissionPort(context.ref('admission'), dialect, profiles[0]!.schedulerName);
    this.#loop = this.#makeLoop(context, port, metrics, settings);
    const storageKeys = [PODS, NODES, ...this.#core.cluster.objects.storageKeys];
    this.#follower = new FeedFollower(context, storageKeys, feedFactory, this.#listener(context));
  }

  #makeLoop(
    context: ActorContext,
    port: ClusterPort,
    metrics: SchedulerMetrics,
    limits: LoopLimits & Settings,
  ): SchedulingLoop {
    const { clock, timers, random, log } = context;
    const core = this.#core;
    const waiting = new WaitingPods();
    const { failureEventsPerSecondMax: perSecond, failureEventsBurst: burst } = limits;
    const failurePace = new Pace({ perSecond, burst }, clock);
    const { eventsDropped: dropped } = metrics;
    const writes = this.#eventWrites;
    const events = new EventRecorder({ port, clock, random, writes, failurePace, dropped });
    const queuedPod = core.queuedPod.bind(core);
    const crash = (error: unknown) => context.crash(error instanceof Error ? error : new Error(String(error)));
    const onChange = () => this.#loop.wake();
    return new SchedulingLoop({
      core,
      port,
      clock,
      timers,
      metrics,
      limits,
      waiting,
      events,
      conditions: new ConditionWriter({ port, clock, timers, writes: this.#conditionWrites, queuedPod }),
      preemptor: new Preemptor({ core, port, clock, events, waiting, metrics, onChange, crash }),
      onUnanswered: (err, bindings) => log.warn({ err, bindings }, 'bindings not answered'),
      crash,
    });
  }

  #listener(context: ActorContext): FeedListener {
    const { clock, log } = context;
    const core = this.#core;
    return {
      onReset: () => core.beginList(),
      onSynced: () => {
        core.endList();
        log.info({ ...core.counts() }, 'scheduler follows the store');
        this.#loop.wake();
      },
      onEvent: (event) => applyEvent(core, event, clock.monotonicMs()),
      onBatchEnd: () => this.#loop.wake(),
    };
  }

  onMessage(message: MessageOf<SchedulerProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'storeBatch':
        this.#follower.onBatch(message);
        return;
      case 'storeLost':
        this.#follower.onLost();
        return;
      case 'status':
        reply.send(this.#status());
        return;
      default:
        unreachable(message);
    }
  }

  /** Resolves at once: a control plane whose store is still recovering serves without a scheduler until then. */
  async start(): Promise<void> {
    this.#follower.start();
  }

  /** Waits for the bindings under way; events and conditions that still wait are lost. */
  async stop(): Promise<void> {
    this.#follower.stop();
    this.#eventWrites.stop();
    this.#conditionWrites.stop();
    await this.#loop.stop();
  }

  /** A new store knows no subscriptions. */
  peerRestarted(name: string): void {
    if (name === 'store') this.#follower.onLost();
  }

  #status(): SchedulerStatus {
    return { following: this.#follower.following, ...this.#core.counts() };
  }
}

function eventWrites(context: ActorContext, metrics: SchedulerMetrics, settings: Settings): BestEffortWrites {
  const limits = { inFlightMax: settings.eventsInFlightMax, queuedMax: settings.eventsQueuedMax };
  return new BestEffortWrites(limits, context.timers, metrics.eventsDropped, metrics.eventsFailed);
}

function conditionWrites(context: ActorContext, metrics: SchedulerMetrics, settings: Settings): BestEffortWrites {
  const { conditionsPerSecondMax: perSecond, conditionsBurst: burst } = settings;
  const pace = new Pace({ perSecond, burst }, context.clock);
  const limits = { inFlightMax: settings.conditionsInFlightMax, queuedMax: settings.conditionsQueuedMax, pace };
  return new BestEffortWrites(limits, context.timers, metrics.statusWritesDropped, metrics.statusWritesFailed);
}

function applyEvent(core: SchedulingCore, event: FeedEvent, nowMs: number): void {
  const deleted = event.type === 'delete';
  if (event.storageKey === PODS) {
    if (deleted) core.removePod(event.namespace, event.name);
    else core.setPod(event.object(), nowMs);
  } else if (event.storageKey === NODES) {
    if (deleted) core.removeNode(event.name);
    else core.setNode(event.name, event.object());
  } else if (deleted) core.removeObject(event.storageKey, event.namespace, event.name);
  else core.setObject(event.storageKey, event.namespace, event.name, event.object());
}

/** What is known when the actor is made: profiles that need modules of the operator's are made when it starts. */
interface SchedulerParts {
  readonly dialect: Dialect;
  readonly profiles: readonly Profile[];
  readonly configuration: SchedulerConfiguration;
}

/** The actor until its plug-ins are loaded, which its mailbox waits for. */
class LoadingScheduler implements Actor<SchedulerProtocol> {
  readonly #load: () => Promise<Scheduler>;
  #loaded: Scheduler | undefined;

  constructor(load: () => Promise<Scheduler>) {
    this.#load = load;
  }

  onMessage(message: MessageOf<SchedulerProtocol>, reply: Reply): void {
    this.#loaded?.onMessage(message, reply);
  }

  async start(): Promise<void> {
    this.#loaded = await this.#load();
    await this.#loaded.start();
  }

  async stop(): Promise<void> {
    await this.#loaded?.stop();
  }

  peerRestarted(name: string): void {
    this.#loaded?.peerRestarted(name);
  }
}

/** Makes the actor. `feedFactory` stands in for the thread's slabs in tests. */
export function createScheduler(
  context: ActorContext,
  options: SchedulerOptions,
  feedFactory: FeedFactory = feedOfThread,
): Actor<SchedulerProtocol> {
  const { dialect, configuration = defaultConfiguration(dialect) } = options;
  const { pluginModules } = configuration;
  const make = (own?: ReadonlyMap<string, MakeOwnPlugin>) =>
    new Scheduler(context, { dialect, configuration, profiles: profilesOf(configuration, dialect, own) }, feedFactory);
  if (pluginModules.length === 0) return make();
  return new LoadingScheduler(async () => make(await loadOwnPlugins(pluginModules)));
}

export const schedulerActor: ActorDefinition<SchedulerOptions> = {
  ...SCHEDULER_FACTS,
  create: (context, options) => createScheduler(context, options),
};
