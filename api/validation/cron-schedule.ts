// The schedules of cron jobs: five fields, or a descriptor such as @daily or @every 1h30m, a time zone before either.
// Says whether a text is one; when it fires is for whoever runs the jobs.
import { parseDuration } from '../../values/duration.ts';

interface FieldRange {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Words for numbers, the first for `min`. */
  readonly words: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly FieldRange[] = [
  { name: 'minute', min: 0, max: 59, words: [] },
  { name: 'hour', min: 0, max: 23, words: [] },
  { name: 'day of month', min: 1, max: 31, words: [] },
  { name: 'month', min: 1, max: 12, words: MONTHS },
  { name: 'day of week', min: 0, max: 6, words: WEEKDAYS },
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
const ZONE = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/s;
const SCHEDULE_CHARACTERS_MAX = 1024;

/** What is wrong with a text as a schedule; undefined when it is one. */
export function scheduleProblem(text: string): string | undefined {
  if (text.length > SCHEDULE_CHARACTERS_MAX) return `must have at most ${SCHEDULE_CHARACTERS_MAX} characters`;
  let schedule = text;
  if (/^(?:CRON_)?TZ=/.test(text)) {
    const [, zone, rest] = ZONE.exec(text) ?? [];
    if (zone === undefined || rest === undefined) return 'a time zone must be followed by a schedule';
    if (!isTimeZone(zone)) return `unknown time zone ${zone}`;
    schedule = rest.trim();
  }
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) return `expected exactly ${FIELDS.length} fields, found ${parts.length}`;
  for (const [index, field] of FIELDS.entries()) {
    for (const expression of parts[index]!.split(',')) {
      const problem = expressionProblem(expression, field);
      if (problem !== undefined) return `${field.name}: ${problem}`;
    }
  }
  return undefined;
}

function isTimeZone(zone: string): boolean {
  if (zone === 'Local') return true;
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
  if (text.startsWith(EVERY) && parseDuration(text.slice(EVERY.length)) !== undefined) return undefined;
  return `unrecognized descriptor ${text}`;
}

/** `*`, `?`, `5`, `1-5`, `mon-fri`, and any of them with `/step`. */
function expressionProblem(expression: string, field: FieldRange): string | undefined {
  const [range = '', step, ...moreSteps] = expression.split('/');
  if (moreSteps.length > 0) return `too many slashes in ${expression}`;
  if (step !== undefined && !/^[0-9]{1,9}$/.test(step)) return `the step of ${expression} is no number`;
  if (step !== undefined && Number(step) === 0) return `the step of ${expression} must be positive`;
  const [from = '', to, ...moreEnds] = range.split('-');
  if (moreEnds.length > 0) return `too many hyphens in ${expression}`;
  if (from === '*' || from === '?') return to === undefined ? undefined : `${expression} is no range`;
  const start = numberOf(from, field);
  const end = to === undefined ? start : numberOf(to, field);
  if (start === undefined || end === undefined) return `${expression} is no number`;
  if (start < field.min) return `${expression} is below ${field.min}`;
  if (end > field.max) return `${expression} is above ${field.max}`;
  return start > end ? `${expression} begins beyond its end` : undefined;
}

function numberOf(text: string, { min, words }: FieldRange): number | undefined {
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return min + word;
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}
