// Writes profiles in the format that pprof reads (its profile.proto, gzipped by whoever sends it): the call trees of several
// threads become one profile in which every sample carries its thread as a label. Knows nothing of how they were taken.
import { BackwardWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../api/codec/wire.ts';
import type { ThreadProfile } from '../runtime/profiles/thread-profile.ts';

/** What one of a sample's two numbers is. */
export type ProfileValue = readonly [type: string, unit: string];

export interface ProfileFacts {
  /** What a sample's count and amount are. Without an amount, samples have the count only. */
  readonly count: ProfileValue;
  readonly amount?: ProfileValue;
  /** What was sampled once in `period`. */
  readonly periodType: ProfileValue;
  readonly period: number;
  readonly startedWallMs: number;
  readonly durationMs: number;
}

/** The field numbers of profile.proto's messages. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  location: 4,
  function: 5,
  text: 6,
  timeNanos: 9,
  durationNanos: 10,
  periodType: 11,
  period: 12,
};
const VALUE = { type: 1, unit: 2 };
const SAMPLE = { location: 1, value: 2, label: 3 };
const LABEL = { key: 1, text: 2 };
const LOCATION = { id: 1, line: 4 };
const LINE = { function: 1, line: 2 };
const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4, startLine: 5 };

const NANOS_PER_MS = 1_000_000n;

/** The bytes of one profile of all the threads given. */
export function encodePprof(threads: readonly ThreadProfile[], facts: ProfileFacts): Buffer {
  return new PprofWriter().write(threads, facts);
}

class PprofWriter {
  readonly #writer = new BackwardWriter();
  /** The first text is the empty one, by the format. */
  readonly #texts: string[] = [''];
  readonly #textIndex = new Map<string, number>([['', 0]]);

  write(threads: readonly ThreadProfile[], facts: ProfileFacts): Buffer {
    const { count, amount, periodType, period, startedWallMs, durationMs } = facts;
    this.#int64(PROFILE.timeNanos, BigInt(Math.round(startedWallMs)) * NANOS_PER_MS);
    this.#int64(PROFILE.durationNanos, BigInt(Math.round(durationMs)) * NANOS_PER_MS);
    this.#number(PROFILE.period, period);
    this.#value(PROFILE.periodType, periodType);
    // Backwards: what is written last is read first, and the types of a sample's values have an order.
    if (amount !== undefined) this.#value(PROFILE.sampleType, amount);
    this.#value(PROFILE.sampleType, count);
    let functionsBefore = 0;
    let callsBefore = 0;
    for (const thread of threads) {
      this.#thread(thread, functionsBefore, callsBefore, amount !== undefined);
      functionsBefore += thread.functions.length;
      callsBefore += thread.calls.length;
    }
    for (const text of this.#texts.toReversed()) this.#text(PROFILE.text, text);
    return this.#writer.take();
  }

  #thread(
    { thread, functions, calls, samples }: ThreadProfile,
    functionsBefore: number,
    callsBefore: number,
    hasAmount: boolean,
  ): void {
    for (const [index, [name, file, line]] of functions.entries()) {
      this.#message(PROFILE.function, () => {
        this.#number(FUNCTION.startLine, line);
        this.#number(FUNCTION.file, this.#indexOf(file));
        this.#number(FUNCTION.systemName, this.#indexOf(name));
        this.#number(FUNCTION.name, this.#indexOf(name));
        this.#number(FUNCTION.id, functionsBefore + index + 1);
      });
    }
    for (const [index, [, callee, line]] of calls.entries()) {
      this.#message(PROFILE.location, () => {
        this.#message(LOCATION.line, () => {
          this.#number(LINE.line, line);
          this.#number(LINE.function, functionsBefore + callee + 1);
        });
        this.#number(LOCATION.id, callsBefore + index + 1);
      });
    }
    for (const [call, count, amount] of samples) {
      this.#message(PROFILE.sample, () => {
        this.#message(SAMPLE.label, () => {
          this.#number(LABEL.text, this.#indexOf(thread));
          this.#number(LABEL.key, this.#indexOf('thread'));
        });
        if (hasAmount) this.#number(SAMPLE.value, amount);
        this.#number(SAMPLE.value, count);
        const stack: number[] = [];
        for (let at = call; at !== -1; at = calls[at]![0]) stack.push(callsBefore + at + 1);
        // The leaf comes first where it is read.
        for (const location of stack.toReversed()) this.#number(SAMPLE.location, location);
      });
    }
  }

  #value(field: number, [type, unit]: ProfileValue): void {
    this.#message(field, () => {
      this.#number(VALUE.unit, this.#indexOf(unit));
      this.#number(VALUE.type, this.#indexOf(type));
    });
  }

  #indexOf(text: string): number {
    let index = this.#textIndex.get(text);
    if (index === undefined) {
      index = this.#texts.push(text) - 1;
      this.#textIndex.set(text, index);
    }
    return index;
  }

  #message(field: number, write: () => void): void {
    const from = this.#writer.size;
    write();
    this.#writer.lengthSince(from, tagOf(field, WIRE_BYTES));
  }

  #number(field: number, value: number): void {
    this.#writer.varint(value);
    this.#writer.varint(tagOf(field, WIRE_VARINT));
  }

  #int64(field: number, value: bigint): void {
    this.#writer.int64(value);
    this.#writer.varint(tagOf(field, WIRE_VARINT));
  }

  #text(field: number, text: string): void {
    const from = this.#writer.size;
    this.#writer.text(text);
    this.#writer.lengthSince(from, tagOf(field, WIRE_BYTES));
  }
}
