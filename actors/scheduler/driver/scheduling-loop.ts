// Drives the core: decides in slices that leave room for other turns, and sends bindings in batches, one under way while
// the next gathers. Knows nothing of where events come from. A crash loses nothing: pods without a node are found again.
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import { type OrchErrorCode, toErrorFrame } from '../../../runtime/errors.ts';
import type { CycleTiming } from '../core/cycle-timing.ts';
import type { BindDecision, BindingEnd, Decision, FailDecision, PreemptionOrder, Question } from '../core/decision.ts';
import type { SchedulingCore } from '../core/scheduling-core.ts';
import type { WaitingPods } from '../core/waiting-pods.ts';
import type { Extenders } from '../extenders/extenders.ts';
import type { PostBindPlugin } from '../framework/framework.ts';
import { defaultBinder } from '../plugins/default-binder.ts';
import { BindingCycle, bindingRefused, type CycleEnd } from './binding-cycle.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { ConditionWriter } from './condition-writer.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Preemptor } from './preemptor.ts';
import { decisionAfter } from './question-cycle.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';

export interface LoopLimits {
  /** Pods decided in one turn. */
  readonly slicePodsMax: number;
  /** Nodes looked at in one turn, which is what its time depends on. The pod under way is finished. */
  readonly sliceNodesMax: number;
  readonly bindingBatchMax: number;
  /** Pods about which extenders are asked at the same time. */
  readonly questionsMax: number;
}

export interface LoopParts {
  readonly core: SchedulingCore;
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: SchedulerMetrics;
  readonly timing: CycleTiming;
  readonly events: EventRecorder;
  readonly conditions: ConditionWriter;
  readonly preemptor: Preemptor;
  readonly waiting: WaitingPods;
  readonly extenders: Extenders | undefined;
  readonly limits: LoopLimits;
  /** A batch of bindings got no answer. */
  readonly onUnanswered: (error: unknown, bindingsCount: number) => void;
  /** An invariant is broken. */
  readonly crash: (error: Error) => void;
}

interface GatheredBinding {
  readonly decision: BindDecision;
  /** When the attempt began, and when it came to the decision. */
  readonly beganMs: number;
  readonly decidedMs: number;
}

const UNANSWERED: BindingEnd = { bound: false, reason: 'unanswered' };
/** Of what was decided and not sent, before somebody else may have decided otherwise. */
const ABANDONED: BindingEnd = { bound: false, reason: 'failed', message: 'the scheduler knows the cluster no longer' };
/** After these the batch may have been carried out all the same. */
const OPEN_ENDS: ReadonlySet<OrchErrorCode> = new Set<OrchErrorCode>(['DeadlineExceeded', 'Cancelled']);

export class SchedulingLoop {
  private readonly parts: LoopParts;
  private readonly cycle: BindingCycle;
  private gathering: GatheredBinding[] = [];
  private inFlight: Promise<void> | undefined;
  private questions = 0;
  private sliceComing = false;
  private paused = false;
  private stopped = false;
  private timer: { readonly dueMs: number; readonly timer: Timer } | undefined;

  constructor(parts: LoopParts) {
    this.parts = parts;
    const { port, clock, timers, waiting, metrics, timing, extenders } = parts;
    this.cycle = new BindingCycle({ port, clock, timers, waiting, metrics, timing, extenders });
  }

  /** Something changed: decide soon. */
  wake(): void {
    if (this.sliceComing || this.paused || this.stopped) return;
    this.sliceComing = true;
    this.parts.timers.soon(() => this.runSlice());
  }

