// Durations as texts such as `1h2m3.5s`: one reader and one writer, in whole nanoseconds, for fields of objects and for
// options; options count in milliseconds.

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n, // Greek mu beside the micro sign: keyboards produce either
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION = /^([+-]?)((?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/;
const PART = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/g;
const NANOS_MAX = 2n ** 63n - 1n;
const TEXT_LENGTH_MAX = 128;

/** Nanoseconds of a duration's text; undefined when it is none or beyond 64 bits. A bare number is one only when it is 0. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit] of match[2]!.matchAll(PART)) {
    const unitNanos = UNIT_NANOS[unit!]!;
    nanos += BigInt(whole) * unitNanos + (BigInt(fraction) * unitNanos) / 10n ** BigInt(fraction.length);
  }
  if (nanos > NANOS_MAX) return undefined;
  return match[1] === '-' ? -nanos : nanos;
}

const NUMBER = /^(?:\d+(?:\.\d*)?|\.\d+)/;
const UNIT = /^[^.\d]*/;

/** Why a text that `parseDuration` does not read is no duration, in the words that clients of Kubernetes know. */
export function durationProblem(text: string): string {
  const shown = JSON.stringify(text.slice(0, TEXT_LENGTH_MAX));
  for (let rest = text.replace(/^[+-]/, ''); rest !== ''; ) {
    const number = NUMBER.exec(rest)?.[0];
    if (number === undefined) break;
    const unit = UNIT.exec(rest.slice(number.length))![0];
    if (unit === '') return `missing unit in duration ${shown}`;
    if (!Object.hasOwn(UNIT_NANOS, unit))
      return `unknown unit ${JSON.stringify(unit.slice(0, TEXT_LENGTH_MAX))} in duration ${shown}`;
    rest = rest.slice(number.length + unit.length);
  }
  return `invalid duration ${shown}`;
}

/** The canonical text: hours, minutes and seconds from the largest that is not zero; below a second, one small unit. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const magnitude = nanos < 0n ? -nanos : nanos;
  if (magnitude < 1000n) return `${sign}${magnitude}ns`;
  if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 3)}µs`;
  if (magnitude < 1_000_000_000n) return `${sign}${decimal(magnitude, 6)}ms`;
  const minutes = magnitude / 60_000_000_000n;
  const seconds = `${decimal(magnitude % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value` with a point before its last `places` digits, without zeros at the end. */
function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`;
}

const NANOS_IN_MS = 1e6;

/** `parseDuration` in milliseconds, with a fraction where it is finer. */
export function parseDurationMs(text: string): number | undefined {
  const nanos = parseDuration(text);
  return nanos === undefined ? undefined : Number(nanos) / NANOS_IN_MS;
}

/** `formatDuration` of milliseconds, to the nanosecond. */
export function formatDurationMs(durationMs: number): string {
  return formatDuration(BigInt(Math.round(durationMs * NANOS_IN_MS)));
}
