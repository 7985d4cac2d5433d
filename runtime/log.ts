// One pino logger a thread, written straight to stderr: synchronously, so that the last line before a crash is there.
// Tokens and secrets are cut out here as a last resort; callers must not log them in the first place.
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { NO_REQUEST, turn } from './turn.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Plain data, so that it can be handed to every thread. */
export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
}

const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'token',
  'secret',
  'password',
  'cookie',
  'bearerToken',
  'clientSecret',
  'privateKey',
];

const REDACTED_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);

const LEVEL_WORDS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
};

/**
 * The logger of one thread; actors get children of it. `write` replaces stderr (tests): it is called with whole lines.
 */
export function createLogger(thread: string, options: LogOptions, write?: (line: string) => void): Logger {
  const loggerOptions: LoggerOptions = {
    level: options.level,
    base: { thread },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: requestOfTurn,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
  };
  return pino(loggerOptions, stream(options.format, write));
}

/** The request that the line is about, where a message of one is being handled: asked for written lines only. */
function requestOfTurn(): { readonly requestNumber?: number } {
  const { requestNumber } = turn;
  return requestNumber === NO_REQUEST ? {} : { requestNumber };
}

function stream(format: LogOptions['format'], write: ((line: string) => void) | undefined): DestinationStream {
  const writeLine = write ?? writeStderr;
  lostLines = LOST_LINES[format];
  return format === 'json' ? { write: writeLine } : { write: (line) => writeLine(textLine(line)) };
}

const LOST_LINES: Readonly<Record<LogOptions['format'], string>> = {
  text: 'lines of the log were lost\n',
  json: '{"level":40,"msg":"lines of the log were lost"}\n',
};

let lostLines = LOST_LINES.text;
let hasLostLine = false;

/** A full pipe answers EAGAIN; the line is then lost rather than the thread blocked. */
function writeStderr(line: string): void {
  try {
    writeSync(2, line);
    hasLostLine = false;
  } catch {
    hasLostLine = true;
  }
}

/** Whether this thread's lines go out. After one that did not, the next is tried now: it says that some are missing. */
export function isLogWritable(): boolean {
  if (hasLostLine) writeStderr(lostLines);
  return !hasLostLine;
}

/** `2026-01-01T00:00:00.000Z INFO  front/0 hub message key=value`, a stack on lines of its own. */
function textLine(jsonLine: string): string {
  const record = JSON.parse(jsonLine) as Record<string, unknown>;
  const { time, level, thread, actor, msg, err, ...rest } = record;
  const words = [time, LEVEL_WORDS[level as number] ?? level, thread];
  if (actor !== undefined && actor !== thread) words.push(actor);
  if (msg !== undefined) words.push(msg);
  for (const [key, value] of Object.entries(rest)) words.push(`${key}=${textValue(value)}`);
  let text = words.join(' ');
  if (isRecord(err)) text += err.stack ? `\n${String(err.stack)}` : ` error=${textValue(err.message)}`;
  return `${text}\n`;
}

function textValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? String(value);
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
