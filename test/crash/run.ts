// The command line of the crash rounds: a line for each, and at the first that is not as promised, what was lost and how to
// run it again.

import { readCommandLine } from '../command-line.ts';
import { runBalancedRounds } from './balanced-run.ts';
import { type RoundReport, runCrashRounds } from './crash-run.ts';
import { QUIET_MS_MAX, runQuotaRounds } from './quota-run.ts';
import { measureServers } from './servers-figures.ts';
import { runServersRounds } from './servers-run.ts';

const USAGE = `usage: npm run crash -- [quota | servers | balanced | figures] [options]
  quota              64 clients against a quota of 100 pods, with kill -9 in some rounds (default: 300 rounds)
  servers            two servers on three members of etcd, a mishap a round (default: 10 rounds; needs etcd)
  balanced           three servers on three members behind a balancer: informers, a leader, kubectl (needs etcd, kubectl)
  figures            how soon three servers know of each other's writes, and what a leader's end costs
  --minutes N        of balanced: how long (default 1)
  --mishap TEXT      of servers: only those whose names hold it
  --rounds N         how often the server is killed (default 10)
  --drop-unsynced    what was not synced is lost or torn at each crash (needs cc)
  --seed S           what the clients do, when the server is killed, what is torn (default: a new one)
  --placement P      one placement; without it single, default and wide in turn
`;

const { values, positionals } = readCommandLine(USAGE, {
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    'drop-unsynced': { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    placement: { type: 'string' },
    mishap: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

// An end by a signal is one, too: what was started goes with this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

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

/** At its end a line with the sums. */
async function runServers(rounds: number, seed: number): Promise<boolean> {
  print(`seed ${seed}`);
  const startedMs = performance.now();
  const { mishap } = values;
  const reports = await runServersRounds({
    rounds,
    seed,
    ...(mishap === undefined ? {} : { mishap }),
    say: print,
    onRound: ({ round, mishap: what, acknowledged, open, reads, events, begunAnew, healedMs, problems }) => {
      print(
        `round ${round} of ${rounds} (${what}): ${acknowledged} writes acknowledged, ${open} unknown, ${reads} lists, ` +
          `${events} events, ${begunAnew} watches begun anew, writes again after ${healedMs} ms; ${problems.length} problems`,
      );
      for (const problem of problems) print(`  ${problem}`);
    },
  });
  const sum = (figure: 'acknowledged' | 'open' | 'reads' | 'events'): number =>
    reports.reduce((total, report) => total + report[figure], 0);
  const problems = reports.reduce((total, report) => total + report.problems.length, 0);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  print(
    `seed ${seed}: ${reports.length} of ${rounds} rounds in ${seconds} s, ${sum('acknowledged')} writes acknowledged, ` +
      `${sum('open')} unknown, ${sum('reads')} lists, ${sum('events')} events, ${problems} problems`,
  );
  return problems === 0;
}

async function runBalanced(minutes: number, seed: number): Promise<boolean> {
  print(`seed ${seed}`);
  return await runBalancedRounds(seed, minutes * 60, (report) => {
    const { round, incident, acknowledged, open, applied, refused, acts, terms, problems } = report;
    print(
      `round ${round + 1} (${incident}): ${acknowledged} writes acknowledged, ${open} unknown, kubectl applied ${applied} and was ` +
        `refused ${refused}, the leader acted ${acts} times, ${terms} terms; ${problems.length} problems`,
    );
    for (const problem of problems) print(`  ${problem}`);
  });
}

/** How soon servers know of each other's writes, and what a leader's end costs. */
async function runFigures(): Promise<void> {
  const { seenAfterMs, writesAfterMs, slowestReadMs, failedReads } = await measureServers();
  const at = (share: number): string => seenAfterMs[Math.floor(seenAfterMs.length * share)]!.toFixed(1);
  print(`acknowledged by one server, seen by a watch at another: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  const after = writesAfterMs.map((ms) => `${Math.round(ms)} ms`).join(', ');
  print(
    `leading member killed: writes again after ${after}; slowest read at version 0 ${Math.round(slowestReadMs)} ms, ${failedReads} failed`,
  );
}

const isFigures = positionals[0] === 'figures';
const isBalanced = positionals[0] === 'balanced';
const isServers = positionals[0] === 'servers';
const isQuota = positionals[0] === 'quota';
const seed = Number(values.seed);
if (values.help || positionals.length > (isQuota || isServers || isBalanced || isFigures ? 1 : 0))
  process.stdout.write(USAGE);
else if (isFigures) await runFigures();
else if (isBalanced) process.exitCode = (await runBalanced(Number(values.minutes), seed)) ? 0 : 1;
else if (isServers) process.exitCode = (await runServers(Number(values.rounds ?? 10), seed)) ? 0 : 1;
else if (isQuota) process.exitCode = (await runQuota(Number(values.rounds ?? 300), seed)) ? 0 : 1;
else process.exitCode = (await run(Number(values.rounds ?? 10), seed)) ? 0 : 1;
