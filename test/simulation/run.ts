// The simulation's command line: many seeds with a progress line, one seed with its trace, or a smaller run that fails.
import { fileURLToPath } from 'node:url';
import { readCommandLine } from '../command-line.ts';
import { Progress } from './progress.ts';
import { type RunSummary, runSeeds, runSeedsInProcesses, serversFor, workForParent } from './seed-range.ts';
import { type RunResult, simulate } from './simulate.ts';

const USAGE = `usage: npm run simulate -- [options]
  --seeds N     run N seeds (default 200)
  --first N     the first seed (default 1)
  --jobs N      split the seeds over N processes (default 1)
  --servers N   N servers on a model of etcd (default: one server on a disk)
  --original    they keep objects as the original does
  --seed N      run one seed and print its trace
  --shrink      with a failing seed: look for a smaller run that fails as well
`;
/** Of a seed that failed in a long run; the rest shows when it is run alone. */
const PROBLEMS_SHOWN = 10;
const PROBLEM_LENGTH_MAX = 2000;

const { values } = readCommandLine(USAGE, {
  options: {
    seeds: { type: 'string', default: '200' },
    first: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    servers: { type: 'string' },
    original: { type: 'boolean', default: false },
    seed: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    /** How one process of several is started. */
    worker: { type: 'string' },
  },
});

const servers = values.servers === undefined ? undefined : Number(values.servers);
const isOriginal = values.original;
const progress = new Progress(process.stdout, () => performance.now());
const print = (line: string): void => progress.print(line);

function report({ seed, clients, steps, problems }: RunSummary): void {
  print(`seed ${seed}, ${clients} clients, ${steps} steps: ${problems.length} problems`);
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) {
    print(`  ${problem.length > PROBLEM_LENGTH_MAX ? `${problem.slice(0, PROBLEM_LENGTH_MAX)}…` : problem}`);
  }
}

/** Fewer clients and steps, as long as the run still fails. */
async function shrink(failing: RunSummary): Promise<RunSummary> {
  let smallest = failing;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    const { seed, clients, steps } = smallest;
    const tries = [
      { clients: clients - 1, steps },
      { clients, steps: Math.floor(steps / 2) },
      { clients, steps: steps - 1 },
    ];
    for (const { clients, steps } of tries) {
      if (clients < 1 || steps < 1) continue;
      const result = await simulate({ seed, clients, steps, ...serversFor(seed, servers, isOriginal) });
      if (result.problems.length === 0) continue;
      smallest = result;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

async function replay(seed: number): Promise<boolean> {
  let result: RunResult = await simulate({
    seed,
    ...(values.shrink ? {} : { trace: print }),
    ...serversFor(seed, servers, isOriginal),
  });
  if (values.shrink && result.problems.length > 0) {
    const { clients, steps } = await shrink(result);
    result = await simulate({ seed, clients, steps, trace: print, ...serversFor(seed, servers, isOriginal) });
  }
  report(result);
  return result.problems.length === 0;
}

async function runMany(first: number, count: number, jobs: number): Promise<boolean> {
  const failed: RunSummary[] = [];
  const startedMs = performance.now();
  let [done, writes, operations, events] = [0, 0, 0, 0];
  const state = (): string => {
    const perSecond = (done / Math.max(1, performance.now() - startedMs)) * 1000;
    const happened = `${operations} operations, ${writes} changes, ${events} watch events`;
    return `${done} of ${count} runs, ${failed.length} failed: ${happened}; ${perSecond.toFixed(1)} runs/s`;
  };
  const onResult = (result: RunSummary): void => {
    done++;
    writes += result.writes;
    operations += result.operations;
    events += result.watchEvents;
    if (result.problems.length > 0) {
      failed.push(result);
      report(result);
    }
    progress.show(state);
  };
  const range = { first, count, isOriginal, ...(servers === undefined ? {} : { servers }) };
  if (jobs > 1) await runSeedsInProcesses(jobs, range, fileURLToPath(import.meta.url), onResult);
  else await runSeeds({ ...range, stride: 1 }, onResult);
  progress.end(state());
  if (values.shrink) for (const result of failed) report(await shrink(result));
  if (failed.length > 0) print(`failed: ${failed.map(({ seed }) => seed).join(' ')}`);
  return failed.length === 0;
}

if (values.help) process.stdout.write(USAGE);
else if (values.worker !== undefined) await workForParent(values.worker);
else {
  const isGood =
    values.seed === undefined
      ? await runMany(Number(values.first), Number(values.seeds), Number(values.jobs))
      : await replay(Number(values.seed));
  process.exitCode = isGood ? 0 : 1;
}
