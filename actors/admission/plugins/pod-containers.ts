// The containers of a pod, of every sort, with their places.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { partsAt } from '../../../api/json/object-fields.ts';

/** In the order in which they are visited. */
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export interface PlacedContainer {
  /** `spec.containers[0]`. */
  readonly path: string;
  readonly container: JsonObject;
}

/** Every container of a pod's spec, with the path by which errors name it. */
export function containersOf(spec: JsonObject): readonly PlacedContainer[] {
  return CONTAINER_LISTS.flatMap((list) =>
    partsAt(spec, list).map((container, index) => ({ path: `spec.${list}[${index}]`, container })),
  );
}

/** The pod's spec with every container changed. */
export function withContainers(spec: JsonObject, change: (container: JsonObject) => JsonObject): JsonObject {
  const changed: Record<string, unknown> = { ...spec };
  for (const list of CONTAINER_LISTS) if (spec[list] !== undefined) changed[list] = partsAt(spec, list).map(change);
  return changed;
}
