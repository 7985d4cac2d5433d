// What the core decides about a pod, and how what follows from it ends.
import type { BindingOutcome } from '../../admission/protocol.ts';
import type { PreemptionCandidate, PreemptionOffer, Profile, Rejection } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { QueuedPod } from './queue.ts';
import type { PermitWaits } from './waiting-pods.ts';

/** Bind it; its resources are taken already. Report the outcome with `settleBinding`. */
export interface BindDecision {
  readonly kind: 'bind';
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly node: NodeInfo;
  readonly profile: Profile;
  /** The permit plug-ins that make it wait first, and for how long at most. */
  readonly waits: PermitWaits | undefined;
}

/** What is to be done to make room for a pod. */
export interface PreemptionOrder {
  /** Where it is promised room; empty when an earlier promise is taken back. */
  readonly node: string;
  readonly victims: readonly PodInfo[];
  /** Pods of lower priority whose promise of the same node no longer holds. */
  readonly displaced: readonly PodInfo[];
}

/** What a pod's condition gives as the reason: no node was found, or one was and the pod could not go there. */
export type FailureReason = 'Unschedulable' | 'SchedulerError';

/** Nothing fits, or (`error`) a plug-in could not decide. It is back in the queue. */
export interface FailDecision {
  readonly kind: 'unschedulable' | 'error';
  readonly reason: FailureReason;
  /** Post-filter plug-ins were asked to make room. */
  readonly soughtRoom: boolean;
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly profile: Profile;
  readonly message: string;
  readonly preemption: PreemptionOrder | undefined;
  /** Where it is promised room, now or since before; undefined when nowhere. */
  readonly promised: string | undefined;
}

export type Decision = BindDecision | FailDecision;

/**
 * Others are to be asked about the pod before it is decided. Nothing is taken meanwhile, and the pod is in no queue. Report with
 * `answer`.
 */
export interface NodeQuestion {
  readonly kind: 'nodes';
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly profile: Profile;
  /** Where the plug-ins let it go. */
  readonly feasible: readonly NodeInfo[];
  /** The other nodes that were looked at. */
  readonly rejections: readonly Rejection[];
  /** How many changes the cluster had seen by then. */
  readonly changesSeen: number;
}

/** No node will do, and others have a word about who is evicted. Report with `answerVictims`. */
export interface VictimQuestion {
  readonly kind: 'victims';
  readonly queued: QueuedPod;
  readonly pod: PodInfo;
  readonly profile: Profile;
  readonly offer: PreemptionOffer;
  /** What is said of the pod if nothing comes of it. */
  readonly message: string;
  readonly helpedBy: number;
  readonly changesSeen: number;
}

export type Question = NodeQuestion | VictimQuestion;

/** What others say about the nodes of a question; an Error: they could not be asked, and the attempt ends. */
export interface NodeAnswer {
  readonly kept: readonly NodeInfo[];
  readonly rejections: readonly Rejection[];
  /** Added to what the plug-ins give. */
  readonly scores: ReadonlyMap<string, number>;
}

/** Undefined: they could not be asked, and nobody is evicted. */
export type VictimAnswer = readonly PreemptionCandidate[] | undefined;

/** How a binding ended; `unanswered` means that it may have been carried out, `rejected` that a permit plug-in is against it. */
export type BindingEnd =
  | BindingOutcome
  | { readonly bound: false; readonly reason: 'unanswered' }
  | { readonly bound: false; readonly reason: 'rejected'; readonly message: string };
