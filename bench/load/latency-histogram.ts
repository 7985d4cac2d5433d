// Latencies in a fixed amount of memory: buckets that grow with the value, so that a percentile is known to within 1.6 %
// however many values there were. Recording allocates nothing.
import type { LatencyBuckets, LatencySummary } from '../load-protocol.ts';

/** Buckets in each doubling. */
const STEPS = 64;
const STEP_BITS = 6;
/** From 1 µs to 2^31 µs, about 36 minutes. */
const DOUBLINGS = 32;

export class LatencyHistogram {
  readonly #counts = new Float64Array(STEPS * DOUBLINGS);
  #count = 0;
  #maxMs = 0;

  get count(): number {
    return this.#count;
  }

  /** Times below 0 count as 0. */
  record(ms: number): void {
    this.#count += 1;
    if (ms > this.#maxMs) this.#maxMs = ms;
    const bucket = bucketOf(ms * 1000);
    this.#counts[bucket] = this.#counts[bucket]! + 1;
  }

  /** Forgets everything, at the end of a warm-up. */
  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.#maxMs = 0;
  }

  /** The time that `share` of the values (0 to 1) did not exceed; 0 when there are none. */
  percentileMs(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#count));
    for (let bucket = 0; bucket < this.#counts.length; bucket += 1) {
      left -= this.#counts[bucket]!;
      if (left <= 0) return Math.min(upperEdgeUs(bucket) / 1000, this.#maxMs);
    }
    return 0;
  }

  /** The distribution in doublings, from the first that has values to the last. */
  buckets(): LatencyBuckets {
    const rows: [number, number][] = [];
    for (let doubling = 0; doubling < DOUBLINGS; doubling += 1) {
      let count = 0;
      for (let step = 0; step < STEPS; step += 1) count += this.#counts[doubling * STEPS + step]!;
      rows.push([upperEdgeUs(doubling * STEPS + STEPS - 1) / 1000, count]);
    }
    const filled = rows.map(([, count]) => count > 0);
    const first = filled.indexOf(true);
    return first < 0 ? [] : rows.slice(first, filled.lastIndexOf(true) + 1);
  }

  summary(): LatencySummary {
    return { p50Ms: this.percentileMs(0.5), p99Ms: this.percentileMs(0.99), maxMs: this.#maxMs };
  }
}

/** Below STEPS µs a bucket is 1 µs wide; then each doubling has STEPS buckets. */
function bucketOf(us: number): number {
  const whole = us < 0 ? 0 : us >= 0x7fffffff ? 0x7fffffff : Math.trunc(us);
  if (whole < STEPS) return whole;
  const doubling = 31 - Math.clz32(whole) - STEP_BITS + 1;
  return doubling * STEPS + (whole >>> (doubling - 1)) - STEPS;
}

function upperEdgeUs(bucket: number): number {
  const doubling = Math.floor(bucket / STEPS);
  if (doubling === 0) return bucket + 1;
  return (bucket - doubling * STEPS + STEPS + 1) * 2 ** (doubling - 1);
}
