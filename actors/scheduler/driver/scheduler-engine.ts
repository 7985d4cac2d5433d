// A scheduler without where its news comes from and where its writes go: the core, the loop that drives it, and the writes
// that are made beside it. Whoever owns it tells it the cluster's objects and gives it a ClusterPort. Two do: the actor of this
// process (scheduler.ts) and the scheduler that is a process of its own (remote/).
import type { Logger } from 'pino';
import type { Dialect } from '../../../config/dialect.ts';
import type { Environment } from '../../../runtime/environment.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import type { SchedulerConfiguration } from '../configuration/configuration.ts';
import type { CycleTiming } from '../core/cycle-timing.ts';
import { QUEUE_DEFAULTS } from '../core/queue.ts';
import { SchedulingCore } from '../core/scheduling-core.ts';
import { WaitingPods } from '../core/waiting-pods.ts';
import { Extenders } from '../extenders/extenders.ts';
import type { Profile } from '../framework/framework.ts';
import { Recorder, type RecordSettings } from '../recording/recorder.ts';
import type { SCHEDULER_SETTINGS } from '../settings.ts';
import { BestEffortWrites } from './best-effort-writes.ts';
import type { ClusterPort } from './cluster-port.ts';
import { ConditionWriter } from './condition-writer.ts';
import { EventRecorder } from './event-recorder.ts';
import { extensionTiming } from './extension-metrics.ts';
import { Pace } from './pace.ts';
import { Preemptor } from './preemptor.ts';
import { type SchedulerMetrics, schedulerMetrics } from './scheduler-metrics.ts';
import { SchedulingLoop } from './scheduling-loop.ts';
import { WhatIfs } from './what-if.ts';

export const PODS = 'core/pods';
const NODES = 'core/nodes';

export type SchedulerSettings = { readonly [Name in keyof typeof SCHEDULER_SETTINGS]: number };

export interface EngineParts {
  readonly environment: Pick<Environment, 'clock' | 'timers' | 'random' | 'disk'>;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly dialect: Dialect;
  readonly configuration: SchedulerConfiguration;
  readonly profiles: readonly Profile[];
  readonly port: ClusterPort;
  /** The machine's name, which events say. */
  readonly host: string;
  readonly settings: SchedulerSettings;
  /** Absent: nothing is recorded. */
  readonly record?: RecordSettings | undefined;
  /** An invariant is broken. */
  readonly crash: (error: Error) => void;
}

/** An object that there is, or was. */
export interface ClusterNews {
  readonly isGone: boolean;
  /** ResourceType.storageKey. */
  readonly storageKey: string;
  readonly namespace: string;
  readonly name: string;
  /** As it is now; asked for only where it is not gone. */
  object(): Record<string, unknown>;
}

/** The types whose objects a core is to be told of. */
export function followedKeys(core: SchedulingCore): readonly string[] {
  return [PODS, NODES, ...core.cluster.objects.storageKeys];
}

/** Tells the core of one object that came, changed or is gone. */
export function tellCore(core: SchedulingCore, news: ClusterNews, nowMs: number): void {
  const { isGone, storageKey, namespace, name } = news;
  if (storageKey === PODS) {
    if (isGone) core.removePod(namespace, name);
    else core.setPod(news.object(), nowMs);
  } else if (storageKey === NODES) {
    if (isGone) core.removeNode(name);
    else core.setNode(name, news.object());
  } else if (isGone) core.removeObject(storageKey, namespace, name);
  else core.setObject(storageKey, namespace, name, news.object());
}

