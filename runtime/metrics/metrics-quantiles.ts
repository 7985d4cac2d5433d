// Quantiles of what was observed lately, for summaries. Observations are counted in buckets that are each a little wider than the one
// before, so that those of several threads add up, and a quantile is right to within two parts in a hundred of its value. The time
// that counts is kept in a few ages: the oldest is forgotten whole. Has no clock: the time is given to it.

/** Which quantiles a summary tells, and of how long. */
export interface SummaryShape {
  readonly quantiles: readonly number[];
  readonly ageMs: number;
}

const AGES = 5;
const LEAST = 1e-7;
const FACTOR = 1.04;
const LOG_FACTOR = Math.log(FACTOR);
const BUCKETS = Math.ceil(Math.log(1e4 / LEAST) / LOG_FACTOR);

/** What was observed, by bucket; the last has whatever is above. */
export class RecentCounts {
  readonly #ageMs: number;
  /** By the number of the age, modulo how many there are; undefined: nothing was observed in it. */
  readonly #ages: (Uint32Array | undefined)[] = new Array(AGES);
  #age = 0;

  constructor({ ageMs }: SummaryShape) {
    this.#ageMs = ageMs / AGES;
  }

  observe(value: number, nowMs: number): void {
    this.turn(nowMs);
    const at = this.#age % AGES;
    this.#ages[at] ??= new Uint32Array(BUCKETS);
    this.#ages[at][bucketOf(value)]!++;
  }

  /** Forgets what is too old. */
  turn(nowMs: number): void {
    const age = Math.floor(nowMs / this.#ageMs);
    for (let over = Math.max(this.#age, age - AGES) + 1; over <= age; over++) this.#ages[over % AGES] = undefined;
    this.#age = Math.max(this.#age, age);
  }

  /** Of all ages together; empty where nothing was observed. */
  counts(): readonly number[] {
    const used = this.#ages.filter((age) => age !== undefined);
    return used.length === 0
      ? []
      : Array.from({ length: BUCKETS }, (_, at) => used.reduce((sum, of) => sum + of[at]!, 0));
  }
}

/** The value below which such a part of the observations are; NaN of none. */
export function quantileOf(part: number, counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return Number.NaN;
  const rank = Math.max(1, Math.ceil(part * total));
  let below = 0;
  let bucket = 0;
  while (bucket < counts.length && below + counts[bucket]! < rank) below += counts[bucket++]!;
  return bucket === 0 ? 0 : LEAST * FACTOR ** (bucket - 0.5);
}

function bucketOf(value: number): number {
  if (!(value > LEAST)) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(value / LEAST) / LOG_FACTOR));
}
