// How V8 is to run in this process. Set by the command, before there is any other thread; who embeds a part of the server
// decides for their own process.
import { setFlagsFromString } from 'node:v8';

const FLAGS = [
  // What survives a collection of young objects is little, the requests under way. Several threads that copy it together wake
  // each other and wait for each other: a write takes a tenth more CPU then.
  '--no-parallel-scavenge',
];

/** The V8 of Node 20. Others count otherwise; what they have of themselves is left as it is. */
const KNOWN_V8 = '11.3.';
/** How much of a function V8 runs (bytes of its code) between two looks at whether it is worth optimizing. */
const USUAL_BUDGET = 67_584;
const START_BUDGET = 400_000;

/**
 * From here on V8 optimizes later. For the time in which actors start: what is done a few hundred times there is optimized for what a
 * start does, beside the start and at its cost, and again for the requests that follow. Not before the threads have loaded their
 * code, Node's own and ours: V8 refuses what was compiled under another budget.
 */
export function optimizeLate(): void {
  setBudget(START_BUDGET);
}

/** From here on V8 optimizes when it does of itself. */
export function optimizeAsUsual(): void {
  setBudget(USUAL_BUDGET);
}

function setBudget(bytes: number): void {
  if (process.versions.v8.startsWith(KNOWN_V8)) setFlagsFromString(`--interrupt-budget=${bytes}`);
}

/** Sets them. Once, at the start of the process. */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
