// Everything an actor takes from its environment, virtual and decided by one seed. Give `environment` and `delivery` to
// startInProcess, then move time.
import type { Environment } from '../environment.ts';
import { MemoryDisk } from './memory-disk.ts';
import { SeededRandom } from './seeded-random.ts';
import { StepDelivery } from './step-delivery.ts';
import { VirtualTime } from './virtual-time.ts';

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

/** Awaits `work` while time passes, in steps of `stepMs`, for at most `limitMs`. Rejects when it is not done by then. */
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
  for (let passedMs = 0; !settled; passedMs += stepMs) {
    if (passedMs >= limitMs) throw new Error(`not done after ${limitMs} ms of virtual time`);
    await time.advance(stepMs);
  }
  return done;
}
