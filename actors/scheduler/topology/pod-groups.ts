// Placed pods with the same labels in the same namespace, counted by node: what selectors are asked about, so that a
// question costs as much as there are different pods, not as there are pods. Pure; owned by topology-index.ts.
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';

/** What a count of pods needs to hear of. */
export interface GroupCount {
  /** `delta` pods more of a group that it counts are on the node. */
  change(node: NodeInfo, delta: number): void;
}

export class PodGroup {
  readonly namespace: string;
  readonly labels: Labels;
  /** Pods that are being deleted form groups of their own: spreading does not count them. */
  readonly deleting: boolean;
  readonly nodes = new Map<NodeInfo, number>();
  /** The counts that count this group, and how much each of its pods is to them. */
  readonly counts = new Map<GroupCount, number>();

  constructor(pod: PodInfo) {
    this.namespace = pod.namespace;
    this.labels = pod.labels;
    this.deleting = pod.deleting;
  }
}

export class PodGroups {
  private readonly byNamespace = new Map<string, Map<string, PodGroup>>();

  /** The group of pods like this one, if one is placed. */
  get(pod: PodInfo): PodGroup | undefined {
    return this.byNamespace.get(pod.namespace)?.get(pod.groupKey);
  }

  /** Makes it if there is none. */
  ensure(pod: PodInfo, onNew: (group: PodGroup) => void): PodGroup {
    let groups = this.byNamespace.get(pod.namespace);
    if (groups === undefined) {
      groups = new Map();
      this.byNamespace.set(pod.namespace, groups);
    }
    let group = groups.get(pod.groupKey);
    if (group === undefined) {
      group = new PodGroup(pod);
      groups.set(pod.groupKey, group);
      onNew(group);
    }
    return group;
  }

  /** Forgets a group that no pod is in any more. */
  drop(pod: PodInfo): void {
    const groups = this.byNamespace.get(pod.namespace);
    groups?.delete(pod.groupKey);
    if (groups?.size === 0) this.byNamespace.delete(pod.namespace);
  }

  /** The groups of these namespaces; of all when undefined. */
  *in(namespaces: readonly string[] | undefined): IterableIterator<PodGroup> {
    if (namespaces === undefined) {
      for (const groups of this.byNamespace.values()) yield* groups.values();
      return;
    }
    for (const namespace of new Set(namespaces)) yield* this.byNamespace.get(namespace)?.values() ?? [];
  }
}
