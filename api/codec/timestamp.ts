// Timestamps as the API writes them: RFC 3339 in UTC, to the second (Time) or the microsecond (MicroTime), and as
// seconds and nanoseconds in Protobuf. No clock is read here.

export interface Instant {
  /** Whole seconds since 1970, negative before. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanos: number;
}

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;
/** Every day of the years 2000 to 2999 but 29 February, with its six fraction digits or without. */
const CANONICAL_DAY =
  '2[0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)';
const CANONICAL_CLOCK = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]';
const CANONICAL_TIME = new RegExp(`^${CANONICAL_DAY}T${CANONICAL_CLOCK}Z$`);
const CANONICAL_MICRO_TIME = new RegExp(`^${CANONICAL_DAY}T${CANONICAL_CLOCK}[.][0-9]{6}Z$`);
const MICRO_FRACTION = /[.][0-9]{6}(?:Z|[+-][0-9]{2}:[0-9]{2})$/;
/** 0001-01-01T00:00:00Z, which stands for no time. */
const ZERO_SECONDS = -62_135_596_800;
/** 9999-12-31T23:59:59Z. */
const SECONDS_MAX = 253_402_300_799;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Reads an RFC 3339 text with any offset and fraction; undefined when it is none or no such moment exists. */
export function parseInstant(text: string): Instant | undefined {
  if (text.length > 64) return undefined;
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = match;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = Number(offsetHours) * 3600 + Number(offsetMinutes) * 60;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const local = Date.parse(`${text.slice(0, 19)}Z`) / 1000;
  const seconds = local - (sign === '-' ? -offset : offset);
  if (seconds < ZERO_SECONDS || seconds > SECONDS_MAX) return undefined;
  return { seconds, nanos: Number(fraction.slice(0, 9).padEnd(9, '0')) };
}

function isZeroInstant({ seconds, nanos }: Instant): boolean {
  return seconds === ZERO_SECONDS && nanos === 0;
}

/** `2006-01-02T15:04:05Z`, the fraction cut off. Takes seconds between the years 1 and 9999. */
export function formatTime({ seconds }: Instant): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** `2006-01-02T15:04:05.000000Z`, finer parts cut off. */
export function formatMicroTime({ seconds, nanos }: Instant): string {
  const micros = String(Math.trunc(nanos / 1000)).padStart(6, '0');
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${micros}Z`;
}

/** Whether seconds lie in the years that a timestamp's text can name. */
export function isWritable(seconds: number): boolean {
  return seconds >= ZERO_SECONDS && seconds <= SECONDS_MAX;
}

/** The canonical text of a Time; null for the zero time, undefined when the text is no timestamp. */
export function canonicalTime(text: string): string | null | undefined {
  if (CANONICAL_TIME.test(text)) return text;
  const instant = parseInstant(text);
  if (instant === undefined) return undefined;
  return isZeroInstant(instant) ? null : formatTime(instant);
}

/** The canonical text of a MicroTime, which must have six fraction digits; null and undefined as `canonicalTime`. */
export function canonicalMicroTime(text: string): string | null | undefined {
  if (CANONICAL_MICRO_TIME.test(text)) return text;
  if (!MICRO_FRACTION.test(text)) return undefined;
  const instant = parseInstant(text);
  if (instant === undefined) return undefined;
  return isZeroInstant(instant) ? null : formatMicroTime(instant);
}
