// Objects of custom types follow their definition's history: none is written without it or by another edition than that of its
// revision, none outlives it, none is shown by an edition that was over, and a watch shows one edition only. Pure.
import type { Change, Committed } from './committed.ts';
import { DEFINED_TYPES, DEFINITION_OBJECTS, type DefinedType } from './defined-types.ts';
import type { History, Operation, Seen, Watch } from './history.ts';

/** What is wrong, one line each. */
export function checkDefinitions({ operations, watches }: History, committed: Committed): readonly string[] {
  return DEFINED_TYPES.flatMap((type) => {
    const definition = committed.byKey.get(`${DEFINITION_OBJECTS.storageKey}//${type.definition}`) ?? [];
    return [
      ...storedProblems(type, definition, committed),
      ...operations.flatMap((operation) => answerProblems(type, definition, operation)),
      ...watches.flatMap((watch) => watchProblems(type, definition, watch)),
    ];
  });
}

function storedProblems({ storageKey }: DefinedType, definition: readonly Change[], committed: Committed): string[] {
  const problems: string[] = [];
  const objects = new Set<string>();
  let next = 0;
  for (const { key, revision, before, after } of committed.changes) {
    if (definition[next]?.revision === revision) {
      const { after: defined } = definition[next++]!;
      if (defined === undefined && objects.size > 0)
        problems.push(`the definition of ${storageKey} was removed at ${revision} with ${objects.size} objects left`);
    }
    if (!key.startsWith(`${storageKey}/`)) continue;
    const defined = definition[next - 1]?.after;
    if (after === undefined) objects.delete(key);
    else objects.add(key);
    if (after === undefined) continue;
    if (defined === undefined) problems.push(`${key} was stored at ${revision} without a definition`);
    else if (before === undefined && defined.dying)
      problems.push(`${key} was created at ${revision}, its definition was being deleted`);
    else if (after.edition !== defined.tag)
      problems.push(
        `${key} was stored at ${revision} by the edition ${after.edition}, the one then was ${defined.tag}`,
      );
  }
  return problems;
}

function answerProblems(type: DefinedType, definition: readonly Change[], operation: Operation): string[] {
  const { kind, outcome, client, invoked, returned } = operation;
  if (typeof outcome === 'string') return [];
  const isDry = 'dry' in operation && operation.dry;
  const shown: readonly Seen[] =
    'items' in outcome
      ? outcome.items
      : 'is' in outcome
        ? outcome.is === 'ok' && !isDry && outcome.object
          ? [outcome.object]
          : []
        : [outcome];
  return shown.flatMap((object) => {
    // A list is of its own revision, whatever that of the object.
    const since = 'items' in outcome && 'revision' in outcome ? outcome.revision : object.revision;
    const problem = shownProblem(type, definition, object, since, returned);
    return problem === undefined ? [] : [`client ${client}, ${kind} @${invoked}: ${problem}`];
  });
}

/** An object must be shown by an edition that was current at its revision or later, and was there by then. */
function shownProblem(
  { storageKey }: DefinedType,
  definition: readonly Change[],
  { key, edition, revision }: Seen,
  since: number,
  returned: number,
): string | undefined {
  if (edition === undefined || !key.startsWith(`${storageKey}/`)) return undefined;
  const isCurrent = definition.some(({ after, durable }, index) => {
    const until = definition[index + 1]?.revision ?? Number.POSITIVE_INFINITY;
    return after?.tag === edition && until > since && durable < returned;
  });
  return isCurrent ? undefined : `${key}@${revision} was shown by the edition ${edition}, which was over by ${since}`;
}

function watchProblems(type: DefinedType, definition: readonly Change[], watch: Watch): string[] {
  if (watch.storageKey !== type.storageKey || watch.look !== 'whole') return [];
  const named = `watch of client ${watch.client} @${watch.opened}`;
  const objects = watch.events.filter(({ type: what }) => what !== 'BOOKMARK').map(({ object }) => object);
  const editions = new Set(objects.map(({ edition }) => edition));
  if (editions.size > 1) return [`${named} went on from one edition to another: [${[...editions].join()}]`];
  return objects.flatMap((object) => {
    const problem = shownProblem(type, definition, object, object.revision, Number.POSITIVE_INFINITY);
    return problem === undefined ? [] : [`${named}: ${problem}`];
  });
}
