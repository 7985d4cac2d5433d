// The soak's command line: a line every five seconds, and at the end what was seen, whether memory stayed, and what was wrong.

import { readCommandLine } from '../command-line.ts';
import { FIGURES, type Figure, GROWTH_MAX, growthOf, type MemorySample } from './server-memory.ts';
import { type SoakReport, soak } from './soak.ts';

const USAGE = `usage: npm run soak -- [options]
  --minutes N      how long (default 15)
  --watchers N     watches at a time, each on its own connection (default 1000)
  --rate N         writes a second (default 200)
  --restarts S     seconds between two breaks of a thread (default 60); 0: none, on the server as shipped
  --placement P    (default default)
  --seed S         who watches what, comes, goes and stalls (default: a new one)
`;
/** Growth over a shorter second half says nothing. */
const JUDGED_SECONDS_MIN = 420;
const MIB = 1024 * 1024;

const { values } = readCommandLine(USAGE, {
  options: {
    minutes: { type: 'string', default: '15' },
    watchers: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
    restarts: { type: 'string', default: '60' },
    placement: { type: 'string', default: 'default' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    help: { type: 'boolean', default: false },
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const count = (value: number): string => value.toLocaleString('en-US');
const mib = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MiB`;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`;
}

function memoryOf(sample: MemorySample | undefined): string {
  return sample === undefined ? '' : FIGURES.map((figure) => `${figure} ${mib(sample[figure])}`).join(', ');
}

function progress(report: SoakReport, totalSeconds: number): string {
  const { seconds, watchers, stalled, writes, events, checks, broken, samples, problems } = report;
  return [
    `${clock(seconds)} of ${clock(totalSeconds)}`,
    `${count(watchers)} watchers (${stalled} stalled)`,
    `${count(writes)} writes`,
    `${count(events)} events`,
    `${count(checks)} checks`,
    `${broken} threads broken`,
    memoryOf(samples.at(-1)),
    `${problems.length} problems`,
  ].join(', ');
}

/** Answers whether the figure stayed within its bound, where it was looked at for long enough. */
function judge(samples: readonly MemorySample[], figure: Figure, isJudged: boolean): boolean {
  const half = samples.slice(Math.floor(samples.length / 2)).map((sample) => sample[figure]);
  const growth = growthOf(samples, figure);
  const isFlat = growth <= GROWTH_MAX[figure];
  const range = `${mib(Math.min(...half))} to ${mib(Math.max(...half))}`;
  const verdict = isJudged ? (isFlat ? 'flat' : 'NOT FLAT') : 'too short to judge';
  print(
    `  ${figure}: ${range} in the second half, growth ${percent(growth)} of at most ${percent(GROWTH_MAX[figure])}: ${verdict}`,
  );
  return isFlat || !isJudged;
}

async function run(): Promise<boolean> {
  const seconds = Math.round(Number(values.minutes) * 60);
  const seed = Number(values.seed);
  print(`seed ${seed}, placement ${values.placement}`);
  const report = await soak({
    seconds,
    seed,
    watchers: Number(values.watchers),
    writesPerSecond: Number(values.rate),
    restartSeconds: Number(values.restarts),
    placement: values.placement,
    onProgress: (now) => print(progress(now, seconds)),
  });
  const { writes, unanswered, events, checks, joined, resumed, expired, broken, samples, problems } = report;
  print(
    `${count(writes)} writes acknowledged, ${count(unanswered)} not answered while a thread was away (${broken} broken)`,
  );
  print(
    `${count(joined)} watchers, ${count(resumed)} ends of watches resumed, ${count(expired)} begun anew after a 410`,
  );
  print(`${count(events)} events, ${count(checks)} comparisons, ${problems.length} problems`);
  for (const problem of problems) print(`  ${problem}`);
  const [first, last] = [samples[0], samples.at(-1)];
  if (first !== undefined && last !== undefined && last !== first) {
    const cores = (last.cpuSeconds - first.cpuSeconds) / ((last.atMs - first.atMs) / 1000);
    print(`  the server used ${cores.toFixed(2)} cores`);
  }
  const flat = FIGURES.map((figure) => judge(samples, figure, seconds / 2 >= JUDGED_SECONDS_MIN));
  return problems.length === 0 && flat.every(Boolean);
}

if (values.help) process.stdout.write(USAGE);
else process.exitCode = (await run()) ? 0 : 1;
