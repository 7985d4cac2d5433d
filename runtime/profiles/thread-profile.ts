// What a profile of one thread is, as it travels to the thread that answers for it: call trees as tables of numbers, so that
// it crosses threads as plain data however deep it is. How it is taken is v8-profiler.ts; how it is shown, the ingress's.

/** A function and where it begins. */
export type ProfiledFunction = readonly [name: string, file: string, line: number];
/** A call: its caller's index among the nodes (-1: nobody's), its function's index, the line that is called from there. */
export type ProfiledCall = readonly [caller: number, callee: number, line: number];
/** What was seen at a call: how often, and how much of what the profile measures. */
export type ProfiledSample = readonly [call: number, count: number, amount: number];

export interface ThreadProfile {
  /** The thread's name in the placement. */
  readonly thread: string;
  readonly functions: readonly ProfiledFunction[];
  readonly calls: readonly ProfiledCall[];
  readonly samples: readonly ProfiledSample[];
}

/** `cpu` is in nanoseconds of work; `heap` in bytes that are still held at the end, `allocs` in all bytes allocated. */
export type ProfileKind = 'cpu' | 'heap' | 'allocs';

/** The samples of a thread in their order, as the JSON of V8's own CPU profile. */
export interface ThreadTrace {
  readonly thread: string;
  readonly profile: string;
}

/** Takes profiles of the thread that it is on. */
export interface Profiler {
  /**
   * Resolves after `durationMs`. Of `heap`, 0 means at once, and all that is held since the heap is followed. Rejects with `Refused`
   * while another profile is being taken.
   */
  take(kind: ProfileKind, durationMs: number): Promise<ThreadProfile>;
  /** Resolves after `durationMs`. Rejects as `take` does. */
  trace(durationMs: number): Promise<ThreadTrace>;
  /** What is being taken is as long as it is by now: nobody waits for it any more. */
  end(): void;
  /** Collects the garbage of the thread, which stands still meanwhile: 0.1 s for 40 MB, seconds for gigabytes. */
  collect(): Promise<void>;
}

/** Collects the calls of one profile, each function once. */
export class ProfileTables {
  readonly functions: ProfiledFunction[] = [];
  readonly calls: ProfiledCall[] = [];
  readonly samples: ProfiledSample[] = [];
  readonly #known = new Map<string, number>();

  /** Adds a call; answers its index. */
  call(caller: number, name: string, file: string, functionLine: number, line: number): number {
    const key = `${name}\n${file}\n${functionLine}`;
    let callee = this.#known.get(key);
    if (callee === undefined) {
      callee = this.functions.push([name, file, functionLine]) - 1;
      this.#known.set(key, callee);
    }
    return this.calls.push([caller, callee, line]) - 1;
  }

  /** Notes what was seen at a call. */
  sample(call: number, count: number, amount: number): void {
    this.samples.push([call, count, amount]);
  }

  of(thread: string): ThreadProfile {
    const { functions, calls, samples } = this;
    return { thread, functions, calls, samples };
  }
}