export class SchedulerEngine {
  readonly whatIfs: WhatIfs;
  readonly #parts: EngineParts;
  readonly #recorder: Recorder | undefined;
  readonly #core: SchedulingCore;
  readonly #extenders: Extenders | undefined;
  readonly #timing: CycleTiming;
  readonly #loop: SchedulingLoop;
  readonly #eventWrites: BestEffortWrites;
  readonly #conditionWrites: BestEffortWrites;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    const { configuration, profiles, dialect, environment } = parts;
    const { gates, percentageOfNodesToScore, podInitialBackoffMs, podMaxBackoffMs } = configuration;
    const { clock, disk } = environment;
    const { extenders } = configuration;
    this.#extenders = extenders.length === 0 ? undefined : new Extenders(extenders, { clock, disk, log: parts.log });
    this.#timing = extensionTiming(parts.metrics, clock);
    const options = {
      timing: this.#timing,
      outsiders: this.#extenders,
      profiles,
      random: environment.random,
      dialect,
      percentageOfNodesToScore,
      prefersNominatedNode: gates.prefersNominatedNode,
      queue: { ...QUEUE_DEFAULTS, backoffInitialMs: podInitialBackoffMs, backoffMaxMs: podMaxBackoffMs },
    };
    this.#recorder = parts.record && new Recorder(parts.record, options, configuration, parts.log);
    this.#core = this.#recorder?.core ?? new SchedulingCore(options);
    this.whatIfs = new WhatIfs(this.#core, this.#extenders, environment.timers);
    const metrics = schedulerMetrics(parts.metrics, this.#core);
    this.#eventWrites = eventWrites(parts, metrics);
    this.#conditionWrites = conditionWrites(parts, metrics);
    this.#loop = this.#makeLoop(metrics);
  }

  /** The types whose objects it is to be told of. */
  get storageKeys(): readonly string[] {
    return followedKeys(this.#core);
  }

  #makeLoop(metrics: SchedulerMetrics): SchedulingLoop {
    const { environment, log, port, host, settings: limits } = this.#parts;
    const { clock, timers, random } = environment;
    const core = this.#core;
    const waiting = new WaitingPods();
    const { failureEventsPerSecondMax: perSecond, failureEventsBurst: burst } = limits;
    const failurePace = new Pace({ perSecond, burst }, clock);
    const { eventsDropped: dropped } = metrics;
    const writes = this.#eventWrites;
    const events = new EventRecorder({ port, clock, timers, random, host, writes, failurePace, dropped });
    const queuedPod = core.queuedPod.bind(core);
    const crash = (error: unknown) => this.#parts.crash(error instanceof Error ? error : new Error(String(error)));
    const onChange = () => this.#loop.wake();
    return new SchedulingLoop({
      core,
      port,
      clock,
      timers,
      metrics,
      timing: this.#timing,
      limits,
      waiting,
      extenders: this.#extenders,
      events,
      conditions: new ConditionWriter({ port, clock, timers, writes: this.#conditionWrites, queuedPod }),
      preemptor: new Preemptor({ core, port, clock, events, waiting, metrics, onChange }),
      onUnanswered: (err, bindings) => log.warn({ err, bindings }, 'bindings not answered'),
      crash,
    });
  }

  /** What is known is no longer followed: the present state comes next. Nothing is decided until `endList`. */
  beginList(): void {
    this.#loop.pause();
    this.#core.beginList();
  }

  /** All that there is has been told. */
  endList(): void {
    this.#core.endList();
    this.#parts.log.info({ ...this.#core.counts() }, 'scheduler follows the store');
    this.#loop.resume();
  }

  tell(news: ClusterNews): void {
    tellCore(this.#core, news, this.#parts.environment.clock.monotonicMs());
  }

  /** After news: decide soon. */
  wake(): void {
    this.#loop.wake();
  }

  counts(): ReturnType<SchedulingCore['counts']> {
    return this.#core.counts();
  }

  /** Waits for the bindings under way; events and conditions that still wait are lost. */
  async stop(): Promise<void> {
    this.#eventWrites.stop();
    this.#conditionWrites.stop();
    await this.#loop.stop();
    this.#recorder?.close();
  }
}

function eventWrites({ environment, settings }: EngineParts, metrics: SchedulerMetrics): BestEffortWrites {
  const limits = { inFlightMax: settings.eventsInFlightMax, queuedMax: settings.eventsQueuedMax };
  return new BestEffortWrites(limits, environment.timers, metrics.eventsDropped, metrics.eventsFailed);
}

function conditionWrites({ environment, settings }: EngineParts, metrics: SchedulerMetrics): BestEffortWrites {
  const { conditionsPerSecondMax: perSecond, conditionsBurst: burst } = settings;
  const pace = new Pace({ perSecond, burst }, environment.clock);
  const limits = { inFlightMax: settings.conditionsInFlightMax, queuedMax: settings.conditionsQueuedMax, pace };
  return new BestEffortWrites(limits, environment.timers, metrics.statusWritesDropped, metrics.statusWritesFailed);
}
