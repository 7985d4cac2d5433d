// From a placement file to a plan: which threads there are and which actors each hosts. Refuses what cannot work, with the
// line and the reason. Reading the file itself is placement-file.ts's work.
import type { ActorFacts, SettingRange } from '../actor-facts.ts';
import { OrchError } from '../errors.ts';
import { JsonLineError, type JsonMember, type JsonNode, readJsonLines } from '../json-lines.ts';
import { type Group, instancesOf, refuseWhatCannotWork, warningsOf } from './placement-rules.ts';
import type { Plan, PlannedActor, PlannedThread } from './plan.ts';

const COUNT_MIN = 1;
const COUNT_MAX = 64;
const COUNT_WORDS: Readonly<Record<string, (cpus: number) => number>> = {
  cpus: (cpus) => cpus,
  'cpus-1': (cpus) => cpus - 1,
};
const THREAD_NAME = /^[a-z][a-z0-9-]{0,30}$/;

type Settings = Readonly<Record<string, string | number | boolean>>;

/**
 * Resolves a placement file's text. `actors`: all there are, `cpuCount` what `"cpus"` stands for. Throws an OrchError
 * `BadConfiguration` whose message is `<file>:<line>: <reason>`.
 */
export function resolvePlacement(
  profileText: string,
  fileName: string,
  actors: readonly ActorFacts[],
  cpuCount: number,
): Plan {
  try {
    const known = new Map(actors.map((facts) => [facts.actor, facts]));
    const file = members(readJsonLines(profileText), 'the file', ['threads', 'actors']);
    const threads = file.get('threads');
    if (threads === undefined) throw new JsonLineError(1, '"threads" is missing');
    const groups = items(threads.node, '"threads"').map((node) => readGroup(node, known, cpuCount));
    refuseDuplicateNames(groups);
    refuseWhatCannotWork(groups, known, threads.line);
    const settings = readSettings(file.get('actors'), known);
    return {
      name: profileName(fileName),
      threads: expand(groups, known, settings),
      warnings: warningsOf(groups, known),
    };
  } catch (error) {
    if (!(error instanceof JsonLineError)) throw error;
    throw new OrchError('BadConfiguration', `${fileName}:${error.line}: ${error.message}`);
  }
}

function readGroup(node: JsonNode, known: ReadonlyMap<string, ActorFacts>, cpuCount: number): Group {
  const group = members(node, 'a thread', ['name', 'count', 'actors']);
  const name = required(group, 'name', node);
  const text = name.kind === 'scalar' ? name.value : undefined;
  if (typeof text !== 'string' || !THREAD_NAME.test(text)) {
    throw new JsonLineError(name.line, 'the name of a thread is lower-case letters, digits and dashes, 31 at most');
  }
  const count = group.get('count');
  return {
    name: text,
    line: name.line,
    count: count === undefined ? 1 : readCount(count.node, cpuCount),
    actors: readActors(required(group, 'actors', node), known, text),
  };
}

function readCount(node: JsonNode, cpuCount: number): number {
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (typeof value === 'string' && Object.hasOwn(COUNT_WORDS, value)) {
    return Math.min(COUNT_MAX, Math.max(COUNT_MIN, COUNT_WORDS[value]!(cpuCount)));
  }
  if (typeof value === 'number' && Number.isInteger(value) && value >= COUNT_MIN && value <= COUNT_MAX) return value;
  const words = Object.keys(COUNT_WORDS).map((word) => `"${word}"`);
  throw new JsonLineError(
    node.line,
    `"count" is ${words.join(', ')} or a whole number from ${COUNT_MIN} to ${COUNT_MAX}`,
  );
}

function readActors(node: JsonNode, known: ReadonlyMap<string, ActorFacts>, thread: string): Group['actors'] {
  const actors = items(node, '"actors" of a thread').map((item) => {
    const actor = item.kind === 'scalar' ? item.value : undefined;
    if (typeof actor !== 'string') throw new JsonLineError(item.line, 'an actor is named by a string');
    refuseUnknown(actor, item.line, known);
    return { actor, line: item.line };
  });
  if (actors.length === 0) throw new JsonLineError(node.line, `thread ${thread} hosts no actor`);
  for (const [index, { actor, line }] of actors.entries()) {
    const earlier = actors.findIndex((other) => other.actor === actor);
    if (earlier < index) throw new JsonLineError(line, `thread ${thread} hosts ${actor} twice`);
  }
  return actors;
}

