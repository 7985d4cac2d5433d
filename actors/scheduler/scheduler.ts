// Chooses a node for each pod that needs one. Follows the store, and binds through admission like any other
// writer. Holds no state that the store does not: after a restart it lists and goes on. Never writes a node or a pod's
// spec itself. The decisions are scheduling-core.ts, their rhythm scheduling-loop.ts; this file only joins the parts.

import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { FeedFollower, type FeedListener } from '../feed-follower.ts';
import { type FeedFactory, feedOfThread } from '../feed-of-thread.ts';
import type { SchedulerConfiguration } from './configuration/configuration.ts';
import { defaultConfiguration } from './configuration/defaults.ts';
import { profilesOf } from './configuration/profiles.ts';
import { admissionPort } from './driver/admission-port.ts';
import { loadOwnPlugins, type MakeOwnPlugin } from './driver/own-plugins.ts';
import { SchedulerEngine, type SchedulerSettings } from './driver/scheduler-engine.ts';
import { SCHEDULER_FACTS } from './facts.ts';
import type { Profile } from './framework/framework.ts';
import type { SchedulerProtocol, SchedulerStatus } from './protocol.ts';
import { SCHEDULER_SETTINGS } from './settings.ts';

export interface SchedulerOptions {
  readonly dialect: Dialect;
  /** Absent: the defaults. */
  readonly configuration?: SchedulerConfiguration;
}

interface SchedulerParts extends Required<SchedulerOptions> {
  readonly profiles: readonly Profile[];
}

export class Scheduler implements Actor<SchedulerProtocol> {
  readonly #engine: SchedulerEngine;
  readonly #follower: FeedFollower;

  constructor(context: ActorContext, { dialect, profiles, configuration }: SchedulerParts, feedFactory: FeedFactory) {
    const settings = { ...SCHEDULER_SETTINGS, ...(context.settings as Partial<SchedulerSettings>) };
    const { log, metrics } = context;
    this.#engine = new SchedulerEngine({
      environment: context,
      metrics,
      log,
      dialect,
      configuration,
      profiles,
      port: admissionPort(context.ref('admission'), dialect, profiles[0]!.schedulerName),
      settings,
      crash: (error) => context.crash(error),
    });
    this.#follower = new FeedFollower(context, this.#engine.storageKeys, feedFactory, listener(this.#engine));
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
    await this.#engine.stop();
  }

  /** A new store knows no subscriptions. */
  peerRestarted(name: string): void {
    if (name === 'store') this.#follower.onLost();
  }

  #status(): SchedulerStatus {
    return { following: this.#follower.following, ...this.#engine.counts() };
  }
}

function listener(engine: SchedulerEngine): FeedListener {
  return {
    onReset: () => engine.beginList(),
    onSynced: () => engine.endList(),
    onEvent: (event) => {
      const { type, storageKey, namespace, name } = event;
      engine.tell({ isGone: type === 'delete', storageKey, namespace, name, object: () => event.object() });
    },
    onBatchEnd: () => engine.wake(),
  };
}

/** Makes the actor. `own`: plug-ins of the operator's, by name. `feedFactory` stands in for the thread's slabs in tests. */
export function createScheduler(
  context: ActorContext,
  { dialect, configuration = defaultConfiguration(dialect) }: SchedulerOptions,
  feedFactory: FeedFactory = feedOfThread,
  own?: ReadonlyMap<string, MakeOwnPlugin>,
): Scheduler {
  const profiles = profilesOf(configuration, dialect, own);
  return new Scheduler(context, { dialect, configuration, profiles }, feedFactory);
}

export const schedulerActor: ActorDefinition<SchedulerOptions> = {
  ...SCHEDULER_FACTS,
  async create(context, options) {
    const own = await loadOwnPlugins(options.configuration?.pluginModules ?? []);
    return createScheduler(context, options, feedOfThread, own);
  },
};
