// From a placement file to a plan: which threads there are and which actors each hosts. Refuses what cannot work, with the
// line and the reason. Reading the file itself is placement-file.ts's work.
import { OrchError } from './errors.ts';
import { JsonLineError, type JsonMember, type JsonNode, readJsonLines } from './json-lines.ts';
import type { KindFacts, Plan, PlannedActor, PlannedThread } from './plan.ts';

const COUNT_MIN = 1;
const COUNT_MAX = 64;
const COUNT_WORDS: Readonly<Record<string, (cpus: number) => number>> = {
  cpus: (cpus) => cpus,
  'cpus-1': (cpus) => cpus - 1,
};
const THREAD_NAME = /^[a-z][a-z0-9-]{0,30}$/;

/** Without these nothing can be served. */
const REQUIRED_KINDS: readonly (readonly [kind: string, without: string])[] = [
  ['store', 'nothing can be kept'],
  ['ingress', 'nothing can be reached'],
  ['admission', 'nothing can be written'],
  ['auth', 'nobody can be let in'],
];
/** Without these the server works, but does less. */
const OPTIONAL_KINDS: readonly (readonly [kind: string, without: string])[] = [
  ['scheduler', 'pods are not given nodes'],
  ['controllers', 'nothing is cleaned up or allocated in the background'],
  ['audit', 'no audit events are written'],
];
/** At most one instance in the whole plan. */
const SINGLE_KINDS: readonly string[] = ['store', 'scheduler', 'controllers'];
/** Read the slabs that the hub of their own thread maps. */
const KINDS_BESIDE_A_HUB: readonly string[] = ['ingress', 'admission', 'auth'];

type Settings = Readonly<Record<string, string | number | boolean>>;

interface Group {
  readonly name: string;
  readonly line: number;
  readonly count: number;
  readonly kinds: readonly { readonly kind: string; readonly line: number }[];
}

/**
 * Resolves a placement file's text. `kinds` is the roster, `cpuCount` what `"cpus"` stands for. Throws an OrchError
 * `BadConfiguration` whose message is `<file>:<line>: <reason>`.
 */
export function resolvePlacement(
  profileText: string,
  fileName: string,
  kinds: readonly KindFacts[],
  cpuCount: number,
): Plan {
  try {
    const known = new Map(kinds.map((kind) => [kind.kind, kind]));
    const file = members(readJsonLines(profileText), 'the file', ['threads', 'actors']);
    const threads = file.get('threads');
    if (threads === undefined) throw new JsonLineError(1, '"threads" is missing');
    const groups = items(threads.node, '"threads"').map((node) => readGroup(node, known, cpuCount));
    refuseDuplicateNames(groups);
    refuseWhatCannotWork(groups, threads.line);
    const settings = readSettings(file.get('actors'), known);
    return { name: profileName(fileName), threads: expand(groups, known, settings), warnings: warningsOf(groups) };
  } catch (error) {
    if (!(error instanceof JsonLineError)) throw error;
    throw new OrchError('BadConfiguration', `${fileName}:${error.line}: ${error.message}`);
  }
}

