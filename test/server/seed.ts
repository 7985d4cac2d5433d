// The seed of a test that leaves something to chance: a new one each time, said with the test's result, so that ORCH_SEED repeats
// what failed. The moments of a real process stay its own.
import { randomInt } from 'node:crypto';
import type { ExecutionContext } from 'ava';

const SEEDS = 2 ** 31;

/** What ORCH_SEED says, or a new one. */
export function seedFor(t: ExecutionContext): number {
  const asked = process.env.ORCH_SEED;
  const seed = asked === undefined ? randomInt(SEEDS) : Number(asked);
  if (!Number.isSafeInteger(seed)) throw new Error(`ORCH_SEED is ${asked}, not an integer`);
  t.log(`ORCH_SEED=${seed}`);
  return seed;
}
