// The command line of the crash rounds: a line for each, and at the first that is not as promised, what was lost and how to
// run it again.
import { parseArgs } from 'node:util';
import { type RoundReport, runCrashRounds } from './crash-run.ts';
import { QUIET_MS_MAX, runQuotaRounds } from './quota-run.ts';

const USAGE = `usage: npm run crash -- [quota] [options]
  quota              64 clients against a quota of 100 pods, with kill -9 in some rounds (default: 300 rounds)
  --rounds N         how often the server is killed (default 10)
  --drop-unsynced    what was not synced is lost or torn at each crash (needs cc)
  --seed S           what the clients do, when the server is killed, what is torn (default: a new one)
  --placement P      one placement; without it single, default and wide in turn
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    'drop-unsynced': { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    placement: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function lineOf(report: RoundReport, rounds: number): string {
  const { round, placement, killedAfterMs, acknowledged, happened, events, operations, problems } = report;
  const files = operations === 0 ? '' : `, ${operations} operations on files`;
  const work = `${acknowledged} writes acknowledged, ${happened} more had happened, ${events} events${files}`;
  return `round ${round} of ${rounds} (${placement}): killed after ${killedAfterMs} ms, ${work}; ${problems.length} lost`;
}

async function run(rounds: number, seed: number): Promise<boolean> {
  const { placement, 'drop-unsynced': dropUnsynced } = values;
  print(`seed ${seed}${dropUnsynced ? ', what is not synced is dropped' : ''}`);
  const startedMs = performance.now();
  const reports = await runCrashRounds({
    rounds,
    seed,
    dropUnsynced,
    ...(placement === undefined ? {} : { placement }),
    onRound: (report) => print(lineOf(report, rounds)),
  });
  const problems = reports.flatMap((report) => report.problems);
  for (const problem of problems) print(`  ${problem}`);
  const sum = (figure: 'acknowledged' | 'happened' | 'events'): number =>
    reports.reduce((total, report) => total + report[figure], 0);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  print(
    `seed ${seed}: ${reports.length} of ${rounds} rounds in ${seconds} s, ${sum('acknowledged')} writes acknowledged, ` +
      `${sum('happened')} more had happened, ${sum('events')} events, ${problems.length} lost`,
  );
  return problems.length === 0;
}

/** At its end a line with the slowest count. */
async function runQuota(rounds: number, seed: number): Promise<boolean> {
  print(`seed ${seed}`);
  const startedMs = performance.now();
  const reports = await runQuotaRounds({
    rounds,
    seed,
    onRound: ({ round, placement, wasKilled, taken, refused, quietMs, problems }) => {
      const kill = wasKilled ? ', killed' : '';
      print(
        `round ${round} of ${rounds} (${placement}${kill}): ${taken} taken, ${refused} refused, counted in ${quietMs} ms`,
      );
      for (const problem of problems) print(`  ${problem}`);
    },
  });
  const problems = reports.reduce((sum, report) => sum + report.problems.length, 0);
  const kills = reports.filter(({ wasKilled }) => wasKilled).length;
  const slowest = Math.max(...reports.map(({ quietMs }) => quietMs));
  const late = reports.filter(({ quietMs }) => quietMs > QUIET_MS_MAX).length;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  print(
    `seed ${seed}: ${reports.length} of ${rounds} rounds in ${seconds} s, ${kills} with a kill, ${problems} problems, ` +
      `counted within ${slowest} ms, ${late} times after more than ${QUIET_MS_MAX} ms`,
  );
  return problems === 0 && late === 0;
}

const isQuota = positionals[0] === 'quota';
const seed = Number(values.seed);
if (values.help || positionals.length > (isQuota ? 1 : 0)) process.stdout.write(USAGE);
else if (isQuota) process.exitCode = (await runQuota(Number(values.rounds ?? 300), seed)) ? 0 : 1;
else process.exitCode = (await run(Number(values.rounds ?? 10), seed)) ? 0 : 1;
