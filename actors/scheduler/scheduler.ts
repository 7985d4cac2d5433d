// Decider. Chooses a node for each pod that needs one. Follows the store, and binds through admission like any other
// writer. Holds no state that the store does not: after a restart it lists and goes on. Never writes a node or a pod's
// spec itself. The decisions are scheduling-core.ts, their rhythm scheduling-loop.ts; this file only joins the parts.
import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorKind, MessageOf, Reply } from '../../runtime/actor.ts';
import { SLAB_VIEW, SlabView } from '../../storage/slab-view.ts';
import { createStoreFeed, type FeedEvent, type StoreFeed } from '../../storage/store-feed.ts';
import type { AdmissionProtocol } from '../admission/protocol.ts';
import type { StoreProtocol } from '../store/protocol.ts';
import { admissionPort } from './admission-port.ts';
import { BestEffortWrites } from './best-effort-writes.ts';
import { ConditionWriter } from './condition-writer.ts';
import { EventRecorder } from './event-recorder.ts';
import { zoneByLabels } from './node-order.ts';
import { defaultProfile } from './profile.ts';
import type { SchedulerProtocol, SchedulerStatus } from './protocol.ts';
import { schedulerMetrics } from './scheduler-metrics.ts';
import { SchedulingCore } from './scheduling-core.ts';
import { SchedulingLoop } from './scheduling-loop.ts';
import { StoreFollower } from './store-follower.ts';

export interface SchedulerOptions {
  readonly dialect: Dialect;
  /** The pods whose spec.schedulerName this is are ours (SPEC.md `--scheduler-name`). */
  readonly schedulerName?: string;
  /** Stop looking for nodes when this share of them is feasible; 0, the default, adapts to the size of the cluster. */
  readonly percentageOfNodesToScore?: number;
}

/** Makes the feed that turns the store's batches into events of these types. */
export type FeedFactory = (
  context: ActorContext,
  storageKeys: readonly string[],
  onEvent: (event: FeedEvent) => void,
) => StoreFeed;

export const SCHEDULER_SETTINGS = {
  /** Pods decided in one turn. */
  slicePodsMax: 100,
  /** Nodes looked at in one turn: some 5 ms. */
  sliceNodesMax: 50_000,
  bindingBatchMax: 256,
  eventsInFlightMax: 64,
  eventsQueuedMax: 512,
  conditionsInFlightMax: 16,
  conditionsQueuedMax: 16_384,
} as const;

const DEFAULT_SCHEDULER_NAME = 'default-scheduler';
const PODS = 'core/pods';
const NODES = 'core/nodes';

const feedOfThread: FeedFactory = (context, storageKeys, onEvent) =>
  createStoreFeed({ slabs: context.threadLocal(SLAB_VIEW, () => new SlabView()), storageKeys, onEvent });

export class Scheduler implements Actor<SchedulerProtocol> {
  readonly #core: SchedulingCore;
  readonly #loop: SchedulingLoop;
  readonly #follower: StoreFollower;
  readonly #storeName: string;
  readonly #writes: readonly BestEffortWrites[];

  constructor(context: ActorContext, options: SchedulerOptions, feedFactory: FeedFactory) {
    const { clock, timers, random, log } = context;
    const settings = { ...SCHEDULER_SETTINGS, ...(context.settings as Partial<typeof SCHEDULER_SETTINGS>) };
    const component = options.schedulerName ?? DEFAULT_SCHEDULER_NAME;
    const core = new SchedulingCore({
      schedulerName: component,
      profile: defaultProfile(options.dialect),
      random,
      zoneOf: zoneByLabels(options.dialect),
      percentageOfNodesToScore: options.percentageOfNodesToScore ?? 0,
    });
    const metrics = schedulerMetrics(context.metrics, component, core);
    const port = admissionPort(context.ref<AdmissionProtocol>('admission'), options.dialect, component);
    const eventWrites = new BestEffortWrites(
      { inFlightMax: settings.eventsInFlightMax, queuedMax: settings.eventsQueuedMax },
      metrics.eventsDropped,
      metrics.eventsFailed,
    );
    const conditionWrites = new BestEffortWrites(
      { inFlightMax: settings.conditionsInFlightMax, queuedMax: settings.conditionsQueuedMax },
      metrics.statusWritesDropped,
      metrics.statusWritesFailed,
    );
    const queuedPod = core.queuedPod.bind(core);
    const crash = (error: Error) => context.crash(error);
    this.#core = core;
    this.#writes = [eventWrites, conditionWrites];
    this.#loop = new SchedulingLoop({
      core,
      port,
      clock,
      timers,
      metrics,
      events: new EventRecorder({ port, clock, random, component, writes: eventWrites }),
      conditions: new ConditionWriter({ port, clock, timers, writes: conditionWrites, queuedPod }),
      limits: settings,
      onUnanswered: (err, bindings) => log.warn({ err, bindings }, 'bindings not answered'),
      crash,
    });
    const store = context.ref<StoreProtocol>('store');
    this.#storeName = store.name;
    this.#follower = new StoreFollower({
      store,
      subscriber: context.name,
      timers,
      createFeed: (onEvent) => feedFactory(context, [PODS, NODES], onEvent),
      listener: {
        onList: () => core.beginList(),
        onListed: () => {
          core.endList();
          log.info({ ...core.counts() }, 'scheduler follows the store');
          this.#loop.wake();
        },
        onEvent: (event) => applyEvent(core, event, clock.monotonicMs()),
        onBatchEnd: () => this.#loop.wake(),
        onTrouble: (err) => log.warn({ err }, 'scheduler cannot follow the store yet'),
        crash,
      },
    });
  }

  onMessage(message: MessageOf<SchedulerProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'storeBatch':
        this.#follower.apply(message);
        return;
      case 'storeLost':
        this.#follower.begin();
        return;
      case 'status':
        reply.send(this.#status());
        return;
    }
  }

  /** Resolves at once: a control plane whose store is still recovering serves without a scheduler until then. */
  async start(): Promise<void> {
    this.#follower.begin();
  }

  /** Waits for the bindings under way; events and conditions that still wait are lost. */
  async stop(): Promise<void> {
    this.#follower.stop();
    for (const writes of this.#writes) writes.stop();
    await this.#loop.stop();
  }

  /** A new store knows no subscriptions. */
  peerRestarted(name: string): void {
    if (name === this.#storeName) this.#follower.begin();
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
  }
}

/** Makes the actor. `feedFactory` stands in for the thread's slabs in tests. */
export function createScheduler(
  context: ActorContext,
  options: SchedulerOptions,
  feedFactory: FeedFactory = feedOfThread,
): Scheduler {
  return new Scheduler(context, options, feedFactory);
}

export const schedulerKind: ActorKind<SchedulerOptions> = {
  kind: 'scheduler',
  nature: 'decider',
  mailboxMax: 1_024,
  stopOrder: 20,
  settings: SCHEDULER_SETTINGS,
  create: (context, options) => createScheduler(context, options),
};
