// What happens between the decision about a pod and its binding, beside the decisions about the next pods: waiting for
// permits, PreBind, and Bind where it is not the default. Most pods have nothing of it to go through and are bound with the
// next batch. Answers how each ended; knows nothing of batches.
import type { Clock, Timers } from '../../../runtime/environment.ts';
import type { CycleTiming } from '../core/cycle-timing.ts';
import type { BindDecision, BindingEnd } from '../core/decision.ts';
import type { PermitWaits, WaitingPods } from '../core/waiting-pods.ts';
import type { Extenders } from '../extenders/extenders.ts';
import type { BindPlugin, PreBindWork, Profile } from '../framework/framework.ts';
import type { Status } from '../status.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';

export interface BindingCycleParts {
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly waiting: WaitingPods;
  readonly metrics: SchedulerMetrics;
  readonly timing: CycleTiming;
  /** They may bind in the place of plug-ins. */
  readonly extenders: Pick<Extenders, 'binding'> | undefined;
}

/** `default`: nothing stands in the way, and the pod is to be bound with the next batch. */
export type CycleEnd = 'default' | BindingEnd;

/** What a plug-in has to have done before the binding. */
type NamedWork = PreBindWork & { readonly plugin: string };

const RECHECK_MS = 1_000;

export class BindingCycle {
  private readonly parts: BindingCycleParts;

  constructor(parts: BindingCycleParts) {
    this.parts = parts;
  }

  /** At once where nothing has to be waited for. */
  begin(decision: BindDecision): CycleEnd | Promise<CycleEnd> {
    const { profile, pod, node } = decision;
    if (decision.waits !== undefined) return this.afterPermit(decision, decision.waits);
    const beganMs = this.parts.timing.nowMs();
    const works: NamedWork[] = [];
    for (const plugin of profile.preBinds) {
      const work = plugin.preBind(pod, node);
      if (work !== null) works.push({ ...work, plugin: plugin.name });
    }
    if (works.length > 0) return this.afterWorks(decision, works, beganMs);
    this.parts.timing.point(profile.schedulerName, 'PreBind', 'Success', beganMs);
    return this.bind(decision);
  }

  private async afterPermit(decision: BindDecision, waits: PermitWaits): Promise<CycleEnd> {
    const { clock, waiting, metrics } = this.parts;
    const nowMs = clock.monotonicMs();
    const status = await new Promise<Status | null>((resolve) => waiting.add(decision.pod, waits, nowMs, resolve));
    const waited = metrics.permitWaitSeconds(status === null ? 'Success' : 'Unschedulable');
    waited.observe((clock.monotonicMs() - nowMs) / 1000);
    if (status === null) return this.begin({ ...decision, waits: undefined });
    return { bound: false, reason: 'rejected', message: status.reasons.join(', ') };
  }

  private async afterWorks(decision: BindDecision, works: readonly NamedWork[], beganMs: number): Promise<CycleEnd> {
    const { schedulerName } = decision.profile;
    for (const work of works) {
      const problem = await this.carryOut(work);
      if (problem === undefined) continue;
      this.parts.timing.point(schedulerName, 'PreBind', 'Error', beganMs);
      return failed(`running PreBind plugin ${JSON.stringify(work.plugin)}: ${problem}`);
    }
    this.parts.timing.point(schedulerName, 'PreBind', 'Success', beganMs);
    return this.bind(decision);
  }

  /** Answers what went wrong, if anything did. */
  private async carryOut({ writes, progress, timeoutMs, waitsFor }: PreBindWork): Promise<string | undefined> {
    const { port, clock, timers } = this.parts;
    for (const { resource, namespace, name, patch } of writes) {
      const refused = await port.patchObject(resource, namespace, name, patch);
      if (refused !== undefined) return refused;
    }
    const problem = (text: string): string => (waitsFor === undefined ? text : `${waitsFor}: ${text}`);
    const endMs = clock.monotonicMs() + timeoutMs;
    for (;;) {
      const state = progress();
      if (state === 'done') return undefined;
      if (state !== 'waiting') return problem(state.reasons.join(', '));
      if (clock.monotonicMs() >= endMs) return problem('timed out waiting for the condition');
      await new Promise<void>((resolve) => void timers.after(RECHECK_MS, resolve));
    }
  }

  private bind(decision: BindDecision): CycleEnd | Promise<CycleEnd> {
    const beganMs = this.parts.timing.nowMs();
    const end = this.binding(decision);
    return end instanceof Promise ? this.timed(end, decision.profile, beganMs) : end;
  }

  /** How long the default way takes is told by who sends the batch. */
  private async timed(end: Promise<CycleEnd>, { schedulerName }: Profile, beganMs: number): Promise<CycleEnd> {
    const ended = await end;
    const isBound = ended !== 'default' && ended.bound;
    if (ended !== 'default') this.parts.timing.point(schedulerName, 'Bind', isBound ? 'Success' : 'Error', beganMs);
    return ended;
  }

  private binding({ profile, pod, node }: BindDecision): CycleEnd | Promise<CycleEnd> {
    const extended = this.parts.extenders?.binding(pod, node.name);
    if (extended !== undefined) return extended.then((end) => bindingRefused(end));
    for (const plugin of profile.binds) {
      const binding = plugin.bind(pod, node);
      if (binding === 'default') return 'default';
      if (binding === 'skip') continue;
      return new Promise((resolve) => {
        binding((status) => {
          resolve(status === null ? { bound: true } : bindingRefused(failed(status.reasons.join(', ')), plugin));
        });
      });
    }
    return failed('no bind plug-in takes the pod');
  }
}

/** What is said of a pod that `plugin`, or an extender where none is given, could not bind. Other ends stay as they are. */
export function bindingRefused(end: BindingEnd, plugin?: BindPlugin): BindingEnd {
  if (end.bound || end.reason !== 'failed') return end;
  const by = plugin === undefined ? '' : `running Bind plugin ${JSON.stringify(plugin.name)}: `;
  return failed(`binding rejected: ${by}${end.message}`);
}

function failed(message: string): BindingEnd {
  return { bound: false, reason: 'failed', message };
}
