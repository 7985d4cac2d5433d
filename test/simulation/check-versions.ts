// What holds from one version of an object to the next, and at its end, whoever wrote it: it stays the object that it was, its deletion goes
// on once it has begun, and nobody is passed over who holds it back. Pure.
import type { Change, Committed } from './committed.ts';

/** Those that a DELETE puts there, also where the object is being deleted. */
const POLICIES: readonly string[] = ['foregroundDeletion', 'orphan'];

/** What is wrong, one line each. */
export function checkVersions({ changes }: Pick<Committed, 'changes'>): readonly string[] {
  return changes.flatMap((change) => {
    const problem = problemOf(change);
    return problem === undefined ? [] : [`${change.key} ${problem}`];
  });
}

function problemOf({ revision, before, after }: Change): string | undefined {
  if (before === undefined) return undefined;
  const { dying, finalizers } = before;
  if (after === undefined) {
    // The last to let go of what is being deleted removes it with the same write.
    const isFree = dying || finalizers.length === 0;
    return isFree ? undefined : `went at ${revision} and [${finalizers.join()}] held it`;
  }
  if (before.uid !== after.uid) return `became another object at ${revision} without being removed`;
  if (before.created !== after.created) return `was created ${before.created}, and at ${revision} ${after.created}`;
  if (!dying) return undefined;
  if (!after.dying) return `was being deleted and is not any more at ${revision}`;
  const added = after.finalizers.filter((one) => !finalizers.includes(one) && !POLICIES.includes(one));
  return added.length === 0 ? undefined : `was being deleted and at ${revision} [${added.join()}] came to hold it`;
}
