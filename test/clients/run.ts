// The watch loops' command line: a line after each incident, and at the end what was seen and what was wrong.
import { parseArgs } from 'node:util';
import { type LoopReport, watchLoops } from './watch-loops.ts';

const USAGE = `usage: npm run clients -- [options]
  --minutes N      how long the client libraries follow a server that is killed, stopped and compacted (default 10)
`;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, help: { type: 'boolean', default: false } },
});

function print({ writes, incidents, resumed, expired, problems }: LoopReport): void {
  const counts = [`${writes} writes`, `${incidents} incidents`, `${resumed} watches resumed`, `${expired} expired`];
  process.stdout.write(`${counts.join(', ')}, ${problems.length} problems\n`);
}

async function run(): Promise<boolean> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
    const report = await watchLoops(scope, { seconds: Number(values.minutes) * 60, onProgress: print });
    print(report);
    for (const problem of report.problems) process.stdout.write(`  ${problem}\n`);
    return report.problems.length === 0;
  } finally {
    for (const step of undo) await step();
  }
}

if (values.help) process.stdout.write(USAGE);
else process.exitCode = (await run()) ? 0 : 1;
