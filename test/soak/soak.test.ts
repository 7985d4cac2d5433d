// A short soak, with threads that break; and the soak's own means: it finds what it is told to look for.
import test from 'ava';
import { seedFor } from '../server/seed.ts';
import { EventReader, type EventType } from './event-reader.ts';
import { EVERYTHING } from './selections.ts';
import { growthOf, type MemorySample } from './server-memory.ts';
import { soak } from './soak.ts';
import { type Seen, Truth } from './truth.ts';
import { Watcher } from './watcher.ts';

test.serial(
  'ten seconds of churn, with watchers that come and go and threads that break, lose and repeat nothing',
  async (t) => {
    const seed = seedFor(t);
    const report = await soak({
      seconds: 10,
      watchers: 80,
      writesPerSecond: 100,
      restartSeconds: 4,
      placement: 'default',
      seed,
    });
    t.deepEqual(report.problems, [], `seed ${seed}`);
    t.is(report.broken, 2);
    t.true(report.writes > 100, `${report.writes} writes`);
    t.true(report.events > 1000, `${report.events} events`);
    t.true(report.checks > 100, `${report.checks} comparisons`);
    t.true(report.resumed > 0);
  },
);

type Change = readonly [type: EventType, object: number, version: number];

const CHANGES: readonly Change[] = [
  ['ADDED', 1, 10],
  ['ADDED', 2, 11],
  ['MODIFIED', 1, 14],
  ['DELETED', 2, 15],
  ['MODIFIED', 1, 16],
];

function lineOf([type, object, version]: Change): string {
  const metadata = { name: `o-${object}`, resourceVersion: String(version), labels: { tier: 'a' } };
  return `${JSON.stringify({ type, object: { kind: 'ConfigMap', metadata } })}\n`;
}

/** What is found when a watcher of everything is sent these events, and the truth is `CHANGES`. */
function problemsOf(events: readonly Change[]): string[] {
  const truth = new Truth();
  const problems: string[] = [];
  for (const change of CHANGES) truth.apply(...change, 'a');
  const seen: Seen[] = [];
  const watcher = new Watcher({
    server: undefined as never,
    client: undefined as never,
    selection: EVERYTHING,
    lists: true,
    onSeen: (some) => seen.push(some),
    onProblem: (problem) => problems.push(problem),
  });
  const reader = new EventReader(watcher);
  for (const event of events) {
    const line = Buffer.from(lineOf(event));
    reader.feed(line, 0, line.length);
  }
  watcher.report();
  return [...problems, ...seen.flatMap((some) => truth.problemOf(some) ?? [])];
}

const SEEN: readonly (readonly [what: string, events: readonly Change[], sign: RegExp | undefined])[] = [
  ['all changes in order are right', CHANGES, undefined],
  ['some changes are right as far as they go', CHANGES.slice(0, 3), undefined],
  ['a lost change in the middle is found', CHANGES.filter((_, index) => index !== 2), /not those that were/],
  ['a repeated change is found', [...CHANGES, CHANGES[4]!], /late or twice/],
  ['changes out of order are found', [...CHANGES.slice(0, 2), CHANGES[3]!, CHANGES[2]!], /late or twice/],
  ['a change under another version is found', [...CHANGES.slice(0, 4), ['MODIFIED', 1, 17]], /not those that were/],
  ['a change of another object is found', [...CHANGES.slice(0, 4), ['ADDED', 3, 16]], /not those that were/],
  ['a deletion of what is not there is found', [['DELETED', 2, 15]], /which was at 0/],
  ['a bookmark past a lost change is found', [...CHANGES.slice(0, 4), ['BOOKMARK', 9, 16]], /not those that were/],
];

for (const [what, events, sign] of SEEN) {
  test(`to a watcher, ${what}`, (t) => {
    const problems = problemsOf(events);
    if (sign === undefined) t.deepEqual(problems, []);
    else
      t.true(
        problems.some((problem) => sign.test(problem)),
        problems.join(),
      );
  });
}

test('an acknowledged write that the watch of everything does not show is found', (t) => {
  const truth = new Truth();
  t.is(truth.acknowledge(1, 5), undefined);
  t.is(truth.apply('ADDED', 1, 5, 'a'), undefined);
  t.is(truth.acknowledge(1, 7), undefined);
  t.regex(truth.apply('ADDED', 2, 8, 'a') ?? '', /at 7 was acknowledged/);
  t.regex(truth.acknowledge(1, 6) ?? '', /at 6 was acknowledged/);
});

test('events are read from pieces of any size', (t) => {
  const text = Buffer.from(CHANGES.map((change) => `${lineOf(change)} `).join(''));
  for (let piece = 1; piece < text.length; piece++) {
    const read: Change[] = [];
    const reader = new EventReader({ onEvent: (...event) => read.push([event[0], event[1], event[2]]) });
    for (let at = 0; at < text.length; at += piece) reader.feed(text, at, Math.min(at + piece, text.length));
    t.deepEqual(read, CHANGES);
  }
});

test('growth is that of the line through the second half', (t) => {
  const samples = (bytesAt: (index: number) => number): MemorySample[] =>
    Array.from({ length: 40 }, (_, i) => ({ atMs: i * 5000, rss: bytesAt(i), heap: 1, slabs: 1, cpuSeconds: i }));
  t.is(
    growthOf(
      samples(() => 7),
      'rss',
    ),
    0,
  );
  // Full at half time: flat since.
  t.is(
    growthOf(
      samples((i) => Math.min(i, 20)),
      'rss',
    ),
    0,
  );
  const growth = growthOf(
    samples((i) => 100 + i),
    'rss',
  );
  t.true(Math.abs(growth - 19 / 129.5) < 1e-9, String(growth));
  t.true(
    growthOf(
      samples((i) => 100 + (i % 2)),
      'rss',
    ) < 0.01,
  );
});
