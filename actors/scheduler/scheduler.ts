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
import { defaultProfile } from './framework/profile.ts';
import type { SchedulerProtocol, SchedulerStatus } from './protocol.ts';
import { SCHEDULER_SETTINGS } from './settings.ts';

export interface SchedulerOptions {
  readonly dialect: Dialect;
  /** The pods whose spec.schedulerName this is are ours (SPEC.md `--scheduler-name`). */
  readonly schedulerName?: string;
  /** Stop looking for nodes when this share of them is feasible; 0, the default, adapts to the size of the cluster. */
  readonly percentageOfNodesToScore?: number;
}

const DEFAULT_SCHEDULER_NAME = 'default-scheduler';
const PODS = 'core/pods';
const NODES = 'core/nodes';

type Settings = { readonly [Name in keyof typeof SCHEDULER_SETTINGS]: number };

export class Scheduler implements Actor<SchedulerProtocol> {
  readonly #core: SchedulingCore;
  readonly #loop: SchedulingLoop;
  readonly #follower: FeedFollower;
  readonly #eventWrites: BestEffortWrites;
  readonly #conditionWrites: BestEffortWrites;

  constructor(context: ActorContext, options: SchedulerOptions, feedFactory: FeedFactory) {
    const settings: Settings = { ...SCHEDULER_SETTINGS, ...(context.settings as Partial<Settings>) };
    const component = options.schedulerName ?? DEFAULT_SCHEDULER_NAME;
    this.#core = new SchedulingCore({
      profiles: [defaultProfile(options.dialect, component)],
      random: context.random,
      dialect: options.dialect,
      percentageOfNodesToScore: options.percentageOfNodesToScore ?? 0,
    });
    const metrics = schedulerMetrics(context.metrics, this.#core);
    const { clock, timers } = context;
    this.#eventWrites = new BestEffortWrites(
      { inFlightMax: settings.eventsInFlightMax, queuedMax: settings.eventsQueuedMax },
      timers,
      metrics.eventsDropped,
      metrics.eventsFailed,
    );
    this.#conditionWrites = new BestEffortWrites(
      {
        inFlightMax: settings.conditionsInFlightMax,
        queuedMax: settings.conditionsQueuedMax,
        pace: new Pace({ perSecond: settings.conditionsPerSecondMax, burst: settings.conditionsBurst }, clock),
      },
      timers,
      metrics.statusWritesDropped,
      metrics.statusWritesFailed,
    );
    const port = admissionPort(context.ref('admission'), options.dialect, component);
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

/** Makes the actor. `feedFactory` stands in for the thread's slabs in tests. */
export function createScheduler(
  context: ActorContext,
  options: SchedulerOptions,
  feedFactory: FeedFactory = feedOfThread,
): Scheduler {
  return new Scheduler(context, options, feedFactory);
}

export const schedulerActor: ActorDefinition<SchedulerOptions> = {
  ...SCHEDULER_FACTS,
  create: (context, options) => createScheduler(context, options),
};
