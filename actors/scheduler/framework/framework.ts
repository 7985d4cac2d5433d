// The extension points of scheduling, one small interface each, and the Status that plug-ins answer with. A plug-in is one
// file under plugins/ and implements one or more of them; a profile lists which run where, in which order. What looks at
// nodes is pure and synchronous, and so is the rest: what is to be written or waited for is said, and the driver does it.
import type { Random } from '../../../runtime/environment.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { ClusterObjects } from '../objects/cluster-objects.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Status } from '../status.ts';
import type { TopologyIndex } from '../topology/topology-index.ts';

/**
 * What plug-ins may know of the cluster besides the node in question. It does not change within one decision: deciding is
 * synchronous, so the live state is the snapshot, and nothing is copied.
 */
export interface ClusterView {
  readonly nodes: readonly NodeInfo[];
  readonly hasSoftTaints: boolean;
  readonly hasHardTaints: boolean;
  readonly hasCordonedNodes: boolean;
  /** Some node asks to be spared the pods of some controller. */
  readonly hasAvoidingNodes: boolean;
  /** On how many nodes an image is, by each of its names. */
  readonly imageNodes: ReadonlyMap<string, number>;
  readonly topology: TopologyIndex;
  /** A node by its name; it may be one that pods are bound to and that does not exist (`present` false). */
  readonly node: (name: string) => NodeInfo | undefined;
  /** Volumes, services, controllers, budgets and the rest. */
  readonly objects: ClusterObjects;
}

export interface Plugin {
  /** As in the profile and in logs. */
  readonly name: string;
}

/** A pod that waits for its turn. */
export interface QueueEntry {
  readonly pod: PodInfo;
  /** When it entered the queue, this time. */
  readonly queuedMs: number;
  readonly attempts: number;
}

export interface QueueSortPlugin extends Plugin {
  /** True when `a` is to be tried before `b`; false where the order does not matter to the plug-in. */
  before(a: QueueEntry, b: QueueEntry): boolean;
}

/** Answers for one pod whether a node will do: null when it will. Called once per node, so it allocates nothing. */
export type NodeFilter = (node: NodeInfo) => Status | null;

/** What a filter plug-in has found out about a pod. */
export interface PreparedFilter {
  readonly check: NodeFilter;
  /** The names of the only nodes that can do: others need not be asked about. */
  readonly only?: readonly string[];
  /**
   * Given where the answer follows from the node as it stands and from this text, which says all of the pod that counts:
   * pods with the same text are answered alike, until the node changes.
   */
  readonly ofNodeAlone?: string;
  /**
   * From here on answers as if the pod were placed on the node (1) or not (-1), for what the plug-in counts beyond the
   * node itself. The changes between two resets are about one node.
   */
  readonly change?: (pod: PodInfo, node: NodeInfo, sign: 1 | -1) => void;
  /** Undoes every `change`. */
  readonly reset?: () => void;
}

export interface FilterPlugin extends Plugin {
  /**
   * PreFilter: looks at the pod once and answers the check for its nodes, which is Filter. Null: nothing about this pod
   * can make the plug-in refuse, so it is skipped. A Status refuses the pod on all nodes.
   */
  prepareFilter(pod: PodInfo, cluster: ClusterView): NodeFilter | PreparedFilter | Status | null;
}

/** Changes raw scores into 0 to SCORE_MAX, in place; `nodes` are the first `count` scores' nodes. */
export type Normalize = (scores: Float64Array, count: number, nodes: readonly NodeInfo[]) => void;

/** Scores nodes for one pod. Higher is better. */
export interface NodeScorer {
  /** A finite number, from 0 to SCORE_MAX unless normalized. */
  score(node: NodeInfo): number;
  /**
   * How raw scores become 0 to SCORE_MAX over the feasible nodes: `none` takes them as they are, `highest` scales the
   * highest to SCORE_MAX, `lowest` does so and turns them around.
   */
  readonly normalize: 'none' | 'highest' | 'lowest' | Normalize;
  /** As in PreparedFilter. */
  readonly ofNodeAlone?: string;
}

export const SCORE_MAX = 100;

export interface ScorePlugin extends Plugin {
  /** PreScore: looks at the pod and its feasible nodes once. Null when every node would score the same. */
  prepareScore(pod: PodInfo, cluster: ClusterView, feasible: readonly NodeInfo[]): NodeScorer | null;
}

/** Why each node was refused, in the order tried. */
export interface Rejection {
  readonly node: NodeInfo;
  readonly status: Status;
}

/** The filters as they were prepared for the pod in question, to ask what would be if pods were elsewhere. */
export interface FilterTrial {
  /** As in PreparedFilter, of all filters together. */
  readonly ofNodeAlone: string | undefined;
  /** All filters on the node as it stands in `node`, which may be a copy of the real one with pods added or taken. */
  check(node: NodeInfo): Status | null;
  /** Tells the filters that count beyond nodes of a pod added to (1) or taken from (-1) `node`. */
  change(pod: PodInfo, node: NodeInfo, sign: 1 | -1): void;
  reset(): void;
}

