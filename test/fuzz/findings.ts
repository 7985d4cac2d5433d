// What a run has found: an input, and what went wrong with it. Checks one input, and cuts a bad one down to what matters.
import { type Input, NO_BYTES, shownInput } from './input.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { Target } from './target.ts';

export type FindingKind = 'error' | 'prototype' | 'slow' | 'hang' | 'crash' | 'memory';

/** Plain data: it crosses threads. */
export interface Finding {
  readonly target: string;
  readonly seed: number;
  /** The number of the input in its target. */
  readonly index: number;
  readonly kind: FindingKind;
  readonly detail: string;
  readonly input: Input;
}

/** Longer than this is looked at again. */
export const SLOW_MS = 50;
/** Longer than this, each time it is tried, is a finding; larger inputs may take longer in proportion. */
const TOO_SLOW_MS = 250;
const TOO_SLOW_PER_BYTE_MS = 250 / (256 * 1024);
const SLOW_TRIES = 6;

function sizeOf({ text, body }: Input): number {
  return Object.values(text).reduce((size, value) => size + value.length, body.length);
}

/** The error an input ends in, as text; undefined for a good one. */
export async function failureOf(target: Target, input: Input): Promise<string | undefined> {
  try {
    await target.run(input);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** Whether an input takes too long every time. Other work on the machine is not its fault. */
export async function slowness(target: Target, input: Input, stopwatch: Stopwatch): Promise<string | undefined> {
  const limitMs = TOO_SLOW_MS + sizeOf(input) * TOO_SLOW_PER_BYTE_MS * (target.passes ?? 1);
  let leastMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < SLOW_TRIES && leastMs > limitMs; tries++) {
    const before = stopwatch.slowness();
    const tookMs = await stopwatch.time(() => failureOf(target, input));
    leastMs = Math.min(leastMs, tookMs / Math.max(before, stopwatch.slowness()));
  }
  return leastMs > limitMs ? `${Math.round(leastMs)} ms for ${sizeOf(input)} bytes` : undefined;
}

const PROTOTYPES: readonly object[] = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  Map.prototype,
  Set.prototype,
  Promise.prototype,
  Buffer.prototype,
];

/** What the prototypes look like now. */
export function prototypesText(): string {
  return PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).map(String).join()).join('\n');
}

/** True while objects have no members that nobody gave them. */
export function arePlain(): boolean {
  for (const _ in {}) return false;
  return true;
}

const MINIMISE_TRIES_MAX = 3000;
const MINIMISE_MS = 5000;

/** A smaller input for which `isBad` still holds: chunks are taken out of the body and of each text. */
export async function minimised(
  input: Input,
  fixed: readonly string[],
  isBad: (input: Input) => Promise<boolean>,
): Promise<Input> {
  let smallest = input;
  let tries = 0;
  const giveUpAtMs = performance.now() + MINIMISE_MS;
  const isSpent = (): boolean => tries++ > MINIMISE_TRIES_MAX || performance.now() > giveUpAtMs;
  const lengths = (): readonly [string | undefined, number][] => [
    ...(fixed.includes('body') ? [] : [[undefined, smallest.body.length] as [undefined, number]]),
    ...Object.entries(smallest.text)
      .filter(([name]) => !fixed.includes(name))
      .map(([name, value]): [string, number] => [name, value.length]),
  ];
  for (const [part, length] of lengths()) {
    for (let chunk = Math.ceil(length / 2); chunk >= 1; chunk = chunk === 1 ? 0 : Math.ceil(chunk / 2)) {
      for (let at = 0; at < partLength(smallest, part); ) {
        if (isSpent()) return smallest;
        const candidate = without(smallest, part, at, chunk);
        if (await isBad(candidate)) smallest = candidate;
        else at += chunk;
      }
    }
  }
  return smallest;
}

function partLength({ text, body }: Input, part: string | undefined): number {
  return part === undefined ? body.length : (text[part]?.length ?? 0);
}

function without(input: Input, part: string | undefined, at: number, length: number): Input {
  if (part === undefined) {
    const body = Buffer.concat([input.body.subarray(0, at), input.body.subarray(at + length)]);
    return { text: input.text, body: body.length === 0 ? NO_BYTES : body };
  }
  const value = input.text[part] ?? '';
  return { text: { ...input.text, [part]: value.slice(0, at) + value.slice(at + length) }, body: input.body };
}

/** Several lines for people. */
export function findingText({ target, seed, index, kind, detail, input }: Finding): string {
  return `${kind} in ${target}, seed ${seed}, input ${index}\n  ${detail.split('\n').slice(0, 30).join('\n  ')}\n  ${shownInput(input)}`;
}
