// Whole servers under a seed: every answer and every watch of 200 runs is what the durable revisions allow. A failure names
// its seed; `npm run simulate -- --seed N` replays it with a trace.
import test, { type ExecutionContext } from 'ava';
import { NO_FAULTS } from './faults.ts';
import { countOutcomes, type Outcomes, sumOf } from './outcomes.ts';
import { simulate } from './simulate.ts';
import { AHEAD, mixNamed } from './workload.ts';

const SEEDS = 200;
const SEEDS_A_TEST = 20;
const FAULTLESS_SEEDS = 10;
const AHEAD_SEEDS = 10;
const CROWDED_SEEDS = 4;
const CROWD = 12;
/** So that many come to an object while others write it. */
const CROWDED = { ...NO_FAULTS, delayMsMax: 20, slowCommitShare: 0.5 };

/** What succeeds at least, a seed on average: about half of what does. A run in which everything is refused proves nothing. */
const SUCCESSES: readonly (readonly [what: string, aSeed: number])[] = [
  ['create ok', 5],
  ['update ok', 1],
  ['patch ok', 1.5],
  ['delete ok', 2],
  ['collect ok', 0.6],
  ['create (dry run) ok', 0.4],
  ['update (dry run) ok', 0.1],
  ['patch (dry run) ok', 0.1],
  ['delete (dry run) ok', 0.05],
  ['get ok', 9],
  ['get absent', 12],
  ['list ok', 10],
  ['watch open', 1.5],
  ['watch over', 2],
  ['watch with events', 3],
  ['apply of fields ok', 0.4],
  ['patch of fields ok', 0.1],
];

/** Faults turn some away, and some only: of all reads of a kind at most this share has no answer. */
const REFUSED_SHARE_MAX = 0.1;

/** What is rarer than this is looked for in all runs together. */
const RARE_A_SEED = 0.5;

function checkSuccesses(t: ExecutionContext, counts: Outcomes, seeds: number): void {
  for (const [what, aSeed] of SUCCESSES) {
    if (aSeed < RARE_A_SEED && seeds < SEEDS) continue;
    const count = sumOf(counts, what);
    t.true(count >= aSeed * seeds, `${count} of "${what}" in ${seeds} runs`);
  }
  for (const [refused, ...answered] of [
    ['get refused', 'get ok', 'get absent'],
    ['list refused', 'list ok', 'list expired'],
    ['watch refused', 'watch open', 'watch over', 'watch expired'],
  ] as const) {
    const [without, withAnswer] = [sumOf(counts, refused), sumOf(counts, ...answered)];
    t.true(without <= REFUSED_SHARE_MAX * (without + withAnswer), `${without} of "${refused}", ${withAnswer} answered`);
  }
}

const allOutcomes: Outcomes = new Map();

for (let first = 1; first <= SEEDS; first += SEEDS_A_TEST) {
  const last = first + SEEDS_A_TEST - 1;
  test.serial(`what clients see of the servers simulated under seeds ${first} to ${last} is right`, async (t) => {
    let [changes, watchEvents, selfChecks] = [0, 0, 0];
    const outcomes: Outcomes = new Map();
    for (let seed = first; seed <= last; seed++) {
      const result = await simulate({ seed });
      t.deepEqual(result.problems, [], `seed ${seed}`);
      changes += result.writes;
      watchEvents += result.watchEvents;
      selfChecks += result.selfChecks;
      countOutcomes(outcomes, result.history);
      countOutcomes(allOutcomes, result.history);
    }
    checkSuccesses(t, outcomes, SEEDS_A_TEST);
    t.true(changes > 25 * SEEDS_A_TEST, `${changes} changes`);
    t.true(watchEvents > 25 * SEEDS_A_TEST, `${watchEvents} watch events`);
    t.true(selfChecks > 10 * SEEDS_A_TEST, `${selfChecks} checks of the hubs by themselves`);
  });
}

test.serial('what succeeds rarely succeeds in some of these runs', (t) => {
  checkSuccesses(t, allOutcomes, SEEDS);
});

test.serial(
  `without faults every read of ${FAULTLESS_SEEDS} runs is answered, and every write said to be done or not`,
  async (t) => {
    const outcomes: Outcomes = new Map();
    for (let seed = 1; seed <= FAULTLESS_SEEDS; seed++) {
      const { problems, history } = await simulate({ seed, faults: NO_FAULTS });
      t.deepEqual(problems, [], `seed ${seed}`);
      countOutcomes(outcomes, history);
    }
    const undecided = [...outcomes.keys()].filter((name) => name.endsWith(' unknown'));
    t.deepEqual(undecided, []);
    t.is(sumOf(outcomes, 'get refused', 'list refused', 'watch refused'), 0);
    t.true(sumOf(outcomes, 'get ok') > 0 && sumOf(outcomes, 'list ok') > 0);
  },
);

test.serial(
  `${AHEAD_SEEDS} runs of watches from what the hub that is asked has yet to hear of, where one is behind, are right`,
  async (t) => {
    const outcomes: Outcomes = new Map();
    for (let seed = 1; seed <= AHEAD_SEEDS; seed++) {
      const { problems, history } = await simulate({ seed, faults: { ...NO_FAULTS, laggardMsMax: 300 }, mix: AHEAD });
      t.deepEqual(problems, [], `seed ${seed}`);
      countOutcomes(outcomes, history);
    }
    t.true(sumOf(outcomes, 'watch with events') > AHEAD_SEEDS);
  },
);

test.serial(
  `of ${CROWD} clients that patch the same objects behind a slow disk each is told what came of its patch: ${CROWDED_SEEDS} runs`,
  async (t) => {
    const outcomes: Outcomes = new Map();
    for (let seed = 1; seed <= CROWDED_SEEDS; seed++) {
      const crowd = { seed, clients: CROWD, steps: 20, faults: CROWDED, mix: mixNamed('patches') };
      const { problems, history } = await simulate(crowd);
      t.deepEqual(problems, [], `seed ${seed}`);
      countOutcomes(outcomes, history);
    }
    t.deepEqual(
      [...outcomes.keys()].filter((name) => name.endsWith(' unknown')),
      [],
    );
  },
);

test.serial('the same seed gives the same run', async (t) => {
  const once = await simulate({ seed: 6 });
  const again = await simulate({ seed: 6 });
  t.deepEqual(once.history, again.history);
});
