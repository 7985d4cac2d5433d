// `orch placement compare`: the same workloads under several placements in turn, and one table of what they did.
import { availableParallelism } from 'node:os';
import { ACTORS } from '../actors/actors.ts';
import { resolvePlacement } from '../runtime/placement/placement.ts';
import { readPlacement } from '../runtime/placement-file.ts';
import { chosenWorkloads, refuseFailures, runWorkloads } from './command.ts';
import type { Figures } from './figures/report.ts';
import { requireHeeded } from './option-use.ts';
import { type BenchOptions, parseCommandLine, UsageError } from './options.ts';

const WORKLOADS = ['get', 'create', 'watch'];
const SECONDS_EACH = 4;

/** What one placement did. */
interface Compared {
  readonly placement: string;
  readonly figures: Figures;
}

/**
 * Takes placements (names or files) and the bench's options; `--workload` beside them names workloads. Prints a table, or
 * with `--json` a line a record. Throws UsageError.
 */
export async function comparePlacements(argv: readonly string[]): Promise<void> {
  const { placements, workloads, options } = comparison(argv);
  const compared: Compared[] = [];
  for (const placement of placements) {
    const report = (figures: Figures): void => {
      compared.push({ placement, figures });
      if (options.json === true) process.stdout.write(`${JSON.stringify({ placement, ...figures })}\n`);
    };
    const exitCode = await runWorkloads(chosenWorkloads(workloads), { ...options, placement }, report);
    if (exitCode !== 0) {
      process.exitCode = exitCode;
      return;
    }
  }
  if (options.json !== true) process.stdout.write(`${comparisonTable(compared)}\n`);
  refuseFailures(compared.map(({ figures }) => figures));
}

interface Comparison {
  readonly placements: readonly string[];
  readonly workloads: readonly string[];
  readonly options: BenchOptions;
}

/** What a command line asks for. Throws UsageError, and OrchError for a placement that cannot work. */
export function comparison(argv: readonly string[]): Comparison {
  const { workloads: placements, options } = parseCommandLine(argv);
  if (placements.length < 2) throw new UsageError('two placements at least are needed: names or files');
  if (options.url !== undefined || options.kubeconfig !== undefined) {
    throw new UsageError('a running server has one placement: leave out --url and --kubeconfig');
  }
  const workloads = options.workload === undefined ? WORKLOADS : options.workload.split(',');
  chosenWorkloads(workloads);
  requireHeeded(['placement compare', ...workloads], options);
  // Now, and not when those before it have been measured.
  for (const placement of placements) {
    const { text, fileName } = readPlacement(placement);
    resolvePlacement(text, fileName, ACTORS, availableParallelism());
  }
  return { placements, workloads, options: { floor: 'no', seconds: SECONDS_EACH, ...options } };
}

const COLUMNS: readonly (readonly [title: string, cell: (row: Compared) => string])[] = [
  ['workload', ({ figures }) => figures.workload],
  ['placement', ({ placement }) => placement],
  ['a second', ({ figures }) => Math.round(figures.perSecond).toLocaleString('en-US')],
  ['CPU s/1,000', ({ figures }) => number(figures.cpuSecondsPer1000)],
  ['p50 ms', ({ figures }) => figures.p50Ms.toFixed(2)],
  ['p99 ms', ({ figures }) => figures.p99Ms.toFixed(2)],
  ['cores', ({ figures }) => number(figures.serverCores)],
  ['RSS MiB', ({ figures }) => number(figures.serverRssBytes === null ? null : figures.serverRssBytes / 2 ** 20)],
  ['errors', ({ figures }) => String(figures.errors)],
];

/** A row for each workload and placement, rows of one workload together. */
export function comparisonTable(compared: readonly Compared[]): string {
  const names = [...new Set(compared.map(({ figures }) => figures.workload))];
  const rows = names.flatMap((name) => compared.filter(({ figures }) => figures.workload === name));
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const aligned = (text: string, column: number): string =>
    column < 2 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
  return cells.map((row) => row.map(aligned).join('  ').trimEnd()).join('\n');
}

function number(value: number | null): string {
  return value === null ? '–' : String(Number(value.toPrecision(value < 10 ? 2 : 3)));
}
