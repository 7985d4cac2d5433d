// The bench's command line. One table says what there is; the workloads' own defaults are in their files.
import { parseArgs } from 'node:util';

/** Kinds of number: which ones fit, and how they are called. */
const NUMBERS = {
  count: { fits: (number: number) => Number.isSafeInteger(number) && number > 0, name: 'a whole number above 0' },
  number: { fits: (number: number) => Number.isFinite(number) && number > 0, name: 'a number above 0' },
  numberOrNone: { fits: (number: number) => Number.isFinite(number) && number >= 0, name: 'a number of 0 or more' },
};

interface OptionEntry {
  readonly type: keyof typeof NUMBERS | 'text' | 'texts' | 'flag';
  readonly description: string;
}

const OPTIONS = {
  seconds: { type: 'number', description: 'Measured time of a load; a warm-up comes on top' },
  duration: { type: 'number', description: 'The same as --seconds' },
  count: { type: 'count', description: 'Most operations of a load, if that comes first' },
  connections: { type: 'count', description: 'Connections of the load generator, one request outstanding on each' },
  placement: { type: 'text', description: 'Placement of the server: a name or a file' },
  workload: { type: 'text', description: 'placement compare: workloads, separated by commas' },
  kind: { type: 'text', description: 'create, delete: configmap or pod; update: deployment as well' },
  limit: { type: 'count', description: 'list: objects on a page, all pages one after another; without it one answer' },
  protobuf: { type: 'flag', description: 'get, list, watch: answers in Protobuf; list: beside the same in JSON' },
  beside: {
    type: 'text',
    description: 'get: beside lists of 10,000 pods, one kind after another: none, json, table, pretty, yaml',
  },
  change: { type: 'text', description: 'update: put, merge, strategic or apply' },
  patch: { type: 'flag', description: 'update: the same as --change merge' },
  objects: { type: 'count', description: 'get, update, list, start: objects in the store' },
  bytes: { type: 'count', description: 'Size of an object, as sent' },
  watchers: { type: 'count', description: 'watch: watches, each on its own connection' },
  selector: { type: 'text', description: 'watch: label selector of the watches, such as tier=load' },
  stalled: { type: 'count', description: 'watch: watches beside these that read nothing' },
  http2: { type: 'flag', description: 'watch: 100 watches on each HTTP/2 connection' },
  rate: {
    type: 'numberOrNone',
    description:
      'schedule: pods offered a second; watch: writes a second, 0 for the memory of idle watches (30 seconds at least); without it a steady load and then one flat out',
  },
  window: { type: 'count', description: 'watch: writes that not all watchers have seen yet, at most' },
  nodes: { type: 'count', description: 'schedule: nodes' },
  pods: { type: 'count', description: 'schedule: pods' },
  case: {
    type: 'text',
    description: 'schedule: workloads of bench/scheduling by name, separated by commas, or all; beside creates of pods',
  },
  batch: {
    type: 'count',
    description: 'Writes in one commit of the bare engine; without it the average of the server',
  },
  rows: { type: 'text', description: 'budget: rows by name, separated by commas; without it all' },
  rounds: { type: 'count', description: 'budget: rounds of a row at most, 5 by default' },
  svg: { type: 'text', description: 'profile: the file of the picture; without it profile-WORKLOAD.svg' },
  floor: { type: 'text', description: 'yes, or no to leave the floors out' },
  bare: {
    type: 'flag',
    description:
      'create, get, update, delete, first: a bare server (listener, JSON, engine) in the place of the server',
  },
  url: { type: 'text', description: 'Aim at a server that runs already' },
  'allow-remote': { type: 'flag', description: 'Let --url and --kubeconfig name another machine, which must be yours' },
  kubeconfig: { type: 'text', description: 'Connection file of a server that runs already' },
  token: { type: 'text', description: 'Bearer token for --url' },
  pid: { type: 'count', description: 'Process of that server, for its CPU and memory' },
  'server-option': { type: 'texts', description: 'Further option of the server, as name=value; repeats add up' },
  json: { type: 'flag', description: 'One JSON object a line instead of a table' },
  help: { type: 'flag', description: 'This page' },
} as const satisfies Readonly<Record<string, OptionEntry>>;

