// Pods that were promised room on a node, where others are leaving to make it. Until they are placed, pods of lower
// priority must not take that room. Pure.
import type { Preemption } from '../framework/framework.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { PreemptionOrder } from './decision.ts';

const NONE: readonly PodInfo[] = Object.freeze([]);

export interface NominationEvents {
  /** Room is kept for a pod no longer, and the pod has not taken it. */
  readonly onRoomLeft?: () => void;
  /** Those are others now that are promised room on the node. */
  readonly onNode?: (node: string) => void;
}

export class Nominations {
  private readonly events: NominationEvents;
  private readonly byNode = new Map<string, Map<string, PodInfo>>();
  private readonly nodeOf = new Map<string, string>();

  constructor(events: NominationEvents = {}) {
    this.events = events;
  }

  get size(): number {
    return this.nodeOf.size;
  }

  /** The node a pod was promised room on. */
  nodeFor(key: string): string | undefined {
    return this.nodeOf.get(key);
  }

  /** Promises, or brings the pod up to date. */
  set(pod: PodInfo, node: string): void {
    this.remove(pod.key, node);
    const pods = this.byNode.get(node) ?? new Map<string, PodInfo>();
    pods.set(pod.key, pod);
    this.byNode.set(node, pods);
    this.nodeOf.set(pod.key, node);
    this.events.onNode?.(node);
  }

  /** A pod that waits was seen as it is now: a promise stands that its status tells of, or that it does not tell of yet. */
  renew(pod: PodInfo, before: PodInfo | undefined): void {
    const takenBack = pod.nominatedNode === '' && before?.uid === pod.uid && before.nominatedNode !== '';
    const node = pod.nominatedNode || this.nodeFor(pod.key);
    if (node === undefined || takenBack || (before !== undefined && before.uid !== pod.uid)) this.remove(pod.key);
    else this.set(pod, node);
  }

  /** Promises room where it is to be made, or takes an earlier promise back; undefined where there was none. */
  order(pod: PodInfo, { node, victims }: Preemption): PreemptionOrder | undefined {
    if (node === '') {
      const wasPromised = this.nodeFor(pod.key) !== undefined || pod.nominatedNode !== '';
      this.remove(pod.key);
      return wasPromised ? { node, victims, displaced: [] } : undefined;
    }
    const displaced = this.below(pod, node);
    for (const { key } of displaced) this.remove(key);
    this.set(pod, node);
    return { node, victims, displaced };
  }

  /** The promise is over. `takenOn`: the node where the pod has its room, if it has; what was kept for it elsewhere is left. */
  remove(key: string, takenOn?: string): void {
    const node = this.nodeOf.get(key);
    if (node === undefined) return;
    this.nodeOf.delete(key);
    const pods = this.byNode.get(node);
    pods?.delete(key);
    if (pods?.size === 0) this.byNode.delete(node);
    this.events.onNode?.(node);
    if (node !== takenOn) this.events.onRoomLeft?.();
  }

  /** The pods on a node that this one must leave room for: others of its priority or more. */
  before(pod: PodInfo, node: string): readonly PodInfo[] {
    const pods = this.byNode.get(node);
    if (pods === undefined) return NONE;
    return [...pods.values()].filter(({ key, priority }) => key !== pod.key && priority >= pod.priority);
  }

  /** The pods on a node of lower priority than this one. */
  below(pod: PodInfo, node: string): readonly PodInfo[] {
    const pods = this.byNode.get(node);
    return pods === undefined ? NONE : [...pods.values()].filter(({ priority }) => priority < pod.priority);
  }
}
