// RequestedToCapacityRatio: scores a node by its utilization with the pod, along a line of the profile's own shape.
import { SCORE_MAX, type ScorePlugin } from '../framework/framework.ts';
import { CPU_AND_MEMORY, measure, type WeightedResource } from './resource-scores.ts';

/** `utilization` in percent, rising from point to point; `score` from 0 to 10. */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/** Shapes are written on this scale. */
const SHAPE_SCORE_MAX = 10;
const FULL = 100;

/** Throws an Error where there is no shape: no node would ever score anything. */
export function requestedToCapacityRatio(
  shape: readonly ShapePoint[],
  resources: readonly WeightedResource[] = CPU_AND_MEMORY,
): ScorePlugin {
  if (shape.length === 0) throw new Error('the plug-in RequestedToCapacityRatio needs a shape in its args');
  const line = scoreLine(shape);
  return {
    name: 'RequestedToCapacityRatio',
    prepareScore(pod) {
      const measures = resources.map(({ name, weight }) => ({ read: measure(name, pod), weight }));
      const amounts = new Float64Array(2);
      return {
        normalize: 'none',
        score(node) {
          let sum = 0;
          let weights = 0;
          for (const { read, weight } of measures) {
            read(node, amounts);
            const score = scoreAt(line, utilization(amounts[1]!, amounts[0]!));
            if (score <= 0) continue;
            sum += score * weight;
            weights += weight;
          }
          return weights === 0 ? 0 : Math.round(sum / weights);
        },
      };
    },
  };
}

/** A shape on the scale of scores. */
export function scoreLine(shape: readonly ShapePoint[]): readonly ShapePoint[] {
  return shape.map(({ utilization, score }) => ({ utilization, score: score * (SCORE_MAX / SHAPE_SCORE_MAX) }));
}

function utilization(requested: number, capacity: number): number {
  if (capacity === 0 || requested > capacity) return FULL;
  return FULL - Math.trunc(((capacity - requested) * FULL) / capacity);
}

/** The line's value, whole numbers all the way; level before its first point and after its last. */
export function scoreAt(line: readonly ShapePoint[], utilization: number): number {
  for (let at = 0; at < line.length; at++) {
    const { utilization: to, score } = line[at]!;
    if (utilization > to) continue;
    if (at === 0) return score;
    const before = line[at - 1]!;
    const along = ((score - before.score) * (utilization - before.utilization)) / (to - before.utilization);
    return before.score + Math.trunc(along);
  }
  return line.at(-1)?.score ?? 0;
}
