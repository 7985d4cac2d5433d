// How long an input takes, in what this machine does in a millisecond: a machine that is slow, or busy with others, is no
// fault of an input.

export interface Stopwatch {
  /** Milliseconds that `work` takes: by the clock or by the processor, whichever says less. */
  readonly time: (work: () => Promise<unknown>) => Promise<number>;
  /** How many times longer a fixed piece of work takes now than on an idle machine of the middling kind; at least 1. */
  readonly slowness: () => number;
}

const PIECES = 5_000;
/** What the pieces take, compiled, on a machine of the middling kind. */
const PIECES_MS = 5;

export const REAL_STOPWATCH: Stopwatch = {
  async time(work) {
    const from = performance.now();
    const processorFrom = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(processorFrom);
    return Math.min(performance.now() - from, (user + system) / 1000);
  },
  slowness() {
    const from = performance.now();
    for (let piece = 0; piece < PIECES; piece++) JSON.parse(`{"a":["${piece}",{"b":${piece}}]}`);
    return Math.max(1, (performance.now() - from) / PIECES_MS);
  },
};
