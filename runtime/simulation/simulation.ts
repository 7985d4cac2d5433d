// Everything an actor takes from its environment, virtual and decided by one seed. Give `environment` and `delivery` to
// startInProcess, then move time.
import { setTimeout } from 'node:timers/promises';
import type { Environment } from '../environment.ts';
import { MemoryDisk } from './memory-disk.ts';
import { SeededRandom } from './seeded-random.ts';
import { StepDelivery } from './step-delivery.ts';
import { VirtualTime } from './virtual-time.ts';

const realMoment = (): Promise<void> => setTimeout(1);

export interface Simulation {
  readonly environment: Environment;
  readonly time: VirtualTime;
  readonly disk: MemoryDisk;
  /** What the actors draw from. */
  readonly random: SeededRandom;
  /** Picks the next mailbox by chance, from a stream of its own, so that actors' draws do not shift it. */
  readonly delivery: StepDelivery;
}

/** A fresh world. The same seed and the same calls give the same run. */
export function createSimulation(seed: number): Simulation {
  const time = new VirtualTime();
  const disk = new MemoryDisk();
  const random = new SeededRandom(seed);
  const delivery = new StepDelivery(time, new SeededRandom(seed ^ 0x5eed));
  return { environment: { clock: time, timers: time, random, disk }, time, disk, random, delivery };
}

/** Steps after which something real may be waited for, such as a module that is read from a disk. */
const STEPS_UNTIL_REAL = 20;

/**
 * Awaits `work` while time passes, in steps of `stepMs`, for at most `limitMs`. Rejects when it is not done by then. Work that takes
 * many steps has a little real time as well: a minute of virtual time is over before a busy disk has answered.
 */
export async function whileTimePasses<T>(
  time: VirtualTime,
  work: Promise<T>,
  stepMs = 10,
  limitMs = 600_000,
): Promise<T> {
  let settled = false;
  const done = work.finally(() => {
    settled = true;
  });
  done.catch(() => {}); // Returned below.
  await time.runUntilIdle();
  for (let passedMs = 0, steps = 1; !settled; passedMs += stepMs, steps++) {
    if (steps % STEPS_UNTIL_REAL === 0) await realMoment();
    if (passedMs >= limitMs) throw new Error(`not done after ${limitMs} ms of virtual time`);
    await time.advance(stepMs);
  }
  return done;
}
