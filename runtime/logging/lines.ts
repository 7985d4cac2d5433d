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

/** `I1122 19:44:26.123000   12345 hub.ts:120] "list done" thread="front/0" user="ann"`, a stack on lines of its own. */
export function textLine(jsonLine: string, process: number, skipsHeader: boolean): string {
  const record = JSON.parse(jsonLine) as LoggedLine & Record<string, unknown>;
  const { ts, level, caller = '???:1', msg, stack, v: _v, severity: _severity, ...rest } = record;
  const header = skipsHeader ? '' : `${severityOf(level)}${timeText(ts)} ${String(process).padStart(7)} ${caller}] `;
  const words = msg === undefined ? [] : [JSON.stringify(msg)];
  for (const [key, value] of Object.entries(rest)) words.push(`${key}=${textValue(value)}`);
  return `${header}${words.join(' ')}\n${stack === undefined ? '' : `${stack}\n`}`;
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
