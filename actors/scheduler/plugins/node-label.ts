// NodeLabel: nodes must have some labels and must not have others, or would rather; whatever their values.

import { type FilterPlugin, SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { refusal } from '../status.ts';

export interface NodeLabelArgs {
  readonly presentLabels: readonly string[];
  readonly absentLabels: readonly string[];
  readonly presentLabelsPreference: readonly string[];
  readonly absentLabelsPreference: readonly string[];
}

const WRONG_LABELS = refusal(
  'unresolvable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeLabels,
  "node(s) didn't have the requested labels",
);

export function nodeLabel(args: NodeLabelArgs): FilterPlugin & ScorePlugin {
  const { presentLabels, absentLabels, presentLabelsPreference, absentLabelsPreference } = args;
  const preferences = presentLabelsPreference.length + absentLabelsPreference.length;
  return {
    name: 'NodeLabel',
    prepareFilter() {
      if (presentLabels.length + absentLabels.length === 0) return null;
      return ({ labels }) => {
        const fits = presentLabels.every((key) => labels.has(key)) && !absentLabels.some((key) => labels.has(key));
        return fits ? null : WRONG_LABELS;
      };
    },
    prepareScore() {
      if (preferences === 0) return null;
      return {
        normalize: 'none',
        score({ labels }) {
          const present = presentLabelsPreference.filter((key) => labels.has(key)).length;
          const absent = absentLabelsPreference.filter((key) => !labels.has(key)).length;
          return Math.floor(((present + absent) * SCORE_MAX) / preferences);
        },
      };
    },
  };
}
