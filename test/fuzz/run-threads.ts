// Runs slices of a run on threads of their own, and watches them from here: a thread that stands at one input is ended, one
// that dies of an input is found dead, and memory that grows is noticed.
import { Worker } from 'node:worker_threads';
import { runSlice, type SliceResult } from './engine.ts';
import type { Finding, FindingKind } from './findings.ts';
import { diceOf } from './generate/dice.ts';
import { type Input, NO_BYTES } from './input.ts';
import type { Target } from './target.ts';
import { targetNamed } from './targets.ts';
import type { WorkerTask } from './worker.ts';

export interface RunOptions {
  readonly targets: readonly string[];
  readonly seed: number;
  readonly inputs: number;
  /** Threads. */
  readonly jobs: number;
  readonly progress?: (inputs: number) => void;
}

export interface RunResult {
  readonly inputs: number;
  readonly findings: readonly Finding[];
  readonly slow: number;
  /** By job. */
  readonly heapMb: readonly (readonly number[])[];
  /** Of all jobs together, by target. */
  readonly milliseconds: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
}

/** In place of an input's number: a thread has not come to its first, before which it reads all the code there is. */
const NOT_BEGUN = -1;
/** A thread that stands at one input for so long hangs. The machine may be busy with other things. */
const HANG_MS = 120_000;
const CHECK_MS = 500;
const HEAP_MB_MAX = 1024;
/** From the third tenth of a run on, the heap may grow by this. */
const GROWTH_MB_MAX = 48;
const SETTLED_AT = 3;

/** Runs the inputs. The threads are gone when it resolves. */
export async function runThreads(options: RunOptions): Promise<RunResult> {
  const results = await Promise.all(
    Array.from({ length: options.jobs }, (_, slice) => new Job(options, slice).result()),
  );
  const milliseconds: Record<string, number> = {};
  const counts: Record<string, number> = {};
  for (const result of results) {
    for (const [name, value] of Object.entries(result.milliseconds))
      milliseconds[name] = (milliseconds[name] ?? 0) + value;
    for (const [name, value] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + value;
  }
  return {
    inputs: results.reduce((sum, { inputs }) => sum + inputs, 0),
    findings: results.flatMap(({ findings }) => findings),
    slow: results.reduce((sum, { slow }) => sum + slow, 0),
    heapMb: results.map(({ heapMb }) => heapMb),
    milliseconds,
    counts,
  };
}

/** Runs inputs that another process has to stand: on this thread, several at a time. */
export async function runSockets(
  target: Target,
  seed: number,
  inputs: number,
  progress: (inputs: number) => void = () => {},
): Promise<SliceResult> {
  await target.start?.();
  try {
    return await runSlice([target], { seed, inputs, slice: 0, of: 1 }, { begin() {}, done: progress });
  } finally {
    await target.stop?.();
  }
}

class Job {
  readonly #options: RunOptions;
  readonly #worker: Worker;
  readonly #counters: Float64Array;
  #reported = 0;
  #at = '';
  #sinceMs = performance.now();

  constructor(options: RunOptions, slice: number) {
    this.#options = options;
    const shared = new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT);
    this.#counters = new Float64Array(shared);
    this.#counters[1] = NOT_BEGUN;
    const { targets, seed, inputs, jobs } = options;
    const task: WorkerTask = { targets, seed, inputs, slice, of: jobs, shared };
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
  }

  async result(): Promise<SliceResult> {
    const ended = new Promise<SliceResult>((resolve) => {
      this.#worker.once('message', (result: SliceResult) => resolve(this.#checked(result)));
      this.#worker.once('error', (error: Error) => resolve(this.#cutOff('crash', error.stack ?? error.message)));
      this.#worker.once('exit', (code) => resolve(this.#cutOff('crash', `the thread ended with code ${code}`)));
    });
    let watch: NodeJS.Timeout | undefined;
    const hung = new Promise<SliceResult>((resolve) => {
      watch = setInterval(() => {
        this.#report();
        if (this.#hangs()) resolve(this.#cutOff('hang', `no end after ${HANG_MS} ms`));
      }, CHECK_MS);
    });
    const result = await Promise.race([ended, hung]);
    clearInterval(watch);
    this.#report();
    await this.#worker.terminate();
    return result;
  }

  #report(): void {
    const done = this.#counters[2]!;
    this.#options.progress?.(done - this.#reported);
    this.#reported = done;
  }

  #hangs(): boolean {
    const at = this.#counters.join();
    if (at !== this.#at) {
      this.#at = at;
      this.#sinceMs = performance.now();
    }
    return this.#counters[1] !== NOT_BEGUN && performance.now() - this.#sinceMs > HANG_MS;
  }

  /** The result of a thread that did not get to its end: it stood at an input, which can be made again. */
  #cutOff(kind: FindingKind, detail: string): SliceResult {
    const [targetAt = 0, at = 0, inputs = 0] = this.#counters;
    const index = Math.max(0, at);
    const target = this.#options.targets[targetAt]!;
    const finding = { target, seed: this.#options.seed, index, kind, detail, input: this.#inputAt(target, index) };
    return { inputs, findings: [finding], slow: 0, heapMb: [], milliseconds: {}, counts: {} };
  }

  #inputAt(target: string, index: number): Input {
    try {
      return targetNamed(target).generate(diceOf(this.#options.seed, target, index));
    } catch {
      // Some targets make inputs of what they have started.
      return { text: { note: 'made again by the same seed, target and number' }, body: NO_BYTES };
    }
  }

  #checked(result: SliceResult): SliceResult {
    const { heapMb } = result;
    const settled = heapMb[SETTLED_AT];
    const last = heapMb.at(-1);
    if (settled === undefined || last === undefined || last - settled <= GROWTH_MB_MAX) return result;
    const detail = `the heap grows: ${heapMb.join(' ')} MB`;
    const input = { text: {}, body: NO_BYTES };
    const finding: Finding = {
      target: this.#options.targets.join(),
      seed: this.#options.seed,
      index: 0,
      kind: 'memory',
      detail,
      input,
    };
    return { ...result, findings: [...result.findings, finding] };
  }
}
