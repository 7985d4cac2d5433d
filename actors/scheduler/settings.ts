// What a placement file may set of the scheduler: how much it takes on at once.
import type { SettingRange } from '../../runtime/actor-facts.ts';

export const SCHEDULER_SETTINGS = {
  /** Objects of the present state taken over in one turn: some 8 ms of a thread that others may share. */
  presentObjectsMax: 200,
  /** Pods decided in one turn. */
  slicePodsMax: 100,
  /** Nodes looked at in one turn: some 5 ms. */
  sliceNodesMax: 50_000,
  bindingBatchMax: 256,
  /** Extenders are asked about one pod after the other, as they expect to be: other pods are decided meanwhile. */
  questionsMax: 1,
  /** Low enough that bindings keep the store's attention while thousands of pods a second are placed. */
  eventsInFlightMax: 32,
  eventsQueuedMax: 512,
  /** Events of pods that fit nowhere: of 50,000 of them most are never told of. */
  failureEventsPerSecondMax: 20,
  failureEventsBurst: 500,
  conditionsInFlightMax: 16,
  /** A condition that waits is some 300 bytes; every pod that fits nowhere gets its one. */
  conditionsQueuedMax: 1_000_000,
  conditionsPerSecondMax: 200,
  conditionsBurst: 1_000,
} as const;

const COUNT = { least: 1, most: 10_000_000 };

export const SCHEDULER_RANGES: Readonly<Record<keyof typeof SCHEDULER_SETTINGS, SettingRange>> = {
  presentObjectsMax: COUNT,
  slicePodsMax: COUNT,
  sliceNodesMax: COUNT,
  bindingBatchMax: { least: 1, most: 10_000 },
  questionsMax: { least: 1, most: 1_000 },
  eventsInFlightMax: { least: 1, most: 10_000 },
  eventsQueuedMax: COUNT,
  failureEventsPerSecondMax: COUNT,
  failureEventsBurst: COUNT,
  conditionsInFlightMax: { least: 1, most: 10_000 },
  conditionsQueuedMax: COUNT,
  conditionsPerSecondMax: COUNT,
  conditionsBurst: COUNT,
};
