// What a placement file may set of the hub.
import type { SettingRange } from '../../runtime/actor-facts.ts';

export const HUB_SETTINGS = {
  /** Between two comparisons of what the hub holds with what the store does; 0: never. */
  selfCheckIntervalMs: 300_000,
  /** Of a fan-out, in one go: a millisecond of the thread's time each MiB. */
  fanOutBytesMax: 32 * 1024 * 1024,
  /** Objects or changes of a type whose labels or fields are looked at for a list or watch in one turn: some five milliseconds. */
  gatheredEntriesMax: 4096,
} as const;

export const HUB_RANGES: Readonly<Record<keyof typeof HUB_SETTINGS, SettingRange>> = {
  // Timers go no further than that.
  selfCheckIntervalMs: { least: 0, most: 2 ** 31 - 1 },
  fanOutBytesMax: { least: 1, most: Number.MAX_SAFE_INTEGER },
  gatheredEntriesMax: { least: 1, most: Number.MAX_SAFE_INTEGER },
};
