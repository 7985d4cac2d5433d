// What came of a run's operations, counted by kind: that a run proves something is shown by what succeeded in it, not by how much
// was asked.
import type { History, Operation } from './history.ts';

/** How often each kind of operation came to each end: `create ok`, `get absent`, `watch expired`, `create (dry run) refused`. */
export type Outcomes = Map<string, number>;

function endOf(operation: Operation): string {
  const { outcome } = operation;
  if (typeof outcome === 'string') return outcome;
  return 'is' in outcome ? outcome.is : 'ok';
}

/** Adds a run's operations, watches and applies to the counts. */
export function countOutcomes(counts: Outcomes, { operations, watches, assertions }: History): void {
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const operation of operations) {
    const isDry = 'dry' in operation && operation.dry;
    count(`${operation.kind}${isDry ? ' (dry run)' : ''} ${endOf(operation)}`);
  }
  for (const { end, events } of watches) {
    count(`watch ${end}`);
    if (events.length > 0) count('watch with events');
  }
  for (const { kind, outcome } of assertions) count(`${kind} of fields ${outcome.is}`);
}

/** The counts of these names together. */
export function sumOf(counts: Outcomes, ...names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
}
