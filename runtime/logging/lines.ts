// The text form of a line of the log, in the shape that readers of the original's logs know: severity, date and time, process,
// place in the source, then the message and `key="value"` pairs. Written from the line as JSON.
import { severityOf } from './log-options.ts';

/** A line as pino gives it. */
export interface LoggedLine {
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly level: number;
  readonly caller?: string;
  readonly msg?: string;
  readonly err?: string;
  readonly stack?: string;
}

/**
 * What JSON leaves as it is and a reader may take for the end of a line, or a terminal for a command: the second half of the
 * control characters, Unicode's own ends of lines, and what turns the direction of writing. Built from numbers, to be seen.
 */
const UNPRINTABLE = new RegExp(
  `[${[
    [0x7f, 0x9f],
    [0x200e, 0x200f],
    [0x2028, 0x202e],
    [0x2066, 0x2069],
    [0xfeff, 0xfeff],
  ]
    .map((ends) => ends.map(escaped).join('-'))
    .join('')}]`,
  'g',
);

function escaped(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** JSON, with what is not to be shown escaped: all of that stands in strings. */
export function printable(json: string): string {
  return json.replace(UNPRINTABLE, (character) => escaped(character.charCodeAt(0)));
}

/** `I1122 19:44:26.123000   12345 hub.ts:120] "list done" user="ann" thread="front/0"`, a stack on lines of its own. */
export function textLine(jsonLine: string, process: number, skipsHeader: boolean): string {
  const record = JSON.parse(jsonLine) as LoggedLine & Record<string, unknown>;
  const { ts, level, caller = '???:1', msg, stack, v: _v, severity: _severity, ...members } = record;
  const { thread, actor, requestNumber, ...about } = members;
  const header = skipsHeader ? '' : `${severityOf(level)}${timeText(ts)} ${String(process).padStart(7)} ${caller}] `;
  const words = msg === undefined ? [] : [JSON.stringify(msg)];
  // What the line is about comes first, as readers of the original's expect; then who says it.
  for (const [key, value] of Object.entries({ ...about, thread, actor, requestNumber }))
    if (value !== undefined) words.push(`${key}=${textValue(value)}`);
  return `${header}${printable(words.join(' '))}\n${stack === undefined ? '' : `${stack}\n`}`;
}

/** Month, day and time here, in microseconds, of which the last three are unknown. */
function timeText(ts: number): string {
  const at = new Date(ts);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${date} ${time}.${String(at.getMilliseconds()).padStart(3, '0')}000`;
}

function textValue(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}
