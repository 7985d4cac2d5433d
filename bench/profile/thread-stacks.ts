// What a profile says of each thread that requests pass through. Pure.
import type { StackTime } from './flame-graph.ts';

/** The threads that requests pass through, and those that follow what they write. Others wait. */
const THREADS = ['front', 'read', 'write', 'store', 'control', 'all'];

export interface ThreadStacks {
  readonly thread: string;
  readonly stacks: readonly StackTime[];
}

interface Sample {
  readonly stack: readonly string[];
  readonly values: readonly number[];
  readonly thread: string | undefined;
}

/** The samples of threads that matter, by thread; their time is the last of their values, in nanoseconds. */
export function byThread(samples: readonly Sample[]): readonly ThreadStacks[] {
  const threads = new Map<string, StackTime[]>();
  for (const { stack, values, thread = '' } of samples) {
    if (!THREADS.some((name) => thread === name || thread.startsWith(`${name}-`) || thread.startsWith(`${name}/`)))
      continue;
    const stacks = threads.get(thread) ?? [];
    threads.set(thread, stacks);
    stacks.push({ stack, time: values.at(-1) ?? 0 });
  }
  return [...threads].map(([thread, stacks]) => ({ thread, stacks }));
}
