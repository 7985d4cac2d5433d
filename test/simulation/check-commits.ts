// What holds for the revisions themselves, whoever saw them: they are dense, what was removed stays removed, and a pod once
// bound stays where it is. Pure.
import type { Committed } from './committed.ts';

/** What is wrong, one line each. */
export function checkCommits({ changes, problems }: Committed): readonly string[] {
  const found = [...problems];
  const removed = new Map<string, number>();
  const bound = new Map<string, string>();
  for (const { key, revision, before, after } of changes) {
    if (after === undefined) {
      if (before === undefined) found.push(`revision ${revision} removes ${key}, which is not there`);
      else removed.set(before.uid, revision);
      continue;
    }
    const { uid, node } = after;
    if (uid === '') continue;
    const gone = removed.get(uid);
    if (gone !== undefined) found.push(`${key} is back at ${revision}, it was removed at ${gone}`);
    const home = bound.get(uid);
    if (home !== undefined && home !== node) found.push(`${key} moved from ${home} to ${node} at ${revision}`);
    else if (node !== '') bound.set(uid, node);
  }
  return found;
}
