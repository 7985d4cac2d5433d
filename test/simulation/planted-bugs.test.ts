// The simulation is worth what it finds: each of the planted bugs shows, with the sign it must have, within 500 seeds.
import test from 'ava';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { PlantedBug } from './planting.ts';
import { simulate } from './simulate.ts';

const SEEDS_MAX = 500;

/** A seed under which the checkers report the bug; undefined when none does. */
async function seedThatFinds({ plant, sign, shownBy = 1, faults, mix }: PlantedBug): Promise<number | undefined> {
  const { server, remove } = plant();
  const seeds = Array.from({ length: SEEDS_MAX }, (_, index) => index + 1).filter((seed) => seed !== shownBy);
  try {
    for (const seed of [shownBy, ...seeds]) {
      const { problems } = await simulate({ seed, server, ...(faults && { faults }), ...(mix && { mix }) });
      if (problems.some((problem) => sign.test(problem))) return seed;
    }
    return undefined;
  } finally {
    remove();
  }
}

for (const bug of PLANTED_BUGS) {
  test.serial(`it is found when ${bug.name}`, async (t) => {
    const seed = await seedThatFinds(bug);
    t.not(seed, undefined);
    t.log(`by seed ${seed}`);
  });
}

test.serial('a planted bug is gone when it has been removed', async (t) => {
  for (const bug of PLANTED_BUGS) bug.plant().remove();
  t.deepEqual((await simulate({ seed: 1 })).problems, []);
});
