// All rule tables together. A type or kind is in one of them only.
import type { ChangeTable, RuleTable } from '../rule.ts';
import { apiServiceTypes } from './api-services.ts';
import { autoscalingTypes } from './autoscaling.ts';
import {
  certificateApprovals,
  certificateStatusUpdates,
  certificateTypes,
  certificateUpdates,
} from './certificates.ts';
import { configurationStatusUpdates, configurationTypes, configurationUpdates } from './configuration.ts';
import { containerTypes } from './container.ts';
import { customResourceTypes, customResourceUpdates } from './custom-resources.ts';
import { endpointTypes, endpointUpdates } from './endpoints.ts';
import { ephemeralContainerTypes, ephemeralContainerUpdates } from './ephemeral-containers.ts';
import { eventTypes, eventUpdates } from './events.ts';
import { flowControlTypes } from './flow-control.ts';
import { jobTypes, jobUpdates } from './jobs.ts';
import { labelTypes } from './labels.ts';
import { limitTypes, limitUpdates } from './limits.ts';
import { networkingTypes, networkingUpdates } from './networking.ts';
import { nodeTypes, nodeUpdates } from './node.ts';
import { persistentVolumeTypes, persistentVolumeUpdates } from './persistent-volumes.ts';
import { placementTypes } from './placement.ts';
import { podStatusUpdates, podTypes, podUpdates } from './pod.ts';
import { podSpecTypes } from './pod-spec.ts';
import { policyTypes } from './policy.ts';
import { rbacTypes, rbacUpdates } from './rbac.ts';
import { resourceTypes } from './resource-amounts.ts';
import { reviewTypes } from './reviews.ts';
import { schedulingTypes, schedulingUpdates } from './scheduling.ts';
import { serviceTypes, serviceUpdates } from './service.ts';
import { storageTypes, storageUpdates } from './storage.ts';
import { storageVersionTypes } from './storage-versions.ts';
import { updateStrategyTypes } from './update-strategies.ts';
import { volumeSourceTypes } from './volume-sources.ts';
import { volumeTypes } from './volumes.ts';
import { webhookTypes } from './webhooks.ts';
import { workloadStatusUpdates, workloadTypes, workloadUpdates } from './workloads.ts';

/** What objects are held to whenever they are written. */
export const TYPE_RULES: RuleTable = merged([
  apiServiceTypes,
  autoscalingTypes,
  certificateTypes,
  configurationTypes,
  containerTypes,
  customResourceTypes,
  endpointTypes,
  ephemeralContainerTypes,
  eventTypes,
  flowControlTypes,
  jobTypes,
  labelTypes,
  limitTypes,
  networkingTypes,
  nodeTypes,
  persistentVolumeTypes,
  placementTypes,
  podTypes,
  podSpecTypes,
  policyTypes,
  rbacTypes,
  resourceTypes,
  reviewTypes,
  schedulingTypes,
  serviceTypes,
  storageTypes,
  storageVersionTypes,
  updateStrategyTypes,
  volumeSourceTypes,
  volumeTypes,
  webhookTypes,
  workloadTypes,
]);

/** What updates of whole objects are held to as well. */
export const CHANGE_RULES: ChangeTable = merged([
  certificateUpdates,
  configurationUpdates,
  customResourceUpdates,
  endpointUpdates,
  eventUpdates,
  jobUpdates,
  limitUpdates,
  networkingUpdates,
  nodeUpdates,
  persistentVolumeUpdates,
  podUpdates,
  rbacUpdates,
  schedulingUpdates,
  serviceUpdates,
  storageUpdates,
  workloadUpdates,
]);

/** What updates by a subresource are held to: of the object's own rules, only those of its status are applied again. */
export const STATUS_CHANGE_RULES: Readonly<Record<string, ChangeTable>> = {
  status: merged([certificateStatusUpdates, configurationStatusUpdates, podStatusUpdates, workloadStatusUpdates]),
  approval: certificateApprovals,
  ephemeralcontainers: ephemeralContainerUpdates,
};

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
