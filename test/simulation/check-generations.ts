// An object's generation counts what was wanted of it: it is 1 at first, grows by one with each change of that and as the deletion begins,
// and stands still in every other write, whatever its writer says. Pure.
import type { Change, Committed } from './committed.ts';

interface WantedJson {
  readonly spec: unknown;
  readonly metadata: { readonly annotations?: unknown };
}

/** What counts, by type: where the order of members is always the same, so that its text can be compared. */
const WANTED: ReadonlyMap<string, (object: WantedJson) => unknown> = new Map([
  ['apps/replicasets', ({ spec }: WantedJson) => spec],
  ['apps/deployments', ({ spec, metadata }: WantedJson) => [spec, metadata.annotations]],
]);

/** What is wrong, one line each. */
export function checkGenerations({ changes }: Pick<Committed, 'changes'>): readonly string[] {
  return changes.flatMap((change) => {
    const problem = problemOf(change);
    return problem === undefined ? [] : [`${change.key} ${problem} at ${change.revision}`];
  });
}

function problemOf({ key, before, after }: Change): string | undefined {
  const wanted = WANTED.get(key.split('/', 2).join('/'));
  if (wanted === undefined || after === undefined) return undefined;
  const { generation } = after;
  if (before === undefined) return generation === 1 ? undefined : `began with generation ${generation}`;
  const textOf = (text: string): string => JSON.stringify(wanted(JSON.parse(text) as WantedJson));
  const isMoved = (after.dying && !before.dying) || textOf(before.text) !== textOf(after.text);
  const due = before.generation + (isMoved ? 1 : 0);
  return generation === due ? undefined : `came to generation ${generation} where ${due} was due`;
}