  /**
   * What is known is no longer so, and somebody else may be deciding: nothing is decided until `resume`, and what was decided and has
   * not been sent is given up. Bindings under way end as they do.
   */
  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.cancelTimer();
    this.rejectWaiting();
    for (const { decision } of this.gathering.splice(0)) this.abandonBinding(decision);
  }

  resume(): void {
    this.paused = false;
    this.wake();
  }

  /** Decides nothing more, and resolves when the batch under way is answered. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer();
    this.rejectWaiting();
    await this.inFlight;
    this.parts.extenders?.close();
  }

  private rejectWaiting(): void {
    for (const uid of this.parts.waiting.uids()) this.parts.waiting.reject(uid, 'the scheduler stops');
  }

  /** What was decided is not carried out, and the pod tries again when there are decisions again. */
  private abandon({ kind, pod }: Decision): void {
    const { core, clock } = this.parts;
    if (kind === 'bind') core.settleBinding(pod, ABANDONED, clock.monotonicMs());
    else core.takeBackPromise(pod, clock.monotonicMs());
  }

  private abandonBinding(decision: BindDecision): void {
    this.parts.metrics.bindingsOpen.add(-1);
    this.abandon(decision);
  }

  private runSlice(): void {
    this.sliceComing = false;
    if (this.paused || this.stopped) return;
    const { core, clock, waiting } = this.parts;
    const nowMs = clock.monotonicMs();
    waiting.keepOnly(({ key, uid }) => core.cluster.assumption(key, uid) !== undefined);
    waiting.expire(nowMs);
    core.advance(nowMs);
    let drained = false;
    try {
      drained = this.decideSlice(nowMs);
    } finally {
      // Where a plug-in throws, the pod is left out; what was decided before goes out, and those behind it have their turn.
      this.sendBatch();
      // A full batch waits for the one under way, whose answer wakes the loop.
      if (!drained && this.gathering.length < this.parts.limits.bindingBatchMax) this.wake();
      else this.sleep(nowMs);
    }
  }

  /** True when no pod is left to decide about, or the next has to wait until extenders have answered about another. */
  private decideSlice(nowMs: number): boolean {
    const { core, limits, clock } = this.parts;
    const nodesEnd = core.nodesExamined + limits.sliceNodesMax;
    for (let pods = 0; pods < limits.slicePodsMax && core.nodesExamined < nodesEnd; pods++) {
      if (this.gathering.length >= limits.bindingBatchMax) return false;
      const beganMs = clock.monotonicMs();
      const decision = core.decide(nowMs, this.questions < limits.questionsMax);
      if (decision === undefined) return true;
      if (decision.kind === 'nodes' || decision.kind === 'victims') {
        this.ask(decision, beganMs);
        continue;
      }
      this.carryOut(decision, beganMs);
    }
    return false;
  }

  /** The answers wake the loop. */
  private ask(question: Question, beganMs: number): void {
    const { core, clock, extenders } = this.parts;
    if (extenders === undefined) throw new Error('there are questions, and nobody to ask');
    this.questions++;
    decisionAfter(question, { core, clock, extenders, isStopped: () => this.stopped })
      .then((decision) => {
        this.questions--;
        if (this.stopped) return;
        if (decision !== undefined) this.carryOut(decision, beganMs);
        this.sendBatch();
        this.wake();
      })
      .catch(this.crash);
  }

  private carryOut(decision: Decision, beganMs: number): void {
    if (this.paused) {
      this.abandon(decision);
      return;
    }
    const { clock, metrics } = this.parts;
    const decidedMs = clock.monotonicMs();
    const seconds = (decidedMs - beganMs) / 1000;
    if (decision.kind === 'bind') {
      metrics.algorithmSeconds.observe(seconds);
      this.beginBinding({ decision, beganMs, decidedMs });
    } else this.reportFailure(decision, seconds);
  }

  private beginBinding(binding: GatheredBinding): void {
    const { decision } = binding;
    const end = this.cycle.begin(decision);
    this.parts.metrics.bindingsOpen.add(1);
    if (!(end instanceof Promise)) {
      this.endCycle(binding, end);
      return;
    }
    this.parts.core.hold(decision.pod);
    end
      .catch((error: unknown): CycleEnd => ({ bound: false, reason: 'failed', message: toErrorFrame(error).message }))
      .then((settled) => {
        this.endCycle(binding, settled);
        if (this.stopped) return;
        this.sendBatch();
        this.wake();
      })
      .catch(this.crash);
  }

  private endCycle(binding: GatheredBinding, end: CycleEnd): void {
    if (this.paused && (end === 'default' || !end.bound)) this.abandonBinding(binding.decision);
    else if (end === 'default') {
      // However long it waits for its turn, here and on its way: it would be bound twice, or find its place taken.
      this.parts.core.hold(binding.decision.pod);
      this.gathering.push(binding);
    } else this.settle(binding, end, this.parts.clock.monotonicMs());
  }

  private reportFailure(decision: FailDecision, seconds: number): void {
    const { kind, reason, pod, profile, message, preemption, promised, soughtRoom } = decision;
    const { metrics, events, conditions } = this.parts;
    metrics.profile(profile.schedulerName).attempted(kind, seconds);
    if (soughtRoom) metrics.preemptionAttempts.add(1);
    events.failed(pod, message);
    if (preemption !== undefined && preemption.node !== '') this.makeRoom(decision, preemption).catch(this.crash);
    // What was to be said of an earlier promise may not have been said yet.
    else conditions.unscheduled(pod, reason, message, preemption?.node ?? promised);
  }

  /**
   * A pod is told of its promise when those who are in its room leave: a promise that stood in its status would hold for as long,
   * also where they may not be deleted, and keep others from room that nobody gets.
   */
  private async makeRoom({ queued, pod, reason, message }: FailDecision, order: PreemptionOrder): Promise<void> {
    const { core, conditions, preemptor } = this.parts;
    const { attempts } = queued;
    await preemptor.makeRoom(pod, order);
    // What a later attempt has come to is told by then.
    if (queued.attempts !== attempts || core.queuedPod(pod.key, pod.uid) === undefined) return;
    conditions.unscheduled(pod, reason, message, core.promisedNode(pod.key) ?? '');
  }

  private readonly crash = (error: unknown): void => {
    this.parts.crash(error instanceof Error ? error : new Error(String(error)));
  };

  private sendBatch(): void {
    if (this.inFlight !== undefined || this.gathering.length === 0) return;
    const batch = this.gathering;
    this.gathering = [];
    const { metrics, timing } = this.parts;
    metrics.batchBindings.observe(batch.length);
    const sentMs = timing.nowMs();
    this.inFlight = this.bind(batch)
      .then((ends) => {
        batch.forEach(({ decision: { profile } }, at) => {
          timing.point(profile.schedulerName, 'Bind', ends[at]?.bound === true ? 'Success' : 'Error', sentMs);
        });
        this.settleBatch(batch, ends);
      })
      .catch(this.crash);
  }

  private async bind(batch: readonly GatheredBinding[]): Promise<readonly BindingEnd[]> {
    const bindings = batch.map(({ decision: { pod, node } }) => ({
      namespace: pod.namespace,
      name: pod.name,
      uid: pod.uid,
      node: node.name,
    }));
    try {
      const ends = await this.parts.port.bind(bindings);
      return ends.map((end) => bindingRefused(end, defaultBinder));
    } catch (error) {
      this.parts.onUnanswered(error, batch.length);
      const { code, message } = toErrorFrame(error);
      const failed: BindingEnd = { bound: false, reason: 'failed', message };
      const end = OPEN_ENDS.has(code) ? UNANSWERED : bindingRefused(failed, defaultBinder);
      return batch.map(() => end);
    }
  }

  private settleBatch(batch: readonly GatheredBinding[], ends: readonly BindingEnd[]): void {
    const nowMs = this.parts.clock.monotonicMs();
    this.inFlight = undefined;
    batch.forEach((binding, at) => {
      this.settle(binding, ends[at] ?? UNANSWERED, nowMs);
    });
    if (this.stopped) return;
    this.sendBatch();
    this.wake();
  }

  private settle({ decision, beganMs, decidedMs }: GatheredBinding, end: BindingEnd, nowMs: number): void {
    const { core, metrics, timing, events, conditions } = this.parts;
    const { pod, queued, node, profile } = decision;
    metrics.bindingsOpen.add(-1);
    core.settleBinding(pod, end, nowMs);
    const isRejected = !end.bound && end.reason === 'rejected';
    const result = end.bound ? 'scheduled' : isRejected ? 'unschedulable' : 'error';
    metrics.profile(profile.schedulerName).attempted(result, (nowMs - beganMs) / 1000);
    if (!end.bound) {
      if (end.reason !== 'failed' && end.reason !== 'rejected') return;
      conditions.unscheduled(pod, isRejected ? 'Unschedulable' : 'SchedulerError', end.message, undefined);
      events.failed(pod, end.message);
      return;
    }
    metrics.bindingSeconds.observe((nowMs - decidedMs) / 1000);
    metrics.podSeconds(queued.attempts).observe((nowMs - queued.firstQueuedMs) / 1000);
    metrics.podAttempts.observe(queued.attempts);
    events.scheduled(pod, node.name);
    const boundMs = timing.nowMs();
    for (const plugin of profile.postBinds) this.tell(plugin, decision);
    timing.point(profile.schedulerName, 'PostBind', 'Success', boundMs);
  }

  /** What a plug-in throws there is thrown in a turn of its own: the other bindings of the batch are settled all the same. */
  private tell(plugin: PostBindPlugin, { pod, node }: BindDecision): void {
    try {
      plugin.postBind(pod, node.name);
    } catch (error) {
      this.parts.timers.soon(() => {
        throw error;
      });
    }
  }

  /** Until the core has something to do by itself, or `wake`. */
  private sleep(nowMs: number): void {
    const { core, waiting } = this.parts;
    const dueMs = earlier(core.nextDueMs(), waiting.nextDueMs());
    if (dueMs === this.timer?.dueMs) return;
    this.cancelTimer();
    if (dueMs === undefined) return;
    const timer = this.parts.timers.after(Math.max(1, Math.ceil(dueMs - nowMs)), () => {
      this.timer = undefined;
      this.wake();
    });
    this.timer = { dueMs, timer };
  }

  private cancelTimer(): void {
    this.timer?.timer.cancel();
    this.timer = undefined;
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
