// The schedules of cron jobs: five fields, or a descriptor such as @daily or @every 1h30m, a time zone before either. Says
// whether a text is one, as laxly and in the words of the parser that the original takes; when it fires is for whoever runs the jobs.
import { durationProblem, parseDuration } from '../../values/duration.ts';

interface FieldRange {
  readonly min: number;
  readonly max: number;
  /** Words for numbers, the first for `min`. */
  readonly words: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Minute, hour, day of the month, month and weekday. */
const FIELDS: readonly FieldRange[] = [
  { min: 0, max: 59, words: [] },
  { min: 0, max: 23, words: [] },
  { min: 1, max: 31, words: [] },
  { min: 1, max: 12, words: MONTHS },
  { min: 0, max: 6, words: WEEKDAYS },
];

const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const EVERY = '@every ';
const HAS_ZONE = /^(?:CRON_)?TZ=/;
const ZONE = /^(?:CRON_)?TZ=([^ ]*) (.*)$/s;
/** Names of places, and no offsets: those `Intl` knows too. */
const ZONE_NAME = /^[A-Za-z][\w+\-/]*$/;
const SCHEDULE_CHARACTERS_MAX = 1024;

/** What is wrong with a text as a schedule; undefined when it is one. */
export function scheduleProblem(text: string): string | undefined {
  if (text.length > SCHEDULE_CHARACTERS_MAX) return `must have at most ${SCHEDULE_CHARACTERS_MAX} characters`;
  let schedule = text;
  if (HAS_ZONE.test(text)) {
    const [, zone, rest] = ZONE.exec(text) ?? [];
    if (zone === undefined || rest === undefined) return 'a time zone must be followed by a schedule';
    if (!isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    schedule = rest.trim();
  }
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const parts = schedule.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, field] of FIELDS.entries()) {
    // Nothing between two commas is nothing said.
    for (const expression of parts[index]!.split(',').filter((each) => each !== '')) {
      const problem = expressionProblem(expression, field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** No name stands for UTC. */
function isTimeZone(zone: string): boolean {
  if (zone === '' || zone === 'Local') return true;
  if (!ZONE_NAME.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined;
  if (!text.startsWith(EVERY)) return `unrecognized descriptor: ${text}`;
  const duration = text.slice(EVERY.length);
  if (parseDuration(duration) !== undefined) return undefined;
  return `failed to parse duration ${text}: time: ${durationProblem(duration)}`;
}

/** A number that was read, or what is wrong with it. */
type Read = number | string;

/** `*`, `?`, `5`, `1-5`, `mon-fri`, and any of them with `/step`. What a star begins is all of the field, whatever follows. */
function expressionProblem(expression: string, field: FieldRange): string | undefined {
  const [range = '', stepText, ...moreSteps] = expression.split('/');
  const [from = '', to, ...moreEnds] = range.split('-');
  const isAll = from === '*' || from === '?';
  const start: Read = isAll ? field.min : numberOf(from, field.words, field.min);
  if (typeof start === 'string') return start;
  if (!isAll && moreEnds.length > 0) return `too many hyphens: ${expression}`;
  let end: Read = start;
  if (isAll) end = field.max;
  else if (to !== undefined) end = numberOf(to, field.words, field.min);
  if (typeof end === 'string') return end;
  if (moreSteps.length > 0) return `too many slashes: ${expression}`;
  const step: Read = stepText === undefined ? 1 : numberOf(stepText);
  if (typeof step === 'string') return step;
  if (stepText !== undefined && to === undefined) end = field.max;
  return rangeProblem(start, end, step, field, expression);
}

function rangeProblem(
  start: number,
  end: number,
  step: number,
  { min, max }: FieldRange,
  expression: string,
): string | undefined {
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${expression}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return step === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

const WHOLE = /^[+-]?[0-9]+$/;
const NUMBER_MAX = 2n ** 63n - 1n;

/** `words` stand for the numbers from `first` on. */
function numberOf(text: string, words: readonly string[] = [], first = 0): Read {
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return first + word;
  const refused = (why: string) =>
    `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`;
  if (!WHOLE.test(text)) return refused('invalid syntax');
  const number = BigInt(text.replace(/^\+/, ''));
  if (number > NUMBER_MAX || number < -NUMBER_MAX - 1n) return refused('value out of range');
  return number < 0n ? `negative number (${number}) not allowed: ${text}` : Number(number);
}
