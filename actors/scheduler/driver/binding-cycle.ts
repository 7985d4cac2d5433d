// What happens between the decision about a pod and its binding, beside the decisions about the next pods: waiting for
// permits, PreBind, and Bind where it is not the default. Most pods have nothing of it to go through and are bound with the
// next batch. Answers how each ended; knows nothing of batches.
import type { Clock, Timers } from '../../../runtime/environment.ts';
import type { BindDecision, BindingEnd } from '../core/decision.ts';
import type { WaitingPods } from '../core/waiting-pods.ts';
import type { BindingContext, Status } from '../framework/framework.ts';
import type { ClusterPort } from './cluster-port.ts';

export interface BindingCycleParts {
  readonly port: ClusterPort;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly waiting: WaitingPods;
}

/** `default`: nothing stands in the way, and the pod is to be bound with the next batch. */
export type CycleEnd = 'default' | BindingEnd;

const HTTP_ERROR = 400;

export class BindingCycle {
  private readonly parts: BindingCycleParts;
  private readonly context: BindingContext;

  constructor(parts: BindingCycleParts) {
    this.parts = parts;
    const { port, clock, timers } = parts;
    this.context = {
      port: {
        patchObject: (resource, namespace, name, patch) => port.patchObject(resource, namespace, name, patch),
        bindOne: async ({ namespace, name, uid }, node) => {
          const [end] = await port.bind([{ namespace, name, uid, node }]);
          return end?.bound ? 201 : HTTP_ERROR;
        },
      },
      nowMs: () => clock.monotonicMs(),
      wait: (ms) => new Promise((resolve) => void timers.after(ms, resolve)),
    };
  }

  /** At once where nothing has to be waited for. */
  begin(decision: BindDecision): CycleEnd | Promise<CycleEnd> {
    const { profile, pod, node } = decision;
    if (decision.waits !== undefined) return this.afterPermit(decision, decision.waits);
    for (const plugin of profile.preBinds) {
      const done = plugin.preBind(pod, node, this.context);
      if (done !== null) return this.afterPreBind(decision, done, profile.preBinds.indexOf(plugin) + 1);
    }
    return this.bind(decision);
  }

  private async afterPermit(decision: BindDecision, waits: ReadonlyMap<string, number>): Promise<CycleEnd> {
    const nowMs = this.parts.clock.monotonicMs();
    const untilMs = new Map([...waits].map(([plugin, waitMs]) => [plugin, nowMs + waitMs]));
    const status = await new Promise<Status | null>((resolve) => {
      this.parts.waiting.add(decision.pod.uid, untilMs, resolve);
    });
    return status === null ? this.afterPreBind(decision, Promise.resolve(null), 0) : failed(status);
  }

  private async afterPreBind(decision: BindDecision, done: Promise<Status | null>, next: number): Promise<CycleEnd> {
    const { profile, pod, node } = decision;
    let status = await done;
    for (const plugin of profile.preBinds.slice(next)) {
      status ??= await plugin.preBind(pod, node, this.context);
    }
    return status === null ? this.bind(decision) : failed(status);
  }

  private bind({ profile, pod, node }: BindDecision): CycleEnd | Promise<CycleEnd> {
    for (const plugin of profile.binds) {
      const end = plugin.bind(pod, node, this.context);
      if (end === 'default') return 'default';
      if (end !== 'skip') return end.then((status) => (status === null ? { bound: true } : failed(status)));
    }
    return { bound: false, reason: 'failed', message: 'no bind plug-in takes the pod' };
  }
}

function failed({ reasons }: Status): BindingEnd {
  return { bound: false, reason: 'failed', message: reasons.join(', ') };
}
