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
/** CPU time of the process after which it is warm: of what it has run by then, what is hot has shown. */
const FRESH_CPU_MS = 600;
const FRESH_LOOK_MS = 250;

/**
 * From here on V8 optimizes later. For the time in which actors start: what is done a few hundred times there is optimized for what a
 * start does, beside the start and at its cost, and again for the requests that follow. Not before the threads have loaded their
 * code, Node's own and ours: V8 refuses what was compiled under another budget.
 */
export function optimizeLate(): void {
  setBudget(START_BUDGET);
}

/**
 * The start is over. Optimizing goes late on until the process has worked for some time: beside its first thousand requests it costs
 * twice what they cost, and takes the cores that they are answered on.
 */
export function optimizeAsUsualOnceWarm(): void {
  const freshFrom = process.cpuUsage();
  const look = setInterval(() => {
    const { user, system } = process.cpuUsage(freshFrom);
    if (user + system < FRESH_CPU_MS * 1000) return;
    clearInterval(look);
    setBudget(USUAL_BUDGET);
  }, FRESH_LOOK_MS);
  look.unref();
}

function setBudget(bytes: number): void {
  if (process.versions.v8.startsWith(KNOWN_V8)) setFlagsFromString(`--interrupt-budget=${bytes}`);
}

/** Sets them, at the start of the process. What V8 compiles is of use to a process that has the same. */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
  setBudget(USUAL_BUDGET);
}
