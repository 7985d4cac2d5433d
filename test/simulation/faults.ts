// What goes wrong in a run, and how often: drawn once from the seed, then asked message by message and commit by commit.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { LinkFaults } from '../../runtime/simulation/simulated-link.ts';
import type { CommitFate } from './disk.ts';

/** One run's temper. Shares are of 1. */
export interface FaultPlan {
  readonly delayMsMax: number;
  /** Messages that take up to a second longer: a thread that lags. */
  readonly lagShare: number;
  /** What one thread of the run, drawn by the seed, is sent takes up to this much longer: its hub is behind the others. */
  readonly laggardMsMax: number;
  readonly fullShare: number;
  readonly slowCommitShare: number;
  readonly failedCommitShare: number;
  /** How often the disk fills up for a while; commits fail until there is room again. */
  readonly fullDisks: number;
  /** How many threads are crashed, and how often the whole process is killed. */
  readonly crashes: number;
  readonly kills: number;
  /** How often somebody sets the clock on the wall, of all servers. */
  readonly clockJumps: number;
  /** The thread, by its number, on which every limit is as small as it goes; undefined: none. */
  readonly tightThread: number | undefined;
  /** Some calls of webhooks come to nothing. */
  readonly webhooksFail: boolean;
  /** Mailboxes smaller than the actor's own, by kind. */
  readonly mailboxes: Readonly<Record<string, { readonly mailboxMax: number }>>;
}

export const NO_FAULTS: FaultPlan = {
  delayMsMax: 2,
  lagShare: 0,
  laggardMsMax: 0,
  fullShare: 0,
  slowCommitShare: 0,
  failedCommitShare: 0,
  fullDisks: 0,
  crashes: 0,
  kills: 0,
  clockJumps: 0,
  tightThread: undefined,
  webhooksFail: false,
  mailboxes: {},
};

const LAG_MS_MAX = 1000;
const COMMIT_MS_MAX = 4;
export const SLOW_COMMIT_MS_MAX = 2000;
/** One run in so many has a thread with the smallest limits, if it has a thread of that number. */
const TIGHT_ONE_IN = 8;
const THREADS_MAX = 5;
/** One run in so many has a clock that is set. */
const CLOCK_ONE_IN = 3;
const CLOCK_JUMPS_MAX = 3;

/** Each fault is there in some runs and not in others, so that none hides another. `clocks`: chance for those that are set. */
export function drawFaults(random: SeededRandom, clocks: SeededRandom): FaultPlan {
  const sometimes = <T>(value: T, otherwise: T): T => (random.below(2) === 0 ? value : otherwise);
  return {
    delayMsMax: [0, 2, 20, 80][random.below(4)]!,
    lagShare: sometimes(0.01, 0),
    laggardMsMax: [0, 0, 300][random.below(3)]!,
    fullShare: sometimes(0.005, 0),
    // A disk that is slow all the time is another one than a disk that sometimes is.
    slowCommitShare: [0, 0, 0.03, 0.5][random.below(4)]!,
    failedCommitShare: sometimes(0.004, 0),
    fullDisks: [0, 0, 1][random.below(3)]!,
    crashes: sometimes(1 + random.below(3), 0),
    kills: sometimes(1 + random.below(2), 0),
    mailboxes: [{}, {}, { hub: { mailboxMax: 3 } }, { hub: { mailboxMax: 8 }, ingress: { mailboxMax: 2 } }][
      random.below(4)
    ]!,
    webhooksFail: true,
    clockJumps: clocks.below(CLOCK_ONE_IN) === 0 ? 1 + clocks.below(CLOCK_JUMPS_MAX) : 0,
    tightThread: random.below(TIGHT_ONE_IN) === 0 ? random.below(THREADS_MAX) : undefined,
  };
}

/** Draws each message's and each commit's fate. Nothing goes wrong any more once `isOver`. */
export class Faults implements LinkFaults {
  readonly plan: FaultPlan;
  readonly #random: SeededRandom;
  readonly #laggard: string;
  isOver = false;
  /** There is no room for what is committed now. */
  isDiskFull = false;

  constructor(plan: FaultPlan, random: SeededRandom, threads: readonly string[]) {
    this.plan = plan;
    this.#random = random;
    this.#laggard = threads[random.below(threads.length)]!;
  }

  delayMs(_from: string, to: string): number {
    const { delayMsMax, lagShare, laggardMsMax } = this.plan;
    const behindMs = laggardMsMax > 0 && to === this.#laggard && !this.isOver ? this.#random.below(laggardMsMax) : 0;
    const lagMs = this.#happens(lagShare) ? this.#random.below(LAG_MS_MAX) : 0;
    return this.#random.below(delayMsMax + 1) + lagMs + behindMs;
  }

  isFull(): boolean {
    return this.#happens(this.plan.fullShare);
  }

  commitFate(): CommitFate {
    const isSlow = this.#happens(this.plan.slowCommitShare);
    const delayMs = this.#random.below(isSlow ? SLOW_COMMIT_MS_MAX : COMMIT_MS_MAX);
    if (this.isDiskFull && !this.isOver) return { delayMs, fails: 'full', isKept: false };
    const fails = this.#happens(this.plan.failedCommitShare) ? 'error' : undefined;
    return { delayMs, fails, isKept: this.#random.below(2) === 0 };
  }

  #happens(share: number): boolean {
    return share > 0 && !this.isOver && this.#random.next() < share;
  }
}
