// The bench's command: runs the named workloads one after another and prints what they measure. Ends its children and
// removes its files whether it finishes, fails or is interrupted.
import { Bench, type Workload } from './bench.ts';
import { budget } from './budget/budget.ts';
import { type Figures, failuresOf, lines } from './figures/report.ts';
import { requireHeeded } from './option-use.ts';
import { type BenchOptions, parseCommandLine, UsageError, usage } from './options.ts';
import { profiledBench, profileWorkload } from './profile/command.ts';
import { partLines } from './profile/parts.ts';
import { admission } from './workloads/admission.ts';
import { aggregation } from './workloads/aggregation.ts';
import { audit } from './workloads/audit.ts';
import { auth } from './workloads/auth.ts';
import { codec } from './workloads/codec.ts';
import { create } from './workloads/create.ts';
import { custom } from './workloads/custom.ts';
import { remove } from './workloads/delete.ts';
import { fairness } from './workloads/fairness.ts';
import { first } from './workloads/first.ts';
import { floor } from './workloads/floor.ts';
import { get } from './workloads/get.ts';
import { hub } from './workloads/hub.ts';
import { list } from './workloads/list.ts';
import { pending } from './workloads/pending.ts';
import { schedule } from './workloads/schedule.ts';
import { size } from './workloads/size.ts';
import { start } from './workloads/start.ts';
import { update } from './workloads/update.ts';
import { watch } from './workloads/watch.ts';

const WORKLOADS: readonly Workload[] = [
  create,
  get,
  auth,
  audit,
  admission,
  aggregation,
  fairness,
  list,
  update,
  custom,
  remove,
  watch,
  schedule,
  pending,
  start,
  first,
  size,
  codec,
  hub,
  floor,
  budget,
];
const ALL = WORKLOADS.filter((workload) => workload !== floor && workload !== budget);

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
  const told: Figures[] = [];
  const print = (figures: Figures): void => {
    told.push(figures);
    process.stdout.write(options.json === true ? `${JSON.stringify(figures)}\n` : `${lines(figures)}\n`);
  };
  const exitCode =
    names[0] === 'profile'
      ? await profile(names.slice(1), options, print)
      : await runWorkloads(heeding(chosenWorkloads(names), options), options, print);
  if (exitCode === 0) refuseFailures(told);
  return exitCode;
}

async function profile(
  names: readonly string[],
  options: BenchOptions,
  print: (figures: Figures) => void,
): Promise<number> {
  const [workload, ...others] = chosenWorkloads(names);
  if (others.length > 0) throw new UsageError('profile takes one workload');
  requireHeeded(['profile', workload!.name], options);
  return await runIn(profiledBench(options), async (bench) => {
    const { file, costs } = await profileWorkload(bench, workload!, print);
    const text = options.json === true ? JSON.stringify({ file, costs }) : `${partLines(costs)}\n${file}`;
    process.stdout.write(`${text}\n`);
  });
}

/** The workloads themselves. Throws UsageError for an option that none of them looks at. */
function heeding(workloads: readonly Workload[], options: BenchOptions): readonly Workload[] {
  requireHeeded(
    workloads.map(({ name }) => name),
    options,
  );
  return workloads;
}

/** Throws where figures say nothing, in one line that says why. */
export function refuseFailures(told: readonly Figures[]): void {
  const failures = failuresOf(told);
  if (failures.length > 0) throw new Error(failures.join('; '));
}

/** Runs workloads one after another. Resolves with the exit code: that of a signal when one came. */
export async function runWorkloads(
  workloads: readonly Workload[],
  options: BenchOptions,
  report: (figures: Figures) => void,
): Promise<number> {
  return await runIn(new Bench(options), async (bench, isInterrupted) => {
    for (const workload of workloads) {
      if (isInterrupted()) break;
      await workload.run(bench, report);
    }
  });
}

/** Runs `use` with a bench that ends with it, or with a signal. Resolves with the exit code. */
async function runIn<B extends Bench>(
  bench: B,
  use: (bench: B, isInterrupted: () => boolean) => Promise<void>,
): Promise<number> {
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
    await use(bench, () => interrupted !== undefined);
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
  if (names.length === 0) throw new UsageError('no workload is named');
  if (names.length === 1 && names[0] === 'all') return ALL;
  return names.map((name) => {
    const workload = WORKLOADS.find((candidate) => candidate.name === name);
    if (workload === undefined) throw new UsageError(`there is no workload "${name}"`);
    return workload;
  });
}
