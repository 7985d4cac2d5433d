// Whole servers under a seed: every answer and every watch of 200 runs is what the durable revisions allow. A failure names
// its seed; `npm run simulate -- --seed N` replays it with a trace.
import test from 'ava';
import { simulate } from './simulate.ts';

const SEEDS = 200;
const SEEDS_A_TEST = 20;

for (let first = 1; first <= SEEDS; first += SEEDS_A_TEST) {
  const last = first + SEEDS_A_TEST - 1;
  test.serial(`what clients see of the servers simulated under seeds ${first} to ${last} is right`, async (t) => {
    let [changes, operations, watchEvents, selfChecks] = [0, 0, 0, 0];
    for (let seed = first; seed <= last; seed++) {
      const result = await simulate({ seed });
      t.deepEqual(result.problems, [], `seed ${seed}`);
      changes += result.writes;
      operations += result.operations;
      watchEvents += result.watchEvents;
      selfChecks += result.selfChecks;
    }
    // A run in which nothing happens proves nothing.
    t.true(changes > 25 * SEEDS_A_TEST, `${changes} changes`);
    t.true(operations > 100 * SEEDS_A_TEST, `${operations} operations`);
    t.true(watchEvents > 25 * SEEDS_A_TEST, `${watchEvents} watch events`);
    t.true(selfChecks > 10 * SEEDS_A_TEST, `${selfChecks} checks of the hubs by themselves`);
  });
}

test.serial('the same seed gives the same run', async (t) => {
  const once = await simulate({ seed: 6 });
  const again = await simulate({ seed: 6 });
  t.deepEqual(once.history, again.history);
});
