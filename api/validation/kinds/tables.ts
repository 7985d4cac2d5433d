// All rule tables together. A type or kind is in one of them only.
import type { ChangeTable, RuleTable } from '../rule.ts';
import { configurationStatusUpdates, configurationTypes, configurationUpdates } from './configuration.ts';
import { containerTypes } from './container.ts';
import { labelTypes } from './labels.ts';
import { nodeTypes, nodeUpdates } from './node.ts';
import { placementTypes } from './placement.ts';
import { podStatusUpdates, podTypes, podUpdates } from './pod.ts';
import { podSpecTypes } from './pod-spec.ts';
import { resourceTypes } from './resource-amounts.ts';
import { serviceTypes, serviceUpdates } from './service.ts';
import { volumeSourceTypes } from './volume-sources.ts';
import { volumeTypes } from './volumes.ts';
import { workloadStatusUpdates, workloadTypes, workloadUpdates } from './workloads.ts';

/** What objects are held to whenever they are written. */
export const TYPE_RULES: RuleTable = merged([
  configurationTypes,
  containerTypes,
  labelTypes,
  nodeTypes,
  placementTypes,
  podSpecTypes,
  podTypes,
  resourceTypes,
  serviceTypes,
  volumeSourceTypes,
  volumeTypes,
  workloadTypes,
]);

/** What updates are held to as well. */
export const CHANGE_RULES: ChangeTable = merged([
  configurationUpdates,
  nodeUpdates,
  podUpdates,
  serviceUpdates,
  workloadUpdates,
]);

/** What updates of a status are held to. */
export const STATUS_CHANGE_RULES: ChangeTable = merged([
  configurationStatusUpdates,
  podStatusUpdates,
  workloadStatusUpdates,
]);

function merged<T>(tables: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> {
  const all: Record<string, T> = {};
  for (const table of tables) {
    for (const [name, rules] of Object.entries(table)) {
      if (Object.hasOwn(all, name)) throw new RangeError(`${name} has rules in two tables`);
      all[name] = rules;
    }
  }
  return all;
}
