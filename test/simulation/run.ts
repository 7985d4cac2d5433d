// The simulation's command line: many seeds with a progress line, one seed with its trace, or a smaller run that fails.
import { parseArgs } from 'node:util';
import { type RunResult, simulate } from './simulate.ts';

const USAGE = `usage: npm run simulate -- [options]
  --seeds N     run N seeds (default 200)
  --first N     the first seed (default 1)
  --seed N      run one seed and print its trace
  --shrink      with a failing seed: look for a smaller run that fails as well
`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function report({ seed, clients, steps, problems }: RunResult): void {
  print(`seed ${seed}, ${clients} clients, ${steps} steps: ${problems.length} problems`);
  for (const problem of problems) print(`  ${problem}`);
}

/** Fewer clients and steps, as long as the run still fails. */
async function shrink(failing: RunResult): Promise<RunResult> {
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
      const result = await simulate({ seed, clients, steps });
      if (result.problems.length === 0) continue;
      smallest = result;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

async function replay(seed: number): Promise<boolean> {
  let result = await simulate(values.shrink ? { seed } : { seed, trace: print });
  if (values.shrink && result.problems.length > 0) {
    const { clients, steps } = await shrink(result);
    result = await simulate({ seed, clients, steps, trace: print });
  }
  report(result);
  return result.problems.length === 0;
}

async function runMany(first: number, count: number): Promise<boolean> {
  const failed: RunResult[] = [];
  let writes = 0;
  let operations = 0;
  let events = 0;
  for (let seed = first; seed < first + count; seed++) {
    const result = await simulate({ seed });
    writes += result.writes;
    operations += result.operations;
    events += result.watchEvents;
    if (result.problems.length > 0) {
      failed.push(result);
      process.stdout.write('\n');
      report(values.shrink ? await shrink(result) : result);
    }
    const done = `${seed - first + 1} of ${count} runs, ${failed.length} failed`;
    process.stdout.write(`\r${done}: ${operations} operations, ${writes} changes, ${events} watch events `);
  }
  process.stdout.write('\n');
  if (failed.length > 0) print(`failed: ${failed.map(({ seed }) => seed).join(' ')}`);
  return failed.length === 0;
}

if (values.help) process.stdout.write(USAGE);
else {
  const isGood =
    values.seed === undefined
      ? await runMany(Number(values.first), Number(values.seeds))
      : await replay(Number(values.seed));
  process.exitCode = isGood ? 0 : 1;
}
