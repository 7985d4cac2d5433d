// What plug-ins answer where they are against something. Knows nothing of pods and nodes.

/** What a plug-in's refusal means, for this attempt and for the queue afterwards. */
export type StatusCode =
  /**
   * The pod does not fit now, and evicting other pods could help. The next node is tried; when none is left, post-filter
   * plug-ins may act, and the pod waits as unschedulable for a ClusterEvent that one of the refusing plug-ins names.
   */
  | 'unschedulable'
  /** As `unschedulable`, but evicting pods from this node can't help: post-filter plug-ins leave the node out. */
  | 'unresolvable'
  /** The plug-in could not decide. The attempt ends, whatever other nodes say, and the pod is tried after its backoff. */
  | 'error';

/** A refusal. There is no success status: a plug-in that has nothing against it answers null, which costs nothing. */
export interface Status {
  readonly code: StatusCode;
  /** Each is counted once per node in the message that the user sees. Constant where possible, or told apart by node. */
  readonly reasons: readonly string[];
  /** The ClusterEvents after which the answer may be another one; left out, any of them. */
  readonly helpedBy?: number;
}

/** A refusal that plug-ins keep as a constant. */
export function refusal(code: StatusCode, helpedBy: number, ...reasons: string[]): Status {
  return Object.freeze({ code, helpedBy, reasons: Object.freeze(reasons) });
}

/** What two plug-ins have against a node: of two codes the worse, and either may change its mind. */
export function bothOf(one: Status, other: Status): Status {
  if (other.code === 'error') return other;
  const code = one.code === 'unresolvable' ? one.code : other.code;
  const reasons = [...one.reasons, ...other.reasons];
  if (one.helpedBy === undefined || other.helpedBy === undefined) return { code, reasons };
  return { code, reasons, helpedBy: one.helpedBy | other.helpedBy };
}
