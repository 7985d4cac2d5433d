// Makes the room that a pod was promised: deletes the victims, tells of it, and takes back the promises of others that no
// longer hold. When a victim cannot be deleted, the promise is taken back and the pod tries again.
import type { Clock } from '../../../runtime/environment.ts';
import type { PreemptionOrder } from '../core/decision.ts';
import type { SchedulingCore } from '../core/scheduling-core.ts';
import type { WaitingPods } from '../core/waiting-pods.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { type ClusterPort, UNANSWERED } from './cluster-port.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';

export interface PreemptorParts {
  readonly core: SchedulingCore;
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly waiting: WaitingPods;
  readonly metrics: SchedulerMetrics;
  /** Something was taken back: there may be pods to decide about. */
  readonly onChange: () => void;
}

const NOT_FOUND = 404;
const CONFLICT = 409;
const ERROR = 400;

export class Preemptor {
  private readonly parts: PreemptorParts;

  constructor(parts: PreemptorParts) {
    this.parts = parts;
  }

  /**
   * Does what was decided. Resolves when the victims leave, or do not and the promise is taken back; what the pod's own status says
   * of that is the caller's business.
   */
  async makeRoom(pod: PodInfo, { node, victims, displaced }: PreemptionOrder): Promise<void> {
    const { core, clock, metrics, onChange } = this.parts;
    metrics.preemptionVictims.observe(victims.length);
    const gone = await Promise.all(victims.map((victim) => this.evict(victim, pod, node)));
    if (gone.includes(false)) {
      core.takeBackPromise(pod, clock.monotonicMs());
      onChange();
    }
    for (const other of displaced) void this.clearNomination(other);
  }

  /** Answers whether the victim leaves. One that was not bound yet is kept from it, which frees its place at once. */
  private async evict(victim: PodInfo, pod: PodInfo, node: string): Promise<boolean> {
    const { port, events, waiting } = this.parts;
    if (waiting.reject(victim.uid, 'preempted')) return true;
    if (victim.deleting) return true;
    const code = await port.deletePod(victim.namespace, victim.name, victim.uid).catch(() => UNANSWERED);
    if (code === NOT_FOUND || code === CONFLICT) return true;
    if (code === UNANSWERED || code >= ERROR) return false;
    events.preempted(victim, pod, node);
    return true;
  }

  private async clearNomination({ namespace, name, uid }: PodInfo): Promise<void> {
    const patch = { metadata: { uid }, status: { nominatedNodeName: null } };
    await this.parts.port.patchPodStatus(namespace, name, patch).catch(() => UNANSWERED);
  }
}