function refuseUnknown(actor: string, line: number, known: ReadonlyMap<string, ActorFacts>): void {
  if (known.has(actor)) return;
  throw new JsonLineError(
    line,
    `there is no actor ${JSON.stringify(actor)}; there are ${[...known.keys()].join(', ')}`,
  );
}

function refuseDuplicateNames(groups: readonly Group[]): void {
  const names = new Set<string>();
  for (const { name, line } of groups) {
    if (names.has(name)) throw new JsonLineError(line, `two threads are named ${name}`);
    names.add(name);
  }
}

function readSettings(
  actors: JsonMember | undefined,
  known: ReadonlyMap<string, ActorFacts>,
): ReadonlyMap<string, Settings> {
  const settings = new Map<string, Settings>();
  if (actors === undefined) return settings;
  for (const [actor, { line, node }] of members(actors.node, '"actors"')) {
    refuseUnknown(actor, line, known);
    const facts = known.get(actor)!;
    const given = members(node, `the settings of ${actor}`);
    settings.set(actor, Object.fromEntries([...given].map((entry) => readSetting(entry, facts))));
  }
  return settings;
}

function readSetting(
  [name, { line, node }]: [string, JsonMember],
  { actor, settings: defaults = {}, ranges = {} }: ActorFacts,
): [string, string | number | boolean] {
  if (!Object.hasOwn(defaults, name)) {
    const names = Object.keys(defaults);
    const there = names.length === 0 ? 'it has none' : `there are ${names.join(', ')}`;
    throw new JsonLineError(line, `${actor} has no setting ${JSON.stringify(name)}; ${there}`);
  }
  const wanted = typeof defaults[name];
  const value = node.kind === 'scalar' ? node.value : null;
  if (value === null || typeof value !== wanted || value === Number.POSITIVE_INFINITY) {
    throw new JsonLineError(node.line, `the setting ${name} of ${actor} is a ${wanted}`);
  }
  const range = ranges[name];
  if (range !== undefined && !isWithin(range, value)) {
    const what = range.isFraction ? 'number' : 'whole number';
    throw new JsonLineError(
      node.line,
      `the setting ${name} of ${actor} is a ${what} from ${range.least} to ${range.most}`,
    );
  }
  return [name, value];
}

function isWithin({ least, most, isFraction = false }: SettingRange, value: unknown): boolean {
  return typeof value === 'number' && value >= least && value <= most && (isFraction || Number.isInteger(value));
}

/** Groups into threads, and actors into numbered instances. */
function expand(
  groups: readonly Group[],
  known: ReadonlyMap<string, ActorFacts>,
  settings: ReadonlyMap<string, Settings>,
): readonly PlannedThread[] {
  const next = new Map<string, number>();
  const planned = (actor: string): PlannedActor => {
    const index = next.get(actor) ?? 0;
    next.set(actor, index + 1);
    const name = instancesOf(groups, actor) === 1 ? actor : `${actor}/${index}`;
    return { actor, name, index, settings: { ...known.get(actor)!.settings, ...settings.get(actor) } };
  };
  return groups.flatMap(({ name, count, actors }) =>
    Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? name : `${name}/${index}`,
      group: name,
      actors: actors.map(({ actor }) => planned(actor)),
    })),
  );
}

/** `placement.wide.json` and `/etc/placement.wide.json` are `wide`; another file keeps its name. */
function profileName(fileName: string): string {
  const base = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1);
  return /^placement\.(.+)\.json$/.exec(base)?.[1] ?? base;
}

function members(node: JsonNode, what: string, allowed?: readonly string[]): ReadonlyMap<string, JsonMember> {
  if (node.kind !== 'object') throw new JsonLineError(node.line, `${what} is not an object`);
  for (const [key, { line }] of node.members) {
    if (allowed?.includes(key) ?? true) continue;
    throw new JsonLineError(line, `${what} has no key ${JSON.stringify(key)}; there are ${allowed!.join(', ')}`);
  }
  return node.members;
}

function required(group: ReadonlyMap<string, JsonMember>, key: string, node: JsonNode): JsonNode {
  const member = group.get(key);
  if (member === undefined) throw new JsonLineError(node.line, `a thread is without ${JSON.stringify(key)}`);
  return member.node;
}

function items(node: JsonNode, what: string): readonly JsonNode[] {
  if (node.kind !== 'array') throw new JsonLineError(node.line, `${what} is not a list`);
  return node.items;
}
