// What explains most differences between machines: how long memory beyond the caches' reach takes to answer, how long a thread
// that sleeps takes to wake, and what memory costs that nobody has used before. Measured in this process, for a second in all.
import { Worker } from 'node:worker_threads';

export interface Machine {
  /** A read from 4 MB at random places, each known only from the one before. */
  readonly memoryLatencyNs: number;
  /** From waking a thread that waits to its answer, there and back: the median. */
  readonly wakeUpMicroseconds: number;
  /** The first write to a page of memory: some tenths of a microsecond of the kernel's, and ten and more where a host is asked for it. */
  readonly firstTouchMicroseconds: number;
}

const BYTES = 4 * 1024 * 1024;
/** What the kernel gives at a time. */
const PAGE_BYTES = 4096;
const READS = 2_000_000;
const ROUND_TRIPS = 2_000;
const WAIT_MS = 5_000;

/** Takes a second. */
export async function measureMachine(): Promise<Machine> {
  return {
    memoryLatencyNs: memoryLatency(),
    wakeUpMicroseconds: await wakeUp(),
    firstTouchMicroseconds: firstTouch(),
  };
}

/** Of memory that is none of V8's, so that it was nobody's before. */
function firstTouch(): number {
  const bytes = new Uint8Array(new SharedArrayBuffer(BYTES));
  const startedMs = performance.now();
  for (let at = 0; at < BYTES; at += PAGE_BYTES) bytes[at] = 1;
  return ((performance.now() - startedMs) * 1000) / (BYTES / PAGE_BYTES);
}

/** A cycle through all places, in an order that no prefetcher guesses. */
function memoryLatency(): number {
  const places = new Uint32Array(BYTES / Uint32Array.BYTES_PER_ELEMENT);
  const order = places.map((_, index) => index);
  // Sattolo's: one cycle. The generator needs no quality, only that neighbours part.
  let state = 1;
  for (let index = order.length - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = state % index;
    const kept = order[index]!;
    order[index] = order[other]!;
    order[other] = kept;
  }
  for (let index = 0; index < order.length; index += 1) places[order[index]!] = order[(index + 1) % order.length]!;
  let at = 0;
  const run = (reads: number): void => {
    for (let read = 0; read < reads; read += 1) at = places[at]!;
  };
  run(READS / 4);
  const startedMs = performance.now();
  run(READS);
  const elapsedMs = performance.now() - startedMs;
  // The place is used, so that the reads are not left out.
  return ((elapsedMs + (at < 0 ? 1 : 0)) * 1e6) / READS;
}

const ECHO = `
const { workerData } = require('node:worker_threads');
const words = new Int32Array(workerData);
for (let turn = 0; ; turn += 1) {
  if (Atomics.wait(words, 0, turn, ${WAIT_MS}) === 'timed-out') break;
  if (Atomics.load(words, 0) < 0) break;
  Atomics.store(words, 1, turn + 1);
  Atomics.notify(words, 1);
}`;

async function wakeUp(): Promise<number> {
  const words = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(ECHO, { eval: true, workerData: words.buffer });
  await new Promise((resolve) => worker.once('online', resolve));
  const times: number[] = [];
  for (let turn = 0; turn < ROUND_TRIPS; turn += 1) {
    const startedMs = performance.now();
    Atomics.store(words, 0, turn + 1);
    Atomics.notify(words, 0);
    if (Atomics.load(words, 1) !== turn + 1) Atomics.wait(words, 1, turn, WAIT_MS);
    times.push(performance.now() - startedMs);
  }
  Atomics.store(words, 0, -1);
  Atomics.notify(words, 0);
  await worker.terminate();
  return times.sort((left, right) => left - right)[ROUND_TRIPS >>> 1]! * 1000;
}
