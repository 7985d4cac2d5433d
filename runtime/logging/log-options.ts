// What `--v`, `--logging-format` and their like come to, as plain data that every thread is handed.

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  /** Other levels for source files, by a pattern of their names without ending (`*`, `?`); the first that fits decides. */
  readonly modules?: readonly (readonly [pattern: string, level: LogLevel])[];
  /** The place in the source, as `hub.ts:120`, whose lines show how it was reached. */
  readonly backtraceAt?: string;
  /** Text only. */
  readonly skipsHeaders?: boolean;
  /** The name of a source file is preceded by its folder's. */
  readonly showsFolders?: boolean;
  /** Lines that hold something of a sensitive kind say so and nothing else. */
  readonly sanitizes?: boolean;
  /** Absent: to standard error. */
  readonly files?: LogFileOptions;
}

export interface LogFileOptions {
  /** By the least severity that goes into each: one file for all, or one a severity. Absolute paths. */
  readonly paths: readonly (readonly [severity: Severity, path: string])[];
  /** A line goes into the file of its own severity only, not into those of lesser ones too. */
  readonly ownFileOnly: boolean;
  /** Size at which a file is begun anew; 0: none. */
  readonly bytesMax: number;
  /** What is written reaches the disk that much later at most; 0: when the system likes. */
  readonly flushMs: number;
  /** From which severity on lines go to standard error too; absent: none do. */
  readonly stderrFrom?: Severity;
  /** What stands at the beginning of a file; empty: nothing. */
  readonly head: string;
}

/** Severities as lines begin with, the least first. */
const SEVERITIES = ['I', 'W', 'E', 'F'] as const;
export type Severity = (typeof SEVERITIES)[number];

const VERBOSITY_LEVELS: readonly LogLevel[] = ['info', 'info', 'info', 'debug', 'debug', 'debug'];

/** The level that `-v` asks for. */
export function levelAt(verbosity: number): LogLevel {
  return VERBOSITY_LEVELS[verbosity] ?? 'trace';
}

/** Pino's numbers of levels. */
const NUMBERS: Readonly<Record<Exclude<LogLevel, 'silent'>, number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
};

export function levelNumber(level: LogLevel): number {
  return level === 'silent' ? Number.POSITIVE_INFINITY : NUMBERS[level];
}

/** How severe a line of a level is: what `-v` shows is all informational. */
export function severityOf(level: number): Severity {
  if (level < NUMBERS.warn) return 'I';
  if (level < NUMBERS.error) return 'W';
  return level < NUMBERS.fatal ? 'E' : 'F';
}

/** Whether `severity` is at least `least`. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least);
}
