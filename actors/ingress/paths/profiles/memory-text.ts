// What is held now, as text: the memory of the process and of each thread by V8's spaces. A profile of the heap cannot say it of an
// idle server, for V8 samples nothing until it is asked to, and the text says so.
import type { ThreadMemory } from '../../../../runtime/profiles/thread-memory.ts';

const MIB = 1024 * 1024;
/** For who finds a profile of the heap empty. */
const WHY_EMPTY = [
  '# A profile of the heap shows what was allocated while it was taken and is still held: of an idle server, nothing.',
  '# For one of what a server comes to hold: /debug/pprof/heap?seconds=N (300 at most) while its memory grows.',
];

/** Lines for readers. `residentBytes`: of the process, with what the threads share. */
export function memoryText(threads: readonly ThreadMemory[], residentBytes: number): string {
  const lines = threads.flatMap(({ thread, used, size, limit, external, malloced, spaces }) => [
    `thread ${thread}: used=${mib(used)} size=${mib(size)} limit=${mib(limit)} external=${mib(external)} malloced=${mib(malloced)}`,
    ...spaces
      .filter((space) => space.size > 0)
      .map((space) => `  ${space.name}: used=${mib(space.used)} size=${mib(space.size)}`),
  ]);
  return `${[...WHY_EMPTY, `process: resident=${mib(residentBytes)}`, ...lines].join('\n')}\n`;
}

/** Whether a `debug` parameter asks for text; undefined: it is none that can be. */
export function asksForText(debug: string | undefined | null): boolean | undefined {
  if (debug === undefined || debug === null) return false;
  return ['0', '1', '2'].includes(debug) ? debug !== '0' : undefined;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(2)}MiB`;
}