/** What post-filter plug-ins are given. */
export interface PostFilterCycle {
  readonly pod: PodInfo;
  readonly rejections: readonly Rejection[];
  readonly cluster: ClusterView;
  readonly trial: FilterTrial;
  readonly random: Random;
  /** The node on which the pod was promised room before. */
  readonly promised: string | undefined;
  /** The plug-in may answer `unfinished`. */
  readonly inTurns: boolean;
}

/** Makes room for a pod: what is to be done, by the driver. */
export interface Preemption {
  /** Where the pod is to go once there is room; empty takes back an earlier promise. */
  readonly node: string;
  readonly victims: readonly PodInfo[];
}

/** A node where a pod would fit without the victims, the most important of which comes first. */
export interface PreemptionCandidate {
  readonly node: NodeInfo;
  readonly victims: readonly PodInfo[];
  /** Victims whose budgets allow no disruption. */
  readonly violations: number;
}

/** Nodes where room could be made. Others may have a word about them before one is chosen. */
export interface PreemptionOffer {
  readonly candidates: readonly PreemptionCandidate[];
  /** The ClusterEvents after which room could be made where it cannot be now. */
  readonly helpedBy?: number;
  choose(candidates: readonly PreemptionCandidate[]): Preemption | null;
}

export interface PostFilterPlugin extends Plugin {
  /**
   * Called when no node fits. Null when it can do nothing. `unfinished`: to find out takes longer than a turn may, and the plug-in is
   * called again when others have had theirs, if there is still no node for the pod.
   */
  postFilter(cycle: PostFilterCycle): Preemption | PreemptionOffer | 'unfinished' | null;
}

export interface ReservePlugin extends Plugin {
  /** The pod goes to this node: take what it needs there. A Status undoes what was reserved for it. */
  reserve(pod: PodInfo, node: NodeInfo, cluster: ClusterView): Status | null;
  /** The pod does not go there after all. Also called for a reservation that was refused; must not fail. */
  unreserve(pod: PodInfo, node: NodeInfo): void;
  /** The pod shows as bound: what was reserved is its own now. */
  settled?(pod: PodInfo): void;
}

/** The pod waits until the plug-in answers, or the time is up, which rejects it. */
export interface PermitWait {
  readonly waitMs: number;
  /** Called when the pod begins to wait. `answer` is to be called once: null lets the pod go on, a Status rejects it. */
  readonly begin?: (answer: (status: Status | null) => void) => void;
}

export interface PermitPlugin extends Plugin {
  /** The last word before the binding begins. A Status undoes the reservation. */
  permit(pod: PodInfo, node: NodeInfo): Status | PermitWait | null;
}

/** A merge patch of an object of core/v1; the namespace is empty for objects without one. */
export interface ObjectPatch {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly patch: object;
}

/** What must be done before a pod can be bound: the driver writes, and then waits. */
export interface PreBindWork {
  /** Made one after the other; the first that fails ends it. */
  readonly writes: readonly ObjectPatch[];
  /** Asked after the writes, again and again while it says `waiting`. */
  progress(): 'done' | 'waiting' | Status;
  readonly timeoutMs: number;
  /** What is waited for, said before why it did not come. */
  readonly waitsFor?: string;
}

export interface PreBindPlugin extends Plugin {
  /** Null when there is nothing to be done, which lets the pod be bound at once. */
  preBind(pod: PodInfo, node: NodeInfo): PreBindWork | null;
}

/** A binding that a plug-in makes itself: it calls `done` once, with null when the pod is bound. */
export type OwnBinding = (done: (status: Status | null) => void) => void;

export interface BindPlugin extends Plugin {
  /**
   * Binds the pod. `default`: with the next batch of bindings, which is what DefaultBinder says. `skip`: the next plug-in
   * is asked.
   */
  bind(pod: PodInfo, node: NodeInfo): 'default' | 'skip' | OwnBinding;
}

export interface PostBindPlugin extends Plugin {
  /** The pod was bound. */
  postBind(pod: PodInfo, node: string): void;
}

/** Which plug-ins run at each extension point, in order, for the pods of one scheduler name. */
export interface Profile {
  readonly schedulerName: string;
  /** The same in all profiles: there is one queue. */
  readonly queueSort: QueueSortPlugin;
  readonly filters: readonly FilterPlugin[];
  /** Where a filter refuses a node, the others give their reasons as well; absent: the first alone is heard. */
  readonly asksAllFilters?: boolean;
  readonly scores: readonly { readonly plugin: ScorePlugin; readonly weight: number }[];
  readonly postFilters: readonly PostFilterPlugin[];
  readonly reserves: readonly ReservePlugin[];
  readonly permits: readonly PermitPlugin[];
  readonly preBinds: readonly PreBindPlugin[];
  readonly binds: readonly BindPlugin[];
  readonly postBinds: readonly PostBindPlugin[];
}
