// What a placement file may set of the scheduler: how much it takes on at once.

export const SCHEDULER_SETTINGS = {
  /** Pods decided in one turn. */
  slicePodsMax: 100,
  /** Nodes looked at in one turn: some 5 ms. */
  sliceNodesMax: 50_000,
  bindingBatchMax: 256,
  /** Low enough that bindings keep the store's attention while thousands of pods a second are placed. */
  eventsInFlightMax: 32,
  eventsQueuedMax: 512,
  conditionsInFlightMax: 16,
  conditionsQueuedMax: 16_384,
} as const;
