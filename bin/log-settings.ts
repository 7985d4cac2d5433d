// What the logging options come to (SPEC.md "Logging options common to both programs"): levels, forms, and the files that the
// threads append to, which are tried and begun here, before any thread is there.
import { rmSync, symlinkSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { ServerOptions } from '../config/options.ts';
import { OrchError } from '../runtime/errors.ts';
import { makeFolder } from '../runtime/files/make-folder.ts';
import { type LogFileOptions, type LogOptions, levelAt, type Severity } from '../runtime/logging/log-options.ts';
import { requireAppendable, requireFile, requireFolder } from './writable-places.ts';

type LoggingOptions = Pick<
  ServerOptions,
  | 'v'
  | 'vmodule'
  | 'loggingFormat'
  | 'logBacktraceAt'
  | 'logDir'
  | 'logFile'
  | 'logFileMaxSizeMegabytes'
  | 'logFlushFrequencyMs'
  | 'experimentalLoggingSanitization'
  | 'logtostderr'
  | 'alsologtostderr'
  | 'stderrthreshold'
  | 'oneOutput'
  | 'addDirHeader'
  | 'skipHeaders'
  | 'skipLogHeaders'
>;

const MEGABYTE = 1024 * 1024;
const PROGRAM = 'orch';
/** As Kubernetes' own log files have it. */
const NAMELESS = 'unknownuser';
/** One file a severity, by what the option for the least that goes to standard error calls them. */
const SEVERITY_FILES: readonly (readonly [severity: Severity, word: string])[] = [
  ['I', 'INFO'],
  ['W', 'WARNING'],
  ['E', 'ERROR'],
  ['F', 'FATAL'],
];

/** How the server logs. Makes the files of the log; throws OrchError where one cannot be made. `user`: throws where we have no name. */
export function logSettings(
  options: LoggingOptions,
  now: Date,
  user: () => string = () => userInfo().username,
): LogOptions {
  const files = options.logtostderr ? undefined : logFiles(options, now, user);
  const modules = options.vmodule.map((entry) => {
    const at = entry.lastIndexOf('=');
    return [entry.slice(0, at), levelAt(Number(entry.slice(at + 1)))] as const;
  });
  return {
    level: levelAt(options.v),
    format: options.loggingFormat === 'json' ? 'json' : 'text',
    modules,
    backtraceAt: options.logBacktraceAt,
    skipsHeaders: options.skipHeaders,
    showsFolders: options.addDirHeader,
    sanitizes: options.experimentalLoggingSanitization,
    ...(files === undefined ? {} : { files }),
  };
}

/** Throws OrchError BadConfiguration where the files of the log could not be made. Makes none. */
export function checkLogPlace({ logtostderr, logFile, logDir }: LoggingOptions): void {
  if (logtostderr) return;
  if (logFile === '') requireFolder(logDir || tmpdir(), '--log-dir');
  else requireFile(logFile, '--log-file');
}

/** The options that say where files are, given although everything goes to standard error: a line each. */
export function logWarnings({ logtostderr, logFile, logDir, alsologtostderr }: LoggingOptions): readonly string[] {
  if (!logtostderr) return [];
  const given = { 'log-file': logFile !== '', 'log-dir': logDir !== '', alsologtostderr };
  return Object.entries(given).flatMap(([name, isGiven]) =>
    isGiven ? [`--${name} changes nothing while --logtostderr is true`] : [],
  );
}

function logFiles(options: LoggingOptions, now: Date, user: () => string): LogFileOptions {
  const { logFile, logDir, logFileMaxSizeMegabytes, alsologtostderr, stderrthreshold, oneOutput, skipLogHeaders } =
    options;
  const paths =
    logFile === '' ? severityPaths(resolve(logDir || tmpdir()), now, user) : [['I', tried(resolve(logFile))] as const];
  const threshold = SEVERITY_FILES.find(([, word], index) =>
    [word, String(index)].includes(stderrthreshold.toUpperCase()),
  );
  return {
    paths,
    ownFileOnly: oneOutput,
    bytesMax: logFileMaxSizeMegabytes * MEGABYTE,
    flushMs: options.logFlushFrequencyMs,
    stderrFrom: alsologtostderr ? 'I' : threshold![0],
    head: skipLogHeaders || options.loggingFormat === 'json' ? '' : headOf(now),
  };
}

/** `orch.host.user.log.INFO.20261122-194426.123` and its like, with `orch.INFO` leading to it. */
function severityPaths(folder: string, now: Date, user: () => string): readonly (readonly [Severity, string])[] {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const maker = nameOf(user);
  return SEVERITY_FILES.map(([severity, word]) => {
    const name = `${PROGRAM}.${hostname()}.${maker}.log.${word}.${stamp}.${process.pid}`;
    const path = tried(join(folder, name));
    leadTo(basename(path), join(folder, `${PROGRAM}.${word}`));
    return [severity, path];
  });
}

/** A container may run as a number that its system has no user for. */
function nameOf(user: () => string): string {
  try {
    return user();
  } catch {
    return NAMELESS;
  }
}

/** Whoever starts in the same folder at this moment makes the same link, and something else may have its name: the log does without one. */
function leadTo(file: string, link: string): void {
  try {
    rmSync(link, { force: true });
    symlinkSync(file, link);
  } catch {
    // As said.
  }
}

/** The path of a file that can be written. Throws OrchError. */
function tried(path: string): string {
  try {
    makeFolder(dirname(path), 0o700);
    requireAppendable(path);
    return path;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `the log file ${path} cannot be written (${code})`);
  }
}

function headOf(now: Date): string {
  const at = now.toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' ');
  return [
    `Log file created at: ${at}`,
    `Running on machine: ${hostname()}`,
    `Binary: Built with node ${process.version} for ${process.platform}/${process.arch}`,
    'Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg',
    '',
  ].join('\n');
}
