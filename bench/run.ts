// The bench's command line: runs the named workloads one after another and prints what they measure. Ends its children
// and removes its files whether it finishes, fails or is interrupted.
import { Bench, type Workload } from './bench.ts';
import { parseCommandLine, UsageError, usage } from './options.ts';
import { type Figures, lines } from './report.ts';
import { codec } from './workloads/codec.ts';
import { create } from './workloads/create.ts';
import { floor } from './workloads/floor.ts';
import { get } from './workloads/get.ts';
import { list } from './workloads/list.ts';
import { schedule } from './workloads/schedule.ts';
import { start } from './workloads/start.ts';
import { update } from './workloads/update.ts';
import { watch } from './workloads/watch.ts';

const WORKLOADS: readonly Workload[] = [create, get, list, update, watch, schedule, start, codec, floor];
const ALL = WORKLOADS.filter((workload) => workload !== floor);

const EXIT_USAGE = 2;
const EXIT_FAILED = 1;

/** Exit codes as shells give them to programs ended by a signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Runs the command line and resolves with the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const { workloads: names, options } = parseCommandLine(argv);
  if (options.help === true) {
    process.stdout.write(usage(WORKLOADS));
    return 0;
  }
  const workloads = chosen(names);
  const bench = new Bench(options);
  let interrupted: number | undefined;
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      interrupted ??= code;
      void bench.children.stopAll();
    });
  }
  const print = (figures: Figures): void => {
    process.stdout.write(options.json === true ? `${JSON.stringify(figures)}\n` : `${lines(figures)}\n`);
  };
  try {
    for (const workload of workloads) {
      if (interrupted !== undefined) break;
      await workload.run(bench, print);
    }
  } catch (error) {
    if (interrupted === undefined) throw error;
  } finally {
    await bench.close();
  }
  return interrupted ?? 0;
}

function chosen(names: readonly string[]): readonly Workload[] {
  if (names.length === 0) throw new UsageError('which workload?');
  if (names.length === 1 && names[0] === 'all') return ALL;
  return names.map((name) => {
    const workload = WORKLOADS.find((candidate) => candidate.name === name);
    if (workload === undefined) throw new UsageError(`there is no workload "${name}"`);
    return workload;
  });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`bench: ${error.message}\n${isUsage ? `\n${usage(WORKLOADS)}` : ''}`);
    process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILED;
  },
);