function readGroup(node: JsonNode, known: ReadonlyMap<string, KindFacts>, cpuCount: number): Group {
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
    kinds: readKinds(required(group, 'actors', node), known, text),
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

function readKinds(node: JsonNode, known: ReadonlyMap<string, KindFacts>, thread: string): Group['kinds'] {
  const kinds = items(node, '"actors" of a thread').map((item) => {
    const kind = item.kind === 'scalar' ? item.value : undefined;
    if (typeof kind !== 'string') throw new JsonLineError(item.line, 'an actor is named by a string');
    refuseUnknownKind(kind, item.line, known);
    return { kind, line: item.line };
  });
  if (kinds.length === 0) throw new JsonLineError(node.line, `thread ${thread} hosts no actor`);
  for (const [index, { kind, line }] of kinds.entries()) {
    const earlier = kinds.findIndex((other) => other.kind === kind);
    if (earlier < index) throw new JsonLineError(line, `thread ${thread} hosts ${kind} twice`);
  }
  return kinds;
}

function refuseUnknownKind(kind: string, line: number, known: ReadonlyMap<string, KindFacts>): void {
  if (known.has(kind)) return;
  throw new JsonLineError(line, `there is no actor ${JSON.stringify(kind)}; there are ${[...known.keys()].join(', ')}`);
}

function refuseDuplicateNames(groups: readonly Group[]): void {
  const names = new Set<string>();
  for (const { name, line } of groups) {
    if (names.has(name)) throw new JsonLineError(line, `two threads are named ${name}`);
    names.add(name);
  }
}

function refuseWhatCannotWork(groups: readonly Group[], threadsLine: number): void {
  for (const single of SINGLE_KINDS) refuseSecond(groups, single);
  for (const { name, kinds } of groups) {
    if (kinds.some(({ kind }) => kind === 'hub')) continue;
    const stranded = kinds.find(({ kind }) => KINDS_BESIDE_A_HUB.includes(kind));
    if (stranded === undefined) continue;
    const reason = `thread ${name} hosts ${stranded.kind} without a hub, whose memory it reads`;
    throw new JsonLineError(stranded.line, reason);
  }
  for (const [kind, without] of REQUIRED_KINDS) {
    if (!isPlaced(groups, kind)) throw new JsonLineError(threadsLine, `no thread hosts ${kind}: ${without}`);
  }
}

function refuseSecond(groups: readonly Group[], single: string): void {
  const placed = groups.flatMap(({ name, count, kinds }) =>
    kinds.filter(({ kind }) => kind === single).map(({ line }) => ({ name, count, line })),
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

function warningsOf(groups: readonly Group[]): readonly string[] {
  return OPTIONAL_KINDS.filter(([kind]) => !isPlaced(groups, kind)).map(
    ([kind, without]) => `no thread hosts ${kind}: ${without}`,
  );
}

function isPlaced(groups: readonly Group[], kind: string): boolean {
  return groups.some(({ kinds }) => kinds.some((one) => one.kind === kind));
}

function readSettings(
  actors: JsonMember | undefined,
  known: ReadonlyMap<string, KindFacts>,
): ReadonlyMap<string, Settings> {
  const settings = new Map<string, Settings>();
  if (actors === undefined) return settings;
  for (const [kind, { line, node }] of members(actors.node, '"actors"')) {
    refuseUnknownKind(kind, line, known);
    const defaults = known.get(kind)!.settings ?? {};
    const given = members(node, `the settings of ${kind}`);
    settings.set(kind, Object.fromEntries([...given].map((entry) => readSetting(entry, kind, defaults))));
  }
  return settings;
}

function readSetting(
  [name, { line, node }]: [string, JsonMember],
  kind: string,
  defaults: Settings,
): [string, string | number | boolean] {
  if (!Object.hasOwn(defaults, name)) {
    const names = Object.keys(defaults);
    const there = names.length === 0 ? 'it has none' : `there are ${names.join(', ')}`;
    throw new JsonLineError(line, `${kind} has no setting ${JSON.stringify(name)}; ${there}`);
  }
  const wanted = typeof defaults[name];
  const value = node.kind === 'scalar' ? node.value : null;
  if (value === null || typeof value !== wanted || value === Number.POSITIVE_INFINITY) {
    throw new JsonLineError(node.line, `the setting ${name} of ${kind} is a ${wanted}`);
  }
  return [name, value];
}

/** Groups into threads, and kinds into numbered instances. */
function expand(
  groups: readonly Group[],
  known: ReadonlyMap<string, KindFacts>,
  settings: ReadonlyMap<string, Settings>,
): readonly PlannedThread[] {
  const instances = new Map<string, number>();
  for (const { count, kinds } of groups) {
    for (const { kind } of kinds) instances.set(kind, (instances.get(kind) ?? 0) + count);
  }
  const next = new Map<string, number>();
  const actor = (kind: string): PlannedActor => {
    const index = next.get(kind) ?? 0;
    next.set(kind, index + 1);
    const name = instances.get(kind) === 1 ? kind : `${kind}/${index}`;
    return { kind, name, index, settings: { ...known.get(kind)!.settings, ...settings.get(kind) } };
  };
  return groups.flatMap(({ name, count, kinds }) =>
    Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? name : `${name}/${index}`,
      group: name,
      actors: kinds.map(({ kind }) => actor(kind)),
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
