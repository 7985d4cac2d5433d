// The watch loops' command line: a line after each incident, and at the end what was seen and what was wrong.

import { readCommandLine } from '../command-line.ts';
import { operators } from './operators.ts';
import { type LoopReport, watchLoops } from './watch-loops.ts';

const USAGE = `usage: npm run clients -- [options]
  --minutes N      how long the client libraries follow a server that is killed, stopped and compacted (default 10)
  --widgets N      instead: two operators look after N custom objects while the server restarts and their definition changes
`;

const { values } = readCommandLine(USAGE, {
  options: {
    minutes: { type: 'string', default: '10' },
    widgets: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function print({ writes, incidents, resumed, expired, problems }: LoopReport): void {
  const counts = [`${writes} writes`, `${incidents} incidents`, `${resumed} watches resumed`, `${expired} expired`];
  process.stdout.write(`${counts.join(', ')}, ${problems.length} problems\n`);
}

async function run(): Promise<boolean> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
    if (values.widgets !== undefined) {
      const { widgets, actedByNode, actedByPython, resumed } = await operators(scope, Number(values.widgets));
      const acts = `${actedByNode} acts of the Node operator, ${actedByPython} of the Python one`;
      process.stdout.write(
        `${widgets} widgets, ${acts}, ${resumed} of its watches resumed: every widget was seen as it is\n`,
      );
      return true;
    }
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
