// What `orch schedule` prints of explanations.
import type { NodeExplanation } from '../../actors/scheduler/core/explanation.ts';

/** A node a line: its total and what it is made of, or who refuses it. */
export function explanationText(nodes: readonly NodeExplanation[]): string {
  if (nodes.length === 0) return 'there are no nodes\n';
  const width = Math.max('NODE'.length, ...nodes.map(({ node }) => node.length));
  const lines = nodes.map(({ node, refusals, scores, total }) => {
    const [shown, why] =
      refusals.length === 0
        ? [
            String(Math.round(total)),
            scores.map(({ plugin, score, weight }) => `${plugin} ${Math.round(score)}*${weight}`),
          ]
        : ['refused', refusals.map(({ plugin, reasons }) => `${plugin}: ${reasons.join(', ')}`)];
    return `${node.padEnd(width)}  ${shown.padStart('refused'.length)}  ${why.join('; ')}`.trimEnd();
  });
  return `${'NODE'.padEnd(width)}    TOTAL  WHY\n${lines.join('\n')}\n`;
}
