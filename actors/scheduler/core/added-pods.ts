// The pods that were placed since waiting ones were last looked at: who waits for another pod is tried again for one of these alone.
import type { PodInfo } from '../pods/pod-info.ts';
import type { TopologyIndex } from '../topology/topology-index.ts';

/** Pods that are looked at one by one for whether another pod waits for them; more may help anyone. */
const ADDED_MAX = 64;
/** What a waiting pod asks of others is asked, too; with more of it, any pod that came may help. */
const ASKED_MAX = 256;

export class AddedPods {
  /** Up to one more than ADDED_MAX. */
  private readonly pods: PodInfo[] = [];

  note(pod: PodInfo): void {
    if (this.pods.length <= ADDED_MAX) this.pods.push(pod);
  }

  clear(): void {
    this.pods.length = 0;
  }

  /** True when one of them is what the pod waits for, or may be. */
  mayHelp(pod: PodInfo, topology: TopologyIndex): boolean {
    if (this.pods.length > ADDED_MAX || pod.spread.length + pod.affinity.required.length > ASKED_MAX) return true;
    // Who asks for nothing of the kind waits by the profile, for a pod of the same services: any of the namespace may be one.
    const asksNothing = pod.spread.length + pod.affinity.required.length === 0;
    return this.pods.some(
      (other) =>
        (other.namespace === pod.namespace &&
          (asksNothing || pod.spread.some(({ selector }) => selector.matches(other.labels)))) ||
        pod.affinity.required.some((term) => topology.speaksOf(term, other)),
    );
  }
}
