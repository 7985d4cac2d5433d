// Drives the core: decides in slices that leave room for other turns, and sends bindings in batches, one under way while
// the next gathers. Knows nothing of where events come from. A crash loses nothing: pods without a node are found again.
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import { type OrchErrorCode, toErrorFrame } from '../../../runtime/errors.ts';
import type { BindingEnd, Decision, SchedulingCore } from '../core/scheduling-core.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { ConditionWriter } from './condition-writer.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';

export interface LoopLimits {
  /** Pods decided in one turn. */
  readonly slicePodsMax: number;
  /** Nodes looked at in one turn, which is what its time depends on. The pod under way is finished. */
  readonly sliceNodesMax: number;
  readonly bindingBatchMax: number;
}

export interface LoopParts {
  readonly core: SchedulingCore;
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: SchedulerMetrics;
  readonly events: EventRecorder;
  readonly conditions: ConditionWriter;
  readonly limits: LoopLimits;
  /** A batch of bindings got no answer. */
  readonly onUnanswered: (error: unknown, bindingsCount: number) => void;
  /** An invariant is broken. */
  readonly crash: (error: Error) => void;
}

type BindDecision = Decision & { readonly kind: 'bind' };

interface GatheredBinding {
  readonly decision: BindDecision;
  readonly decidedMs: number;
}

const UNANSWERED: BindingEnd = { bound: false, reason: 'unanswered' };
/** After these the batch may have been carried out all the same. */
const OPEN_ENDS: ReadonlySet<OrchErrorCode> = new Set<OrchErrorCode>(['DeadlineExceeded', 'Cancelled']);

export class SchedulingLoop {
  private readonly parts: LoopParts;
  private gathering: GatheredBinding[] = [];
  private inFlight: Promise<void> | undefined;
  private sliceComing = false;
  private stopped = false;
  private timer: { readonly dueMs: number; readonly timer: Timer } | undefined;

  constructor(parts: LoopParts) {
    this.parts = parts;
  }

  /** Something changed: decide soon. */
  wake(): void {
    if (this.sliceComing || this.stopped) return;
    this.sliceComing = true;
    this.parts.timers.soon(() => this.runSlice());
  }

  /** Decides nothing more, and resolves when the batch under way is answered. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.timer.cancel();
    await this.inFlight;
  }

  private runSlice(): void {
    this.sliceComing = false;
    if (this.stopped) return;
    const nowMs = this.parts.clock.monotonicMs();
    this.parts.core.advance(nowMs);
    const drained = this.decideSlice(nowMs);
    this.sendBatch();
    // A full batch waits for the one under way, whose answer wakes the loop.
    if (!drained && this.gathering.length < this.parts.limits.bindingBatchMax) this.wake();
    else this.sleep(nowMs);
  }

  /** True when no pod is left to decide about. */
  private decideSlice(nowMs: number): boolean {
    const { core, limits } = this.parts;
    const nodesEnd = core.nodesExamined + limits.sliceNodesMax;
    for (let pods = 0; pods < limits.slicePodsMax && core.nodesExamined < nodesEnd; pods++) {
      if (this.gathering.length >= limits.bindingBatchMax) return false;
      const decision = core.decide(nowMs);
      if (decision === undefined) return true;
      this.carryOut(decision, nowMs);
    }
    return false;
  }

  private carryOut(decision: Decision, nowMs: number): void {
    const { metrics, events, conditions } = this.parts;
    if (decision.kind === 'bind') {
      this.gathering.push({ decision, decidedMs: nowMs });
      return;
    }
    const { kind, pod, message } = decision;
    metrics.attempts[kind].add(1);
    conditions.unscheduled(pod, kind === 'error' ? 'SchedulerError' : 'Unschedulable', message);
    events.failed(pod, message);
  }

  private sendBatch(): void {
    if (this.inFlight !== undefined || this.gathering.length === 0) return;
    const batch = this.gathering;
    this.gathering = [];
    this.parts.metrics.batchBindings.observe(batch.length);
    this.inFlight = this.bind(batch)
      .then((ends) => this.settleBatch(batch, ends))
      .catch((error: unknown) => this.parts.crash(error instanceof Error ? error : new Error(String(error))));
  }

  private async bind(batch: readonly GatheredBinding[]): Promise<readonly BindingEnd[]> {
    const bindings = batch.map(({ decision: { pod, node } }) => ({
      namespace: pod.namespace,
      name: pod.name,
      uid: pod.uid,
      node,
    }));
    try {
      return await this.parts.port.bind(bindings);
    } catch (error) {
      this.parts.onUnanswered(error, batch.length);
      const { code, message } = toErrorFrame(error);
      const end: BindingEnd = OPEN_ENDS.has(code) ? UNANSWERED : { bound: false, reason: 'failed', message };
      return batch.map(() => end);
    }
  }

  private settleBatch(batch: readonly GatheredBinding[], ends: readonly BindingEnd[]): void {
    const { core, clock, metrics, events } = this.parts;
    const nowMs = clock.monotonicMs();
    this.inFlight = undefined;
    batch.forEach(({ decision: { pod, queued, node }, decidedMs }, at) => {
      const end = ends[at] ?? UNANSWERED;
      core.settleBinding(pod, end, nowMs);
      if (!end.bound) {
        metrics.attempts.error.add(1);
        return;
      }
      metrics.attempts.scheduled.add(1);
      metrics.e2eSeconds.observe((nowMs - decidedMs) / 1000);
      metrics.podSeconds.observe((nowMs - queued.firstQueuedMs) / 1000);
      events.scheduled(pod, node);
    });
    if (this.stopped) return;
    this.sendBatch();
    this.wake();
  }

  /** Until the core has something to do by itself, or `wake`. */
  private sleep(nowMs: number): void {
    const dueMs = this.parts.core.nextDueMs();
    if (dueMs === this.timer?.dueMs) return;
    this.timer?.timer.cancel();
    this.timer = undefined;
    if (dueMs === undefined) return;
    const timer = this.parts.timers.after(Math.max(1, Math.ceil(dueMs - nowMs)), () => {
      this.timer = undefined;
      this.wake();
    });
    this.timer = { dueMs, timer };
  }
}
