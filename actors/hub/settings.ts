// What a placement file may set of the hub.

export const HUB_SETTINGS = {
  /** Between two comparisons of what the hub holds with what the store does; 0: never. */
  selfCheckIntervalMs: 300_000,
} as const;
