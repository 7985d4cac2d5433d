// One pino logger a thread, written synchronously, so that the last line before a crash is there. Tokens and secrets are cut
// out here as a last resort; callers must not log them in the first place.
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { isOutside } from '../errors.ts';
import { inSources } from '../packed-sources.ts';
import { NO_REQUEST, turn } from '../turn.ts';
import { callerOf } from './caller.ts';
import { printable, textLine } from './lines.ts';
import { LogOutlets } from './log-files.ts';
import { type LogLevel, type LogOptions, levelNumber, severityOf } from './log-options.ts';
import { sanitized } from './sanitized.ts';

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

/** What `-v` would have to be for a line of a level to be shown. */
const VERBOSITY: Readonly<Record<string, number>> = { trace: 6, debug: 3 };
const LOST = 'lines of the log were lost';

/** How the level of a logger and its children is set, by the logger. */
const levelSetters = new WeakMap<Logger, (level: LogLevel) => void>();

/** Changes how much a logger of `createLogger` says, and all that were made of it. Modules with a level of their own keep it. */
export function setLogLevel(logger: Logger, level: LogLevel): void {
  levelSetters.get(logger)?.(level);
}

/**
 * The logger of one thread; actors get children of it. `write` replaces where the options say that lines go (tests): it is
 * called with whole lines.
 */
export function createLogger(thread: string, options: LogOptions, write?: (line: string) => void): Logger {
  const { modules = [], backtraceAt, showsFolders = false } = options;
  const levels = modules.map(([pattern, level]) => [matcherOf(pattern), levelNumber(level)] as const);
  let ownLevel = levelNumber(options.level);
  const leastLevel = (level: LogLevel): LogLevel => leastOf([level, ...modules.map(([, one]) => one)]);
  const children = new Set<WeakRef<Logger>>();
  const loggerOptions: LoggerOptions = {
    level: leastLevel(options.level),
    onChild: (child) => children.add(new WeakRef(child)),
    base: { thread },
    messageKey: 'msg',
    timestamp: () => `,"ts":${Date.now()}`,
    formatters: { level: (label, number) => ({ level: number, severity: label, v: VERBOSITY[label] ?? 0 }) },
    serializers: {
      err: (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
    },
    mixin: (given: object) => {
      const caller = callerOf();
      const place = `${caller.file}:${caller.line}`;
      return {
        caller: showsFolders ? `${caller.folder}/${place}` : place,
        ...requestOfTurn(),
        ...(place === backtraceAt ? { stack: caller.stack } : stackOf(given)),
      };
    },
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    hooks:
      levels.length === 0 && options.sanitizes !== true
        ? {}
        : {
            logMethod(args, method, level) {
              if (levels.length > 0) {
                const { module } = callerOf();
                const least = levels.find(([matches]) => matches.test(module))?.[1] ?? ownLevel;
                if (level < least) return;
              }
              method.apply(this, options.sanitizes === true ? sanitized(args) : args);
            },
          },
  };
  const logger = pino(loggerOptions, stream(options, write));
  levelSetters.set(logger, (level) => {
    ownLevel = levelNumber(level);
    logger.level = leastLevel(level);
    for (const reference of children) {
      const child = reference.deref();
      if (child === undefined) children.delete(reference);
      else child.level = logger.level;
    }
  });
  return logger;
}

function leastOf(levels: readonly LogLevel[]): LogLevel {
  return levels.reduce((least, level) => (levelNumber(level) < levelNumber(least) ? level : least));
}

/** `*` stands for any text, `?` for one character. */
function matcherOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`);
}

/** Says why a thread ends that cannot go on. Only what the program is to blame for is a broken invariant, and fatal. */
export function logEnd(logger: Logger, error: Error): void {
  if (isOutside(error)) logger.error({ err: error }, 'this thread ends and begins anew');
  else logger.fatal({ err: error }, 'a broken invariant ends this thread');
}

/** The request that the line is about, where a message of one is being handled: asked for written lines only. */
function requestOfTurn(): { readonly requestNumber?: number } {
  const { requestNumber } = turn;
  return requestNumber === NO_REQUEST ? {} : { requestNumber };
}

function stackOf(given: object): { readonly stack?: string } {
  const error = given instanceof Error ? given : (given as { err?: { stack?: string } }).err;
  return error?.stack === undefined || isOutside(error) ? {} : { stack: inSources(error.stack) };
}

function stream(options: LogOptions, write: ((line: string) => void) | undefined): DestinationStream {
  const { format, files, skipsHeaders = false } = options;
  const asText = (line: string): string => textLine(line, process.pid, skipsHeaders);
  const lost = `{"ts":0,"level":40,"severity":"warn","v":0,"msg":"${LOST}"}\n`;
  const opened = new LogOutlets(files, format === 'json' ? lost : `${LOST}\n`);
  if (write === undefined) outlets = opened;
  const put = (line: string, level: number): void => {
    const text = format === 'json' ? printable(line) : asText(line);
    if (write === undefined) opened.line(severityOf(level), text);
    else write(text);
  };
  return { write: (line) => put(line, levelOf(line)) };
}

/** A line begins with its level. */
function levelOf(line: string): number {
  return Number(line.slice('{"level":'.length, line.indexOf(',')));
}

let outlets: LogOutlets | undefined;

/** Whether this thread's lines go out: false from one that did not on, until one does again. */
export function isLogWritable(): boolean {
  return outlets?.isWritable() ?? true;
}
