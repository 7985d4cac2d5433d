// The extension points of scheduling, one small interface each, and the Status that plugins answer with. A plugin is one
// file under plugins/ and implements one or more of them; profile.ts lists which run, in which order. All are pure and
// synchronous. Binding is not among them: that is the port's (cluster-port.ts).
import type { NodeInfo } from '../core/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';

/** What a plugin's refusal means, for this attempt and for the queue afterwards. */
export type StatusCode =
  /**
   * The pod does not fit now, and evicting other pods could help. The next node is tried; when none is left, post-filter
   * plugins may act, and the pod waits as unschedulable for a ClusterEvent that one of the refusing plugins names.
   */
  | 'unschedulable'
  /** As `unschedulable`, but evicting pods from this node can't help: post-filter plugins leave the node out. */
  | 'unresolvable'
  /** The plugin could not decide. The attempt ends, whatever other nodes say, and the pod is tried after its backoff. */
  | 'error';

/** A refusal. There is no success status: a plugin that has nothing against it answers null, which costs nothing. */
export interface Status {
  readonly code: StatusCode;
  /** Each is counted once per node in the message that the user sees. Constant where possible, or told apart by node. */
  readonly reasons: readonly string[];
  /** The ClusterEvents after which the answer may be another one. */
  readonly helpedBy: number;
}

/** What plugins may know of the cluster besides the node in question. */
export interface ClusterView {
  readonly nodes: readonly NodeInfo[];
  readonly hasSoftTaints: boolean;
}

interface Plugin {
  /** As in the profile and in logs. */
  readonly name: string;
}

/** Answers for one pod whether a node will do: null when it will. Called once per node, so it allocates nothing. */
export type NodeFilter = (node: NodeInfo) => Status | null;

export interface FilterPlugin extends Plugin {
  /**
   * Pre-filter and filter in one: looks at the pod once and answers the check for its nodes. Null: nothing about this
   * pod can make the plugin refuse, so it is skipped. A Status refuses the pod on all nodes.
   */
  prepareFilter(pod: PodInfo, cluster: ClusterView): NodeFilter | Status | null;
}

/** Scores nodes for one pod. Higher is better. */
export interface NodeScorer {
  /** A finite number, from 0 to SCORE_MAX unless normalized. */
  score(node: NodeInfo): number;
  /**
   * How raw scores become 0 to SCORE_MAX over the feasible nodes: `none` takes them as they are, `highest` scales the
   * highest to SCORE_MAX, `lowest` does so and turns them around.
   */
  readonly normalize: 'none' | 'highest' | 'lowest';
}

export const SCORE_MAX = 100;

export interface ScorePlugin extends Plugin {
  /** Pre-score: looks at the pod once. Null when every node would score the same. */
  prepareScore(pod: PodInfo, cluster: ClusterView): NodeScorer | null;
}

/** Why each node was refused, in the order tried. */
export interface Rejection {
  readonly node: NodeInfo;
  readonly status: Status;
}

export interface PostFilterPlugin extends Plugin {
  /** Called when no node fits (for preemption). Answers the ClusterEvents that its action brings about, 0 for none. */
  postFilter(pod: PodInfo, rejections: readonly Rejection[], cluster: ClusterView): number;
}

export interface ReservePlugin extends Plugin {
  /** The pod goes to this node: take what it needs there. A Status undoes what earlier plugins reserved. */
  reserve(pod: PodInfo, node: NodeInfo): Status | null;
  /** The pod does not go there after all. Also called for a reservation that was refused; must not fail. */
  unreserve(pod: PodInfo, node: NodeInfo): void;
}

export interface PermitPlugin extends Plugin {
  /** The last word before the binding. A Status undoes the reservation. */
  permit(pod: PodInfo, node: NodeInfo): Status | null;
}

/** Which plugins run at each extension point, in order. */
export interface Profile {
  readonly filters: readonly FilterPlugin[];
  readonly scores: readonly { readonly plugin: ScorePlugin; readonly weight: number }[];
  readonly postFilters: readonly PostFilterPlugin[];
  readonly reserves: readonly ReservePlugin[];
  readonly permits: readonly PermitPlugin[];
}

/** A refusal that plugins keep as a constant. */
export function refusal(code: StatusCode, helpedBy: number, ...reasons: string[]): Status {
  return Object.freeze({ code, helpedBy, reasons: Object.freeze(reasons) });
}
