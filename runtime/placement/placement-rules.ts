// What the actors' own facts say of a placement: which plans cannot work, and which work but may not be meant. Knows no
// actor by name.
import type { ActorFacts } from '../actor-facts.ts';
import { JsonLineError } from '../json-lines.ts';

/** A group of like threads as the file lists it. */
export interface Group {
  readonly name: string;
  readonly line: number;
  readonly count: number;
  readonly actors: readonly { readonly actor: string; readonly line: number }[];
}

/** Throws a JsonLineError for the first rule that is broken. `threadsLine`: for what is missing altogether. */
export function refuseWhatCannotWork(
  groups: readonly Group[],
  known: ReadonlyMap<string, ActorFacts>,
  threadsLine: number,
): void {
  for (const { actor, placement } of known.values()) {
    if (placement?.isSingle) refuseSecond(groups, actor);
    if (placement?.beside !== undefined) refuseStranded(groups, actor, placement.beside);
  }
  for (const { actor, placement } of known.values()) {
    const { absence, offers = {} } = placement ?? {};
    if (absence?.isRefused && instancesOf(groups, actor) === 0)
      throw new JsonLineError(threadsLine, `no thread hosts ${actor}: ${absence.means}`);
    for (const [place, count] of Object.entries(offers)) refuseTooMany(groups, known, actor, place, count, threadsLine);
  }
}

/** What works, but does less than a server can; one line each. */
export function warningsOf(groups: readonly Group[], known: ReadonlyMap<string, ActorFacts>): readonly string[] {
  return [...known.values()].flatMap(({ actor, placement }) => {
    const { absence } = placement ?? {};
    if (absence === undefined || absence.isRefused || instancesOf(groups, actor) > 0) return [];
    return [`no thread hosts ${actor}: ${absence.means}`];
  });
}

/** How many instances of an actor the whole plan has. */
export function instancesOf(groups: readonly Group[], actor: string): number {
  return groups.reduce((sum, { count, actors }) => (hosts(actors, actor) ? sum + count : sum), 0);
}

function hosts(actors: Group['actors'], actor: string): boolean {
  return actors.some((hosted) => hosted.actor === actor);
}

function refuseSecond(groups: readonly Group[], single: string): void {
  const placed = groups.flatMap(({ name, count, actors }) =>
    actors.filter(({ actor }) => actor === single).map(({ line }) => ({ name, count, line })),
  );
  const [first, second] = placed;
  if (first !== undefined && first.count > 1) {
    const reason = `there can be one ${single}, and thread ${first.name} is there ${first.count} times`;
    throw new JsonLineError(first.line, reason);
  }
  if (second !== undefined) {
    const reason = `there can be one ${single}, and threads ${first!.name} and ${second.name} both host it`;
    throw new JsonLineError(second.line, reason);
  }
}

function refuseStranded(
  groups: readonly Group[],
  actor: string,
  beside: { readonly actor: string; readonly because: string },
): void {
  for (const { name, actors } of groups) {
    const stranded = actors.find((hosted) => hosted.actor === actor);
    if (stranded === undefined || hosts(actors, beside.actor)) continue;
    const reason = `thread ${name} hosts ${actor} without a ${beside.actor}, ${beside.because}`;
    throw new JsonLineError(stranded.line, reason);
  }
}

function refuseTooMany(
  groups: readonly Group[],
  known: ReadonlyMap<string, ActorFacts>,
  offering: string,
  place: string,
  count: number,
  threadsLine: number,
): void {
  const takers = [...known.values()].filter(({ placement }) => placement?.takes?.includes(place));
  const taken = takers.reduce((sum, { actor }) => sum + instancesOf(groups, actor), 0);
  if (taken <= count) return;
  const who = takers.map(({ actor }) => `${instancesOf(groups, actor)} of ${actor}`).join(', ');
  throw new JsonLineError(threadsLine, `the ${offering} has room for ${count} as a ${place}, and here are ${who}`);
}
