// ServiceAffinity: pods of a service run on nodes that have the same values of some labels, and would rather spread over
// the values of others.
import { labelSelectorFromMap } from '../../../api/selectors/label-selector.ts';
import { type ClusterView, type FilterPlugin, SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { refusal } from '../status.ts';
import type { PodSelection } from '../topology/topology-index.ts';
import { podsSelected, podsThere } from './selected-pods.ts';

export interface ServiceAffinityArgs {
  readonly affinityLabels: readonly string[];
  readonly antiAffinityLabelsPreference: readonly string[];
}

const ELSEWHERE = refusal(
  'unschedulable',
  ClusterEvent.nodeAdded |
    ClusterEvent.nodeLabels |
    ClusterEvent.podAdded |
    ClusterEvent.podRemoved |
    ClusterEvent.services,
  "node(s) didn't match service affinity",
);

export function serviceAffinity(args: ServiceAffinityArgs, hostnameLabel: string): FilterPlugin & ScorePlugin {
  return {
    name: 'ServiceAffinity',
    prepareFilter(pod, cluster) {
      const own = ownValues(pod, args.affinityLabels);
      const isBound = own.size < args.affinityLabels.length && cluster.objects.owners.servicesOf(pod).length > 0;
      const like = podsThere(pod.namespace, labelSelectorFromMap(pod.labels));
      const hosts = isBound ? firstHosts(like, cluster, hostnameLabel) : [];
      if (own.size === 0 && !isBound) return null;
      const trial = { host: '', pods: 0 };
      const standing = withValuesOf(hosts[0]?.node, own, args.affinityLabels);
      let wanted = standing;
      return {
        check({ labels }) {
          for (const [key, value] of wanted) if (labels.get(key) !== value) return ELSEWHERE;
          return null;
        },
        change(other, node, sign) {
          if (!isBound || like.amount(other.namespace, other.labels, other.deleting) === 0) return;
          trial.pods = (trial.host === node.name ? trial.pods : 0) + sign;
          trial.host = node.name;
          const left = hosts.find(({ node: { name }, pods }) => pods + (name === trial.host ? trial.pods : 0) > 0);
          wanted = withValuesOf(left?.node ?? (trial.pods > 0 ? node : undefined), own, args.affinityLabels);
        },
        reset() {
          trial.pods = 0;
          wanted = standing;
        },
      };
    },
    prepareScore(pod, cluster) {
      const { antiAffinityLabelsPreference: keys } = args;
      const [service] = cluster.objects.owners.servicesOf(pod);
      if (keys.length === 0) return null;
      const selected = service === undefined ? undefined : labelSelectorFromMap(Object.fromEntries(service));
      const counts =
        selected === undefined
          ? undefined
          : cluster.topology.domainCounts(podsSelected(pod.namespace, selected), hostnameLabel);
      return {
        score: (node) => counts?.onNode(node) ?? 0,
        normalize: (scores, count, nodes) => spreadOverValues(scores, count, nodes, keys),
      };
    },
  };
}

interface Host {
  readonly node: NodeInfo;
  readonly pods: number;
}

/** The first node with pods like the one in question; and the second, which counts where a trial takes those of the first away. */
function firstHosts(like: PodSelection, { topology, nodes }: ClusterView, hostnameLabel: string): readonly Host[] {
  const hosts: Host[] = [];
  const counts = topology.domainCounts(like, hostnameLabel);
  for (const node of counts.unused ? [] : nodes) {
    const pods = counts.onNode(node);
    if (pods > 0 && hosts.push({ node, pods }) === 2) break;
  }
  return hosts;
}

/** The values that the pod asks for itself. */
function ownValues({ constraints }: PodInfo, keys: readonly string[]): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  for (const key of keys) {
    const value = constraints.nodeSelector.get(key);
    if (value !== undefined) wanted.set(key, value);
  }
  return wanted;
}

/** The same, and for the other keys those of a node that a pod of its service is on. */
function withValuesOf(
  host: NodeInfo | undefined,
  own: ReadonlyMap<string, string>,
  keys: readonly string[],
): ReadonlyMap<string, string> {
  const wanted = new Map(own);
  for (const key of host === undefined ? [] : keys) {
    const value = host?.labels.get(key);
    if (value !== undefined && !wanted.has(key)) wanted.set(key, value);
  }
  return wanted;
}

/** For each label: the fewer of the service's pods share a node's value of it, the more; a node without it gets nothing. */
function spreadOverValues(
  scores: Float64Array,
  count: number,
  nodes: readonly NodeInfo[],
  keys: readonly string[],
): void {
  let pods = 0;
  for (let at = 0; at < count; at++) pods += scores[at]!;
  const totals = new Float64Array(count);
  for (const key of keys) {
    const byValue = new Map<string, number>();
    for (let at = 0; at < count; at++) {
      const value = nodes[at]!.labels.get(key);
      if (value !== undefined) byValue.set(value, (byValue.get(value) ?? 0) + scores[at]!);
    }
    for (let at = 0; at < count; at++) {
      const value = nodes[at]!.labels.get(key);
      if (value === undefined) continue;
      totals[at]! += (pods === 0 ? SCORE_MAX : SCORE_MAX * ((pods - byValue.get(value)!) / pods)) / keys.length;
    }
  }
  for (let at = 0; at < count; at++) scores[at] = Math.trunc(totals[at]!);
}
