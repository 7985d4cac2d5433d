// Durations as people read them: two units at most, coarser the longer they are, cut and never rounded.
import { asTimeMs } from '../json/object-fields.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

interface Step {
  readonly belowMs: number;
  readonly unitMs: number;
  readonly unit: string;
  /** The finer unit shown behind, left out when it is 0. */
  readonly restMs?: number;
  readonly rest?: string;
}

const STEPS: readonly Step[] = [
  { belowMs: 120 * SECOND_MS, unitMs: SECOND_MS, unit: 's' },
  { belowMs: 10 * MINUTE_MS, unitMs: MINUTE_MS, unit: 'm', restMs: SECOND_MS, rest: 's' },
  { belowMs: 180 * MINUTE_MS, unitMs: MINUTE_MS, unit: 'm' },
  { belowMs: 8 * HOUR_MS, unitMs: HOUR_MS, unit: 'h', restMs: MINUTE_MS, rest: 'm' },
  { belowMs: 48 * HOUR_MS, unitMs: HOUR_MS, unit: 'h' },
  { belowMs: 192 * HOUR_MS, unitMs: DAY_MS, unit: 'd', restMs: HOUR_MS, rest: 'h' },
  { belowMs: 2 * YEAR_MS, unitMs: DAY_MS, unit: 'd' },
  { belowMs: 8 * YEAR_MS, unitMs: YEAR_MS, unit: 'y', restMs: DAY_MS, rest: 'd' },
  { belowMs: Number.POSITIVE_INFINITY, unitMs: YEAR_MS, unit: 'y' },
];

/** `45s`, `3m20s`, `5h`, `2y17d`. A clock a second ahead counts as 0; further ahead it is `<invalid>`. */
export function durationText(durationMs: number): string {
  if (durationMs <= -2 * SECOND_MS) return '<invalid>';
  if (durationMs < 0) return '0s';
  for (const { belowMs, unitMs, unit, restMs, rest } of STEPS) {
    if (durationMs >= belowMs) continue;
    const whole = `${Math.floor(durationMs / unitMs)}${unit}`;
    if (restMs === undefined) return whole;
    const left = Math.floor((durationMs % unitMs) / restMs);
    return left === 0 ? whole : `${whole}${left}${rest}`;
  }
  return '<invalid>';
}

/** The time from an RFC 3339 timestamp to `nowMs`; `<unknown>` where there is no timestamp. */
export function ageText(timestamp: unknown, nowMs: number): string {
  const thenMs = asTimeMs(timestamp);
  return thenMs === undefined ? '<unknown>' : durationText(nowMs - thenMs);
}

/** The time from one timestamp to the other; empty when one is missing. */
export function spanText(from: unknown, to: unknown): string {
  const fromMs = asTimeMs(from);
  const toMs = asTimeMs(to);
  return fromMs === undefined || toMs === undefined ? '' : durationText(toMs - fromMs);
}
