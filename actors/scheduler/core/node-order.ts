// The order in which nodes are tried: one from each zone in turn, so that a sample of the nodes spans the zones. Pure.
import type { Dialect } from '../../../config/dialect.ts';
import type { NodeInfo } from '../nodes/node-info.ts';

/** Answers the zone of a node from its labels: region and zone, empty when it has neither. */
export type ZoneOf = (node: NodeInfo) => string;

/** Reads a node's zone by the labels of the dialect, the older ones where the newer are missing. */
export function zoneByLabels(dialect: Dialect): ZoneOf {
  const names = (part: string) => [
    dialect.spell(`topology.@label/${part}`),
    dialect.spell(`failure-domain.beta.@label/${part}`),
  ];
  const regionLabels = names('region');
  const zoneLabels = names('zone');
  const first = (node: NodeInfo, labels: readonly string[]) =>
    node.labels.get(labels[0]!) ?? node.labels.get(labels[1]!) ?? '';
  return (node) => {
    const region = first(node, regionLabels);
    const zone = first(node, zoneLabels);
    return region === '' && zone === '' ? '' : `${region}\0${zone}`;
  };
}

/** The nodes, taking one of each zone in turn; within a zone in the order given. */
export function spreadOverZones(nodes: readonly NodeInfo[], zoneOf: ZoneOf): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const node of nodes) {
    const zone = zoneOf(node);
    const members = zones.get(zone);
    if (members === undefined) zones.set(zone, [node]);
    else members.push(node);
  }
  const lists = [...zones.values()];
  if (lists.length <= 1) return lists[0] ?? [];
  const order: NodeInfo[] = [];
  for (let round = 0; order.length < nodes.length; round++) {
    for (const members of lists) {
      if (round < members.length) order.push(members[round]!);
    }
  }
  return order;
}
