// Where nothing is late, nobody waits: a read has its answer as soon as its hub has heard of what it is to show, and a watch begins with
// it. A wait that ends only when something else happens ends in every run, and shows by how long it took. Pure.
import { type FaultPlan, NO_FAULTS } from './faults.ts';
import type { History } from './history.ts';

/** Reads without faults take 6 ms at most; what has to wait for the next change waits for some client's next step. */
const READ_MS_MAX = 50;

/** Whether anything may be late in a run. */
export function isPunctual(plan: FaultPlan): boolean {
  return (Object.keys(NO_FAULTS) as (keyof FaultPlan)[]).every((fault) => plan[fault] === NO_FAULTS[fault]);
}

/** What took too long, one line each. `msAt`: when a moment of the run was, by a clock that nobody sets. */
export function checkTimes({ operations }: History, msAt: (moment: number) => number): readonly string[] {
  const problems: string[] = [];
  for (const { kind, client, invoked, returned } of operations) {
    if (kind !== 'get' && kind !== 'list') continue;
    const tookMs = msAt(returned) - msAt(invoked);
    if (tookMs > READ_MS_MAX) problems.push(`client ${client}, ${kind} @${invoked}: it took ${Math.round(tookMs)} ms`);
  }
  return problems;
}
