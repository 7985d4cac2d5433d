// Of several servers one leads at a time: whoever says that it does holds the lease at that moment, and nobody takes a lease before it has
// run out or was given up. Pure.
import type { Change, Committed } from './committed.ts';

/** The original's, for which a lease holds. */
const LEASE_MS = 15_000;
const LEASES = 'coordination.orch.io/leases/orch-system/';
/** Of the scheduler. */
export const SCHEDULER_LEASE = `${LEASES}orch-scheduler`;
const LEADER_LEASES: readonly string[] = [
  SCHEDULER_LEASE,
  `${LEASES}orch-controller-manager`,
  `${LEASES}orch-apiserver`,
];

/** A server has said that it leads. */
export interface LeaderWord {
  /** One life of what goes for the lease. */
  readonly who: string;
  readonly at: number;
}

/** What is wrong, one line each. `msAt`: when a moment of the run was, by a clock that nobody sets. */
export function checkLeaders(
  words: readonly LeaderWord[],
  committed: Pick<Committed, 'byKey'>,
  msAt: (moment: number) => number,
): readonly string[] {
  const changesOf = (lease: string): readonly Change[] => committed.byKey.get(lease) ?? [];
  return [
    ...wordProblems(words, changesOf(SCHEDULER_LEASE)),
    ...LEADER_LEASES.flatMap((lease) => takeoverProblems(changesOf(lease), msAt)),
  ];
}

/** A holder is one life's, and a life has one holder. */
function wordProblems(words: readonly LeaderWord[], changes: readonly Change[]): readonly string[] {
  const lifeOf = new Map<string, string>();
  const holderOf = new Map<string, string>();
  return words.flatMap(({ who, at }) => {
    const holder = changes.findLast(({ durable }) => durable <= at)?.after?.holder ?? '';
    if (holder === '') return [`${who} said that it leads @${at}, and nobody holds the lease`];
    if (!lifeOf.has(holder) && !holderOf.has(who)) {
      lifeOf.set(holder, who);
      holderOf.set(who, holder);
    }
    return lifeOf.get(holder) === who ? [] : [`${who} said that it leads @${at}, and another holds the lease`];
  });
}

function takeoverProblems(changes: readonly Change[], msAt: (moment: number) => number): readonly string[] {
  return changes.flatMap(({ key, revision, before, after, durable }, index) => {
    const [from, to] = [before?.holder ?? '', after?.holder ?? ''];
    if (from === '' || to === '' || from === to) return [];
    const heldMs = msAt(durable) - msAt(changes[index - 1]!.durable);
    return heldMs >= LEASE_MS
      ? []
      : [`${key} was taken over at ${revision}, ${Math.round(heldMs)} ms after it was renewed`];
  });
}