export type OptionName = keyof typeof OPTIONS;
type ValueOf<T extends OptionEntry['type']> = T extends 'flag'
  ? boolean
  : T extends 'texts'
    ? readonly string[]
    : T extends 'text'
      ? string
      : number;

/** What was given; absent is the workload's default. */
export type BenchOptions = { readonly [Name in OptionName]?: ValueOf<(typeof OPTIONS)[Name]['type']> };

export interface CommandLine {
  readonly workloads: readonly string[];
  readonly options: BenchOptions;
}

/** A command line that cannot be used, in words for the person who typed it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Reads `argv` (without node and program). Throws UsageError. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const config: Record<string, { type: 'string' | 'boolean'; multiple: boolean }> = {};
  for (const [name, { type }] of Object.entries(OPTIONS)) {
    config[name] = { type: type === 'flag' ? 'boolean' : 'string', multiple: type === 'texts' };
  }
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...argv], options: config, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parsed.values)) {
    options[name] = readValue(name, OPTIONS[name as OptionName].type, value);
  }
  if (options.duration !== undefined) options.seconds ??= options.duration;
  checkTogether(options as BenchOptions);
  return { workloads: parsed.positionals, options: options as BenchOptions };
}

function readValue(name: string, type: OptionEntry['type'], value: unknown): unknown {
  if (!(type in NUMBERS)) return value;
  const kind = NUMBERS[type as keyof typeof NUMBERS];
  const number = String(value).trim() === '' ? Number.NaN : Number(value);
  if (!kind.fits(number)) throw new UsageError(`--${name} takes ${kind.name}, not "${value}"`);
  return number;
}

const COUNT_MAX = 10_000_000;
const SECONDS_MAX = 3_600;
const SOCKETS_MAX = 50_000;

function checkTogether(options: BenchOptions): void {
  const { count, seconds, duration, connections, watchers, stalled, url, kubeconfig, token, pid, floor } = options;
  if ((count ?? 0) > COUNT_MAX) throw new UsageError(`--count is at most ${COUNT_MAX}`);
  if (Math.max(seconds ?? 0, duration ?? 0) > SECONDS_MAX) throw new UsageError(`--seconds is at most ${SECONDS_MAX}`);
  if (Math.max(connections ?? 0, watchers ?? 0, stalled ?? 0) > SOCKETS_MAX) {
    throw new UsageError(`--connections, --watchers and --stalled are at most ${SOCKETS_MAX}`);
  }
  if (url !== undefined && kubeconfig !== undefined) throw new UsageError('--url and --kubeconfig exclude each other');
  if (options['allow-remote'] === true && url === undefined && kubeconfig === undefined) {
    throw new UsageError('--allow-remote goes with --url or --kubeconfig');
  }
  if (token !== undefined && url === undefined) throw new UsageError('--token goes with --url');
  if (pid !== undefined && url === undefined && kubeconfig === undefined) {
    throw new UsageError('--pid goes with --url or --kubeconfig');
  }
  requireOneOf('kind', options.kind, ['configmap', 'pod', 'deployment']);
  requireOneOf('change', options.change, ['put', 'merge', 'strategic', 'apply']);
  if (floor !== undefined && floor !== 'yes' && floor !== 'no') throw new UsageError('--floor is yes or no');
}

/** What `--kind` says to those who make and delete only these. Throws UsageError. */
export function madeKind({ kind }: BenchOptions, standard: 'configmap' | 'pod'): 'configmap' | 'pod' {
  requireOneOf('kind', kind, ['configmap', 'pod']);
  return (kind ?? standard) as 'configmap' | 'pod';
}

function requireOneOf(name: string, value: string | undefined, words: readonly string[]): void {
  if (value !== undefined && !words.includes(value)) throw new UsageError(`--${name} is one of ${words.join(', ')}`);
}

/** The page for --help. */
export function usage(workloads: readonly { readonly name: string; readonly summary: string }[]): string {
  const line = (name: string, text: string): string => `  ${name.padEnd(22)}${text}`;
  return [
    'Usage: orch bench WORKLOAD... [options]',
    '       orch bench profile WORKLOAD [options]   draws where the threads spend their time under it',
    '',
    'Workloads (all: every one but floor and budget):',
    ...workloads.map(({ name, summary }) => line(name, summary)),
    '',
    'Options:',
    ...Object.entries(OPTIONS).map(([name, { description }]) => line(`--${name}`, description)),
    '',
  ].join('\n');
}
