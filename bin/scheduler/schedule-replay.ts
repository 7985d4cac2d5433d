// `orch schedule replay FILE`: tells a scheduler's core again what another has recorded (--scheduling-record), and says whether it
// decides the same; with `--pod` each decision about a pod, and what was said of every node before it. With `--config` under another
// configuration. Reads the file, and nothing else.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { SchedulerConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import { effectiveConfiguration } from '../../actors/scheduler/configuration/effective.ts';
import { profilesOf } from '../../actors/scheduler/configuration/profiles.ts';
import { QUEUE_DEFAULTS } from '../../actors/scheduler/core/queue.ts';
import { SchedulingCore } from '../../actors/scheduler/core/scheduling-core.ts';
import { loadOwnPlugins } from '../../actors/scheduler/driver/own-plugins.ts';
import { Extenders } from '../../actors/scheduler/extenders/extenders.ts';
import { DEFAULT_GATES } from '../../actors/scheduler/framework/gates.ts';
import {
  type Entry,
  type Outcome,
  RECORD_FORMAT,
  type RecordHeader,
} from '../../actors/scheduler/recording/entries.ts';
import { Replay, type Trace } from '../../actors/scheduler/recording/replay.ts';
import { asList } from '../../api/json/object-fields.ts';
import { ConfigurationError } from '../../config/configuration-file.ts';
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../config/dialect.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import { parseArguments } from '../../config/parse.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { createLogger } from '../../runtime/logging/log.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { errorLine } from '../command-line/error-line.ts';
import { takeFlag } from '../command-line/taken-flag.ts';
import { schedulerConfiguration } from '../files/scheduler-configuration.ts';
import { logSettings } from '../log-settings.ts';
import { explanationText } from './schedule-text.ts';

export const REPLAY_USAGE = 'orch schedule replay FILE [--pod [NAMESPACE/]POD] [--config FILE]';

/** Prints what it comes to, and answers the exit code: 1 where decisions differ. Throws UsageError, OrchError. */
export async function replay([file = '', ...argv]: readonly string[]): Promise<number> {
  if (file === '' || file.startsWith('-')) throw new UsageError(`usage: ${REPLAY_USAGE}`);
  const { pod, rest } = podIn(argv);
  const parsed = parseArguments('scheduler', rest);
  if (parsed.action !== 'run') throw new UsageError(`usage: ${REPLAY_USAGE}`);
  const lines = linesOf(file);
  const { value: first, done } = await lines.next();
  const header = done === true ? undefined : headerOf(first);
  if (header === undefined) throw new OrchError('BadConfiguration', `${file} is no record of scheduling`);
  let traced = 0;
  const again = new Replay(await coreOf(header, parsed.options, file), pod, (trace) => {
    traced++;
    process.stdout.write(traceText(trace));
  });
  await apply(lines, again, file);
  if (pod !== undefined && traced === 0) process.stdout.write(`nothing was decided about ${pod}\n`);
  process.stdout.write(summaryOf(again));
  return again.differing === 0 ? 0 : 1;
}

/** Throws OrchError BadConfiguration for a line that is no entry, unless it is the last: one that was killed leaves half a line. */
async function apply(lines: AsyncIterable<string>, again: Replay, file: string): Promise<void> {
  let unread: number | undefined;
  // The header is the first.
  let number = 1;
  for await (const line of lines) {
    number++;
    if (unread !== undefined)
      throw new OrchError('BadConfiguration', `${file}:${unread}: the line is no entry of a record`);
    const entry = entryOf(line);
    if (entry === undefined) {
      unread = number;
      continue;
    }
    try {
      again.apply(entry);
    } catch (error) {
      throw new OrchError('BadConfiguration', `${file}:${number}: the line cannot be replayed: ${errorLine(error)}`);
    }
  }
}

function podIn(argv: readonly string[]): { readonly pod: string | undefined; readonly rest: readonly string[] } {
  const { value: name, rest } = takeFlag(argv, '--pod', `usage: ${REPLAY_USAGE}`);
  return { pod: name === undefined || name.includes('/') ? name : `default/${name}`, rest };
}

