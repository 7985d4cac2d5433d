// What goes wrong in a run, and how often: drawn once from the seed, then asked message by message and commit by commit.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { LinkFaults } from '../../runtime/simulation/simulated-link.ts';
import type { CommitFate } from './disk.ts';

/** One run's temper. Shares are of 1. */
export interface FaultPlan {
  readonly delayMsMax: number;
  /** Messages that take up to a second longer: a thread that lags. */
  readonly lagShare: number;
  readonly fullShare: number;
  readonly slowCommitShare: number;
  readonly failedCommitShare: number;
  /** How many threads are crashed, and how often the whole process is killed. */
  readonly crashes: number;
  readonly kills: number;
  /** Mailboxes smaller than the actor's own, by kind. */
  readonly mailboxes: Readonly<Record<string, { readonly mailboxMax: number }>>;
}

export const NO_FAULTS: FaultPlan = {
  delayMsMax: 2,
  lagShare: 0,
  fullShare: 0,
  slowCommitShare: 0,
  failedCommitShare: 0,
  crashes: 0,
  kills: 0,
  mailboxes: {},
};

const LAG_MS_MAX = 1000;
const COMMIT_MS_MAX = 4;
const SLOW_COMMIT_MS_MAX = 2000;

/** Each fault is there in some runs and not in others, so that none hides another. */
export function drawFaults(random: SeededRandom): FaultPlan {
  const sometimes = <T>(value: T, otherwise: T): T => (random.below(2) === 0 ? value : otherwise);
  return {
    delayMsMax: [0, 2, 20, 80][random.below(4)]!,
    lagShare: sometimes(0.01, 0),
    fullShare: sometimes(0.005, 0),
    slowCommitShare: sometimes(0.03, 0),
    failedCommitShare: sometimes(0.004, 0),
    crashes: sometimes(1 + random.below(3), 0),
    kills: sometimes(1 + random.below(2), 0),
    mailboxes: [{}, {}, { hub: { mailboxMax: 3 } }, { hub: { mailboxMax: 8 }, ingress: { mailboxMax: 2 } }][
      random.below(4)
    ]!,
  };
}

/** Draws each message's and each commit's fate. Nothing goes wrong any more once `isOver`. */
export class Faults implements LinkFaults {
  readonly plan: FaultPlan;
  readonly #random: SeededRandom;
  isOver = false;

  constructor(plan: FaultPlan, random: SeededRandom) {
    this.plan = plan;
    this.#random = random;
  }

  delayMs(): number {
    const { delayMsMax, lagShare } = this.plan;
    return this.#random.below(delayMsMax + 1) + (this.#happens(lagShare) ? this.#random.below(LAG_MS_MAX) : 0);
  }

  isFull(): boolean {
    return this.#happens(this.plan.fullShare);
  }

  commitFate(): CommitFate {
    const isSlow = this.#happens(this.plan.slowCommitShare);
    const delayMs = this.#random.below(isSlow ? SLOW_COMMIT_MS_MAX : COMMIT_MS_MAX);
    return { delayMs, fails: this.#happens(this.plan.failedCommitShare), isKept: this.#random.below(2) === 0 };
  }

  #happens(share: number): boolean {
    return share > 0 && !this.isOver && this.#random.next() < share;
  }
}
