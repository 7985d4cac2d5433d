// Runs inputs one after the other on this thread and watches what they do to it: errors, time, prototypes, memory. The
// caller hears of every finding; hangs it must notice itself, by the counters.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { writeExactIntegers } from '../../runtime/exact-integers.ts';
import {
  arePlain,
  type Finding,
  type FindingKind,
  failureOf,
  minimised,
  prototypesText,
  SLOW_MS,
  slowness,
} from './findings.ts';
import { diceOf } from './generate/dice.ts';
import { type Input, NO_BYTES } from './input.ts';
import { REAL_STOPWATCH, type Stopwatch } from './stopwatch.ts';
import type { Target } from './target.ts';

writeExactIntegers();

/** Inputs of one target in a row. */
export const BATCH_INPUTS = 250;
/** Of one target: what is wrong once is wrong a thousand times. */
const FINDINGS_MAX = 10;

export interface Slice {
  readonly seed: number;
  /** Inputs of all slices together. */
  readonly inputs: number;
  /** This slice takes every `of`-th batch, from the `slice`-th. */
  readonly slice: number;
  readonly of: number;
}

/** What another thread may look at while a slice runs. */
export interface Progress {
  /** An input begins: its target's place in the list, and its number. */
  readonly begin: (targetAt: number, index: number) => void;
  readonly done: (inputs: number) => void;
}

export interface SliceResult {
  readonly inputs: number;
  readonly findings: readonly Finding[];
  /** Inputs that took longer than SLOW_MS the first time. */
  readonly slow: number;
  /** Megabytes in use after collection, at ten points of the run. */
  readonly heapMb: readonly number[];
  readonly milliseconds: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
}

/** Which target each batch is of: the one that is furthest behind its weight. */
export function* schedule(targets: readonly Target[], inputs: number): Generator<readonly [at: number, from: number]> {
  const done = targets.map(() => 0);
  for (let batch = 0; batch < Math.ceil(inputs / BATCH_INPUTS); batch++) {
    let next = 0;
    for (let at = 1; at < targets.length; at++) {
      if (done[at]! / targets[at]!.weight < done[next]! / targets[next]!.weight) next = at;
    }
    yield [next, done[next]! * BATCH_INPUTS];
    done[next]!++;
  }
}

class SliceRun {
  readonly #targets: readonly Target[];
  readonly #seed: number;
  readonly #progress: Progress;
  readonly #stopwatch: Stopwatch;
  readonly #known = new Map<string, number>();
  readonly findings: Finding[] = [];
  readonly milliseconds: Record<string, number> = {};
  readonly counts: Record<string, number> = {};
  inputs = 0;
  slow = 0;

  constructor(targets: readonly Target[], seed: number, progress: Progress, stopwatch: Stopwatch) {
    this.#targets = targets;
    this.#seed = seed;
    this.#progress = progress;
    this.#stopwatch = stopwatch;
  }

  async batch(targetAt: number, first: number, count: number): Promise<void> {
    const target = this.#targets[targetAt]!;
    const before = prototypesText();
    const batchFrom = performance.now();
    if (target.concurrency === undefined) {
      for (let index = first; index < first + count; index++) await this.#one(target, targetAt, index);
    } else await this.#several(target, target.concurrency, first, count);
    if (prototypesText() !== before) {
      const input = target.generate(diceOf(this.#seed, target.name, first));
      await this.#found(target, first, 'prototype', `a prototype changed within ${count} inputs from here`, input);
    }
    this.inputs += count;
    this.counts[target.name] = (this.counts[target.name] ?? 0) + count;
    this.milliseconds[target.name] = (this.milliseconds[target.name] ?? 0) + performance.now() - batchFrom;
    this.#progress.done(count);
  }

  async #one(target: Target, targetAt: number, index: number): Promise<void> {
    this.#progress.begin(targetAt, index);
    const input = target.generate(diceOf(this.#seed, target.name, index));
    const from = performance.now();
    try {
      const running = target.run(input);
      if (running !== undefined) await running;
    } catch (error) {
      await this.#found(target, index, 'error', errorText(error), input);
    }
    if (performance.now() - from > SLOW_MS) await this.#lookAgain(target, index, input);
    if (!arePlain()) await this.#found(target, index, 'prototype', 'objects have members nobody gave them', input);
  }

  async #several(target: Target, concurrency: number, first: number, count: number): Promise<void> {
    let next = first;
    const failed: (readonly [index: number, input: Input, detail: string])[] = [];
    const lane = async (): Promise<void> => {
      while (next < first + count) {
        const index = next++;
        const input = target.generate(diceOf(this.#seed, target.name, index));
        const detail = await failureOf(target, input);
        if (detail !== undefined) failed.push([index, input, detail]);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    for (const [index, input, detail] of failed) await this.#found(target, index, 'error', detail, input);
    try {
      await target.check?.();
    } catch (error) {
      const note = { text: { note: `one of the ${count} inputs from here` }, body: NO_BYTES };
      await this.#found(target, first, 'crash', errorText(error), note);
    }
  }

  async #lookAgain(target: Target, index: number, input: Input): Promise<void> {
    this.slow++;
    const detail = await slowness(target, input, this.#stopwatch);
    if (detail !== undefined) await this.#found(target, index, 'slow', detail, input);
  }

  async #found(target: Target, index: number, kind: FindingKind, detail: string, input: Input): Promise<void> {
    const signature = `${target.name} ${kind} ${placeOf(detail)}`;
    const times = (this.#known.get(signature) ?? 0) + 1;
    this.#known.set(signature, times);
    if (times > 1 || this.findings.length >= FINDINGS_MAX * this.#targets.length) return;
    const isSame = async (candidate: Input): Promise<boolean> => {
      const failure = await failureOf(target, candidate);
      return failure !== undefined && placeOf(failure) === placeOf(detail);
    };
    const smallest = kind === 'error' ? await minimised(input, target.fixed ?? [], isSame) : input;
    const shown = kind === 'error' ? ((await failureOf(target, smallest)) ?? detail) : detail;
    this.findings.push({ target: target.name, seed: this.#seed, index, kind, detail: shown, input: smallest });
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** What failures of one cause have in common: the first words, and the places of the stack that the error came through. */
function placeOf(failure: string): string {
  const words = failure
    .slice(0, failure.indexOf('\n'))
    .replace(/[0-9]+|"[^"]*"?|[[{].*/g, '')
    .slice(0, 60);
  return `${words} ${[...failure.matchAll(/\n\s+at .*/g)].slice(0, 2).join('')}`;
}

/** Runs the slice's inputs. The targets must have been started. */
export async function runSlice(
  targets: readonly Target[],
  slice: Slice,
  progress: Progress,
  stopwatch = REAL_STOPWATCH,
): Promise<SliceResult> {
  const run = new SliceRun(targets, slice.seed, progress, stopwatch);
  const heapMb: number[] = [];
  const batches = Math.ceil(slice.inputs / BATCH_INPUTS);
  let batch = 0;
  for (const [targetAt, first] of schedule(targets, slice.inputs)) {
    const left = slice.inputs - batch * BATCH_INPUTS;
    if (batch % slice.of === slice.slice) await run.batch(targetAt, first, Math.min(BATCH_INPUTS, left));
    batch++;
    if (batch % Math.ceil(batches / 10) === 0) {
      heapMb.push(heapAfterCollection());
      // Timers and the store's own work have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const { findings, inputs, slow, milliseconds, counts } = run;
  return { findings, inputs, slow, heapMb, milliseconds, counts };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapAfterCollection(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return Math.round((heapUsed + external) / 2 ** 20);
}