async function* linesOf(file: string): AsyncGenerator<string, undefined> {
  try {
    yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `${file} cannot be read (${code ?? message})`);
  }
}

function headerOf(line: string): RecordHeader | undefined {
  const header = json(line) as RecordHeader | undefined;
  const isKnown = header?.schedulingRecord === RECORD_FORMAT && DIALECT_NAMES.includes(header.dialect as DialectName);
  return isKnown ? header : undefined;
}

function entryOf(line: string): Entry | undefined {
  const entry = json(line) as Entry | null | undefined;
  return typeof entry?.op === 'string' ? entry : undefined;
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function coreOf(header: RecordHeader, options: SchedulerOptions, file: string): Promise<SchedulingCore> {
  const dialect = DIALECTS[header.dialect as DialectName];
  const configuration = configurationOf(header, options, file);
  const own = await loadOwnPlugins(configuration.pluginModules);
  const { extenders, gates, percentageOfNodesToScore, podInitialBackoffMs, podMaxBackoffMs } = configuration;
  const log = createLogger('schedule', logSettings(options, new Date()));
  return new SchedulingCore({
    profiles: profilesOf(configuration, dialect, own),
    random: new SeededRandom(header.seed),
    dialect,
    percentageOfNodesToScore,
    prefersNominatedNode: gates.prefersNominatedNode,
    queue: { ...QUEUE_DEFAULTS, backoffInitialMs: podInitialBackoffMs, backoffMaxMs: podMaxBackoffMs },
    outsiders: extenders.length === 0 ? undefined : new Extenders(extenders, { ...realEnvironment, log }),
  });
}

/** A record names no code to be run: plug-ins of the operator's own come from the operator. */
function configurationOf({ configuration, dialect, gates }: RecordHeader, options: SchedulerOptions, file: string) {
  const apiDialect = dialect as DialectName;
  if (options.config !== '') return schedulerConfiguration({ ...options, apiDialect });
  if (asList(configuration.pluginModules).length > 0)
    throw new OrchError('BadConfiguration', `${file} is of a scheduler with plug-ins of its own: give its --config`);
  const readFile = (): never => {
    throw new OrchError('BadConfiguration', `${file} names files`);
  };
  try {
    return effectiveConfiguration({
      flags: options,
      file: configuration,
      policy: undefined,
      dialect: DIALECTS[apiDialect],
      readFile,
      gates: { ...DEFAULT_GATES, ...gates },
    }) satisfies SchedulerConfiguration;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new OrchError('BadConfiguration', `${file}: ${error.message}`);
  }
}

function traceText({ at, outcome, nodes }: Trace): string {
  const said = `${(at / 1000).toFixed(3)} s  ${outcomeText(outcome)}\n`;
  return nodes.length === 0 ? said : `${said}${explanationText(nodes)}\n`;
}

function outcomeText(outcome: Outcome | null): string {
  if (outcome === null) return 'nothing';
  const { kind, pod, node, message, preempts, nodes } = outcome;
  if (kind === 'bind') return `${pod} goes to ${node}`;
  if (nodes !== undefined) return `${pod}: others are asked about ${kind} (${nodes.length})`;
  const room =
    preempts === undefined ? '' : `; on ${preempts.node || 'no node'} make room: ${preempts.victims.join(', ')}`;
  return `${pod} goes nowhere: ${message}${room}`;
}

function summaryOf({ entries, decisions, bound, differing, differences }: Replay): string {
  const counts = `${entries} entries, ${decisions} decisions, ${bound} to bind`;
  if (differing === 0) return `${counts}: all as recorded\n`;
  const shown = differences.map(
    ({ entry, recorded, replayed }) =>
      `line ${entry + 1}: recorded: ${outcomeText(recorded)}\n${' '.repeat(6)}replayed: ${outcomeText(replayed)}\n`,
  );
  return `${shown.join('')}${counts}: ${differing} differ\n`;
}
