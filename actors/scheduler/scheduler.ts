// Chooses a node for each pod that needs one. Follows the store, and binds through admission like any other
// writer. Holds no state that the store does not: after a restart it lists and goes on. Never writes a node or a pod's
// spec itself. The decisions are scheduling-core.ts, their rhythm scheduling-loop.ts; this file only joins the parts.

import type { Dialect } from '../../config/dialect.ts';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Reply } from '../../runtime/actor.ts';
import { unreachable } from '../../runtime/unreachable.ts';
import { FeedFollower, type FeedListener } from '../following/feed-follower.ts';
import { type FeedFactory, feedOfThread } from '../following/feed-of-thread.ts';
import { mayBeBound, schedulerMark } from '../pod-marks.ts';
import type { SchedulerConfiguration } from './configuration/configuration.ts';
import { defaultConfiguration } from './configuration/defaults.ts';
import { profilesOf } from './configuration/profiles.ts';
import { admissionPort } from './driver/admission-port.ts';
import { loadOwnPlugins, type MakeOwnPlugin } from './driver/own-plugins.ts';
import { PODS, SchedulerEngine, type SchedulerSettings } from './driver/scheduler-engine.ts';
import { SCHEDULER_FACTS } from './facts.ts';
import type { Profile } from './framework/framework.ts';
import type { SchedulerProtocol, SchedulerStatus, WhatIfReply } from './protocol.ts';
import type { RecordSettings } from './recording/recorder.ts';
import { SCHEDULER_SETTINGS } from './settings.ts';

export interface SchedulerOptions {
  readonly dialect: Dialect;
  /** The machine's name. */
  readonly host: string;
  /** Absent: the defaults. */
  readonly configuration?: SchedulerConfiguration;
  /** Absent: nothing is recorded. */
  readonly record?: RecordSettings | undefined;
  /** Several servers share the store: nothing is scheduled until this one is told to. */
  readonly waitsToLead?: boolean;
}

interface SchedulerParts extends SchedulerOptions {
  readonly configuration: SchedulerConfiguration;
  readonly profiles: readonly Profile[];
}

export class Scheduler implements Actor<SchedulerProtocol> {
  readonly #engine: SchedulerEngine;
  readonly #follower: FeedFollower;
  #leads: boolean;
  /** The engine has been told all that there is. */
  #isWhole = false;
  /** It was told all that can be read, while there is more: without that it does not begin. */
  #isBlind = false;
  #isTold = false;

  constructor(
    context: ActorContext,
    { dialect, host, profiles, configuration, record, waitsToLead }: SchedulerParts,
    feedFactory: FeedFactory,
  ) {
    this.#leads = waitsToLead !== true;
    const settings = { ...SCHEDULER_SETTINGS, ...(context.settings as Partial<SchedulerSettings>) };
    const { log, metrics } = context;
    this.#engine = new SchedulerEngine({
      environment: context,
      metrics,
      log,
      dialect,
      configuration,
      profiles,
      port: admissionPort(context.ref('admission'), dialect),
      host,
      settings,
      record,
      crash: (error) => context.crash(error),
    });
    const follow = {
      ...listener(this.#engine, profiles, (isTold) => this.#told(isTold)),
      onUnread: ({ length }: readonly unknown[]) => this.#unread(length > 0),
    };
    const how = { partObjects: settings.presentObjectsMax, isPatient: true };
    this.#follower = new FeedFollower(context, this.#engine.storageKeys, feedFactory, follow, how);
  }

  onMessage(message: MessageOf<SchedulerProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'storeBatch':
        this.#follower.onBatch(message);
        return;
      case 'storeLost':
        this.#follower.onLost();
        return;
      case 'lead':
        this.#lead(message.leads);
        return;
      case 'status':
        reply.send(this.#status());
        return;
      case 'whatIf':
        this.#whatIf(message).then(
          (answer) => reply.send(answer),
          (error) => reply.fail(error),
        );
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

  async #whatIf({ pod, nodesMax }: MessageOf<SchedulerProtocol> & { type: 'whatIf' }): Promise<WhatIfReply> {
    if (!this.#follower.following || !this.#leads) return { refused: 'behind' };
    const answer = await this.#engine.whatIfs.answer(pod, nodesMax);
    return answer === undefined ? { refused: 'noProfile' } : { refused: undefined, answer };
  }

  /** What it knows begins anew, or is whole: by what is whole the leader decides. */
  #told(isTold: boolean): void {
    this.#isTold = isTold;
    this.#isWhole = isTold && !this.#isBlind;
    if (!isTold) this.#engine.beginList();
    else if (this.#leads && this.#isWhole) this.#engine.endList();
  }

  /** Who has begun goes on by what it knows. */
  #unread(isBlind: boolean): void {
    this.#isBlind = isBlind;
    if (!isBlind && this.#isTold && !this.#isWhole) this.#told(true);
  }

  /** Who does not lead any more begins anew, and decides nothing. */
  #lead(leads: boolean): void {
    if (this.#leads === leads) return;
    this.#leads = leads;
    if (!leads) this.#follower.onLost('this server schedules no more');
    else if (this.#isWhole) this.#engine.endList();
  }

  #status(): SchedulerStatus {
    return { following: this.#follower.following, ...this.#engine.counts() };
  }
}

function listener(
  engine: SchedulerEngine,
  profiles: readonly Profile[],
  onWhole: (isWhole: boolean) => void,
): FeedListener {
  const isOurs = schedulerMark(profiles.map(({ schedulerName }) => schedulerName));
  return {
    onReset: () => onWhole(false),
    onSynced: () => onWhole(true),
    onEvent: (event) => {
      const { type, storageKey, namespace, name } = event;
      const isGone = type === 'delete';
      // Pods that wait for a scheduler beside this one.
      if (storageKey === PODS && !isGone && !mayBeBound(event) && !isOurs(event)) return;
      engine.tell({ isGone, storageKey, namespace, name, object: () => event.object() });
    },
    onBatchEnd: () => engine.wake(),
  };
}

/** Makes the actor. `own`: plug-ins of the operator's, by name. `feedFactory` stands in for the thread's slabs in tests. */
export function createScheduler(
  context: ActorContext,
  { dialect, host, configuration = defaultConfiguration(dialect), record, waitsToLead = false }: SchedulerOptions,
  feedFactory: FeedFactory = feedOfThread,
  own?: ReadonlyMap<string, MakeOwnPlugin>,
): Scheduler {
  const profiles = profilesOf(configuration, dialect, own);
  return new Scheduler(context, { dialect, host, configuration, profiles, record, waitsToLead }, feedFactory);
}

export const schedulerActor: ActorDefinition<SchedulerOptions> = {
  ...SCHEDULER_FACTS,
  async create(context, options) {
    const own = await loadOwnPlugins(options.configuration?.pluginModules ?? []);
    return createScheduler(context, options, feedOfThread, own);
  },
};
