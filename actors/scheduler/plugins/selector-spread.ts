// SelectorSpread: prefers nodes, and zones, with fewer pods of the same services and controllers.
import type { Dialect } from '../../../config/dialect.ts';
import { zoneByLabels } from '../core/node-order.ts';
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { podsSelected } from './selected-pods.ts';

/** What zones count for where there are any. */
const ZONE_SHARE = 2 / 3;

export function selectorSpread(dialect: Dialect): ScorePlugin {
  const zoneOf = zoneByLabels(dialect);
  const hostname = dialect.spell('@label/hostname');
  return {
    name: 'SelectorSpread',
    prepareScore(pod, { topology, objects }) {
      if (pod.spread.length > 0) return null;
      const selector = objects.owners.selectorOf(pod);
      if (selector === undefined) return null;
      const counts = topology.domainCounts(podsSelected(pod.namespace, selector), hostname);
      return {
        score: (node) => counts.onNode(node),
        normalize: (scores, count, nodes) => spread(scores, count, nodes, zoneOf),
      };
    },
  };
}

function spread(
  scores: Float64Array,
  count: number,
  nodes: readonly NodeInfo[],
  zoneOf: (node: NodeInfo) => string,
): void {
  const byZone = new Map<string, number>();
  let mostOnNode = 0;
  for (let at = 0; at < count; at++) {
    mostOnNode = Math.max(mostOnNode, scores[at]!);
    const zone = zoneOf(nodes[at]!);
    if (zone !== '') byZone.set(zone, (byZone.get(zone) ?? 0) + scores[at]!);
  }
  const mostInZone = Math.max(0, ...byZone.values());
  const inverse = (pods: number, most: number) => (most === 0 ? SCORE_MAX : SCORE_MAX * ((most - pods) / most));
  for (let at = 0; at < count; at++) {
    let score = inverse(scores[at]!, mostOnNode);
    const zone = zoneOf(nodes[at]!);
    if (zone !== '') score = score * (1 - ZONE_SHARE) + ZONE_SHARE * inverse(byZone.get(zone)!, mostInZone);
    scores[at] = Math.trunc(score);
  }
}
