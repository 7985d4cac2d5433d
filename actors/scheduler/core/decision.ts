// What the core decides about a pod, and how what follows from it ends.
import type { BindingOutcome } from '../../admission/protocol.ts';
import type { Profile } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { NodeInfo } from './node-info.ts';
import type { QueuedPod } from './queue.ts';

/** Bind it; its resources are taken already. Report the outcome with `settleBinding`. */
export interface BindDecision {
  readonly kind: 'bind';
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly profile: Profile;
  /** The permit plug-ins that make it wait first, and for how long at most. */
  readonly waits: ReadonlyMap<string, number> | undefined;
}

/** What is to be done to make room for a pod. */
export interface PreemptionOrder {
  /** Where it is promised room; empty when an earlier promise is taken back. */
  readonly node: string;
  readonly victims: readonly PodInfo[];
  /** Pods of lower priority whose promise of the same node no longer holds. */
  readonly displaced: readonly PodInfo[];
}

/** Nothing fits, or (`error`) a plug-in could not decide. It is back in the queue. */
export interface FailDecision {
  readonly kind: 'unschedulable' | 'error';
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly profile: Profile;
  readonly message: string;
  readonly preemption: PreemptionOrder | undefined;
}

export type Decision = BindDecision | FailDecision;

/** How a binding ended; `unanswered` means that it may have been carried out. */
export type BindingEnd = BindingOutcome | { readonly bound: false; readonly reason: 'unanswered' };
