// What is held now, as text: the memory of the process and of each thread by V8's spaces, which counts what no profile of the heap
// sees: what lies outside it, and what is too little to be sampled.
import type { ThreadMemory } from '../../../../runtime/profiles/thread-memory.ts';

const MIB = 1024 * 1024;
/** For who wants to know more. */
const WHERE_TO_LOOK = [
  '# Who allocated what is used: /debug/pprof/heap, for `go tool pprof`. What is external is not in it.',
  '# Used is with garbage that no collection has found yet; /debug/pprof/heap?gc=1 collects it first.',
];

/** Lines for readers. `residentBytes`: of the process, with what the threads share. */
export function memoryText(threads: readonly ThreadMemory[], residentBytes: number): string {
  const lines = threads.flatMap(({ thread, used, size, limit, external, malloced, spaces }) => [
    `thread ${thread}: used=${mib(used)} size=${mib(size)} limit=${mib(limit)} external=${mib(external)} malloced=${mib(malloced)}`,
    ...spaces
      .filter((space) => space.size > 0)
      .map((space) => `  ${space.name}: used=${mib(space.used)} size=${mib(space.size)}`),
  ]);
  return `${[...WHERE_TO_LOOK, `process: resident=${mib(residentBytes)}`, ...lines].join('\n')}\n`;
}

/** Whether a `debug` parameter asks for text; undefined: it is none that can be. */
export function asksForText(debug: string | undefined | null): boolean | undefined {
  if (debug === undefined || debug === null) return false;
  return ['0', '1', '2'].includes(debug) ? debug !== '0' : undefined;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(2)}MiB`;
}
