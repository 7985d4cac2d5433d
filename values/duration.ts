// Durations as operators type them (`1m30s`, `250ms`, `0`) and as the rest of the program counts them: milliseconds.

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // micro sign
  μs: 1e-3, // Greek mu: keyboards produce either
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const SHAPE = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const TEXT_LENGTH_MAX = 64;
/** What a signed 64-bit count of nanoseconds can hold, about 292 years. */
const DURATION_MS_MAX = 2 ** 63 / 1e6;

/** `1h2m3.5s` in milliseconds; undefined when the text is no duration. A bare number is one only when it is zero. */
export function parseDurationMs(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (text.length > TEXT_LENGTH_MAX || !SHAPE.test(text)) return undefined;
  let sumMs = 0;
  for (const [, amount, unit] of text.matchAll(PART)) sumMs += Number(amount) * UNIT_MS[unit!]!;
  if (sumMs > DURATION_MS_MAX) return undefined;
  return text.startsWith('-') ? 0 - sumMs : sumMs;
}

/** Milliseconds as a duration text: `0s`, `250ms`, `1m0s`, `1h0m0s`. */
export function formatDuration(durationMs: number): string {
  const sign = durationMs < 0 ? '-' : '';
  const absoluteMs = Math.abs(durationMs);
  if (absoluteMs === 0) return '0s';
  if (absoluteMs < 1000) return `${sign}${absoluteMs}ms`;
  const hours = Math.floor(absoluteMs / 3_600_000);
  const minutes = Math.floor((absoluteMs % 3_600_000) / 60_000);
  const seconds = `${(absoluteMs % 60_000) / 1000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
