// The bench's command: runs the named workloads one after another and prints what they measure. Ends its children and
// removes its files whether it finishes, fails or is interrupted.
import { Bench, type Workload } from './bench.ts';
import { type BenchOptions, parseCommandLine, UsageError, usage } from './options.ts';
import { type Figures, lines } from './report.ts';
import { admission } from './workloads/admission.ts';
import { auth } from './workloads/auth.ts';
import { codec } from './workloads/codec.ts';
import { create } from './workloads/create.ts';
import { remove } from './workloads/delete.ts';
import { floor } from './workloads/floor.ts';
import { get } from './workloads/get.ts';
import { hub } from './workloads/hub.ts';
import { list } from './workloads/list.ts';
import { schedule } from './workloads/schedule.ts';
import { start } from './workloads/start.ts';
import { update } from './workloads/update.ts';
import { watch } from './workloads/watch.ts';

const WORKLOADS: readonly Workload[] = [
  create,
  get,
  auth,
  admission,
  list,
  update,
  remove,
  watch,
  schedule,
  start,
  codec,
  hub,
  floor,
];
const ALL = WORKLOADS.filter((workload) => workload !== floor);

const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

/** Exit codes as shells give them to programs ended by a signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Runs the command line (without node and program) and sets the exit code; failures are told on stderr. */
export async function bench(argv: readonly string[]): Promise<void> {
  try {
    process.exitCode = await main(argv);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const hint = isUsage ? '; see orch bench --help' : '';
    process.stderr.write(`bench: ${(error as Error).message.replace(/\s*\n\s*/g, ' ')}${hint}\n`);
    process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Resolves with the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const { workloads: names, options } = parseCommandLine(argv);
  if (options.help === true) {
    process.stdout.write(usage(WORKLOADS));
    return 0;
  }
  const print = (figures: Figures): void => {
    process.stdout.write(options.json === true ? `${JSON.stringify(figures)}\n` : `${lines(figures)}\n`);
  };
  return await runWorkloads(chosenWorkloads(names), options, print);
}

/** Runs workloads one after another. Resolves with the exit code: that of a signal when one came. */
export async function runWorkloads(
  workloads: readonly Workload[],
  options: BenchOptions,
  report: (figures: Figures) => void,
): Promise<number> {
  const bench = new Bench(options);
  let interrupted: number | undefined;
  const stops = Object.entries(SIGNALS).map(([signal, code]) => {
    const stop = (): void => {
      interrupted ??= code;
      void bench.children.stopAll();
    };
    process.on(signal, stop);
    return () => process.off(signal, stop);
  });
  try {
    for (const workload of workloads) {
      if (interrupted !== undefined) break;
      await workload.run(bench, report);
    }
  } catch (error) {
    if (interrupted === undefined) throw error;
  } finally {
    await bench.close();
    for (const forget of stops) forget();
  }
  return interrupted ?? 0;
}

/** Throws UsageError for a name that is none. */
export function chosenWorkloads(names: readonly string[]): readonly Workload[] {
  if (names.length === 0) throw new UsageError('which workload?');
  if (names.length === 1 && names[0] === 'all') return ALL;
  return names.map((name) => {
    const workload = WORKLOADS.find((candidate) => candidate.name === name);
    if (workload === undefined) throw new UsageError(`there is no workload "${name}"`);
    return workload;
  });
}
