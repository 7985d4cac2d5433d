// The differential's command line: sends the same requests to the original server and to this one, and prints what they do not agree
// on, grouped by what differs. What is known to differ, and why, is in known.ts.

import { readCommandLine } from '../command-line.ts';
import type { Answer } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';
import { builtInCases, builtInRequests, builtInTypes } from './built-in.ts';
import { customCases, untilServed } from './custom.ts';
import { DEFINITIONS } from './custom-definitions.ts';
import { differences } from './differences.ts';
import { isKnown, isKnownOfStory } from './known.ts';
import { isKnownOfRequest } from './known-requests.ts';
import { startOriginal } from './original-apiserver.ts';
import { OWNED_DEFINITION, OWNED_GROUP } from './owned-objects.ts';
import { nextOwnerStep, ownerLines } from './owner-stories.ts';
import { type Asked, Differences } from './report.ts';
import { requestLines } from './request-lines.ts';
import { ask, type Sides } from './sides.ts';
import { nextStep } from './stories.ts';
import type { Pair } from './story-place.ts';
import { type Plot, type Told, tell } from './story-run.ts';

const USAGE = `usage: npm run differential -- --original FILE [options]
  --original FILE  a kube-apiserver, of 1.20 or 1.21; etcd has to be on the path
  --cases N        requests to each (default 2000)
  --minutes N      when to end at the latest (default 20)
  --seed S         which (default 1)
  --types PATTERN  of which types, as plural.group/version (default: all)
  --custom N       of custom types instead, of so many definitions made by the seed
  --requests       requests that are odd in everything but their objects
  --stories N      so many stories instead: requests that follow from one another
  --owners N       so many stories about who owns what
  --case I         this one alone, with both answers
`;
/** What needs controllers, which neither server has here. */
const ARGUMENTS = ['--disable-admission-plugins=ServiceAccount', '--service-cluster-ip-range=10.0.0.0/16'];
const AT_ONCE = 8;
const MINUTE_MS = 60_000;

const { values } = readCommandLine(USAGE, {
  options: {
    original: { type: 'string' },
    cases: { type: 'string', default: '2000' },
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    types: { type: 'string', default: '' },
    custom: { type: 'string' },
    requests: { type: 'boolean', default: false },
    stories: { type: 'string' },
    owners: { type: 'string' },
    case: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** The case of a number. */
type CaseOf = (index: number) => Asked;

/** What the answers to a case differ in, and whether that is known. */
const [linesOf, isKnownHere] = values.requests ? [requestLines, isKnownOfRequest] : [differences, isKnown];

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function compareAll(sides: Sides, caseOf: CaseOf): Promise<boolean> {
  const found = new Differences();
  const count = Number(values.cases);
  const endMs = Date.now() + Number(values.minutes) * MINUTE_MS;
  let [next, refused] = [0, 0];
  const lane = async (): Promise<void> => {
    while (next < count && Date.now() < endMs) {
      const index = next++;
      const asked = caseOf(index);
      const [one, other] = await ask(sides, asked);
      if (one.status >= 400) refused += 1;
      found.add(
        index,
        asked,
        linesOf(one, other).filter((line) => !isKnownHere(asked, line)),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  for (const line of found.lines()) print(line);
  print(`${next} requests, ${refused} of them refused: ${found.differing} differ, in ${found.ways} ways`);
  if (next < count) print(`${values.minutes} minutes are over: ${count - next} of ${count} requests were not sent`);
  return found.differing === 0;
}

async function definedThings(sides: Sides): Promise<void> {
  await ask(sides, { method: 'POST', path: DEFINITIONS, body: OWNED_DEFINITION });
  const things = { plural: 'things', group: OWNED_GROUP, namespaced: true, versions: [{ name: 'v1' }] };
  await Promise.all([untilServed(sides.original, things), untilServed(sides.ours, things)]);
}

/** What stories are about: namespaced, and of no other's requests. */
const STORY_TYPES = /^(?!events|.*webhook|resourcequotas|limitranges|bindings|localsubject|serviceaccounts)/;

/** Stories of one sort, and which of the lines that a step differs in nobody knows of. */
interface Stories extends Plot {
  readonly count: number;
  readonly unknown: (told: Told) => readonly string[];
}

async function storiesAsked(sides: Sides, seed: number): Promise<Stories | undefined> {
  if (values.owners !== undefined) {
    await definedThings(sides);
    const unknown = ({ asked, lines, answers }: Told): readonly string[] =>
      ownerLines(lines, answers).filter((line) => !isKnown(asked, line));
    return { seed, types: [], next: nextOwnerStep, count: Number(values.owners), unknown };
  }
  if (values.stories === undefined) return undefined;
  const types = await builtInTypes(sides, new RegExp(values.types === '' ? STORY_TYPES : values.types));
  const unknown = ({ asked, lines }: Told): readonly string[] => lines.filter((line) => !isKnownOfStory(asked, line));
  return {
    ...{ seed, next: nextStep, count: Number(values.stories), unknown },
    types: types.filter(({ namespaced }) => namespaced),
  };
}

async function compareStories(sides: Sides, stories: Stories): Promise<boolean> {
  const found = new Differences();
  const { count } = stories;
  const only = values.case === undefined ? undefined : Number(values.case);
  const endMs = Date.now() + Number(values.minutes) * MINUTE_MS;
  let [next, steps, refused] = [only ?? 0, 0, 0];
  const lane = async (): Promise<void> => {
    while (next < (only === undefined ? count : only + 1) && Date.now() < endMs) {
      const index = next++;
      for await (const told of tell(sides, stories, index)) {
        steps += 1;
        if (told.answers.original.status >= 400) refused += 1;
        const unknown = stories.unknown(told);
        found.add(index, told.asked, unknown);
        if (only !== undefined) showStep(told.asked, told.answers, unknown);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  for (const line of found.lines()) print(line);
  print(
    `${next} stories, ${steps} requests, ${refused} of them refused: ${found.differing} differ, in ${found.ways} ways`,
  );
  return found.differing === 0;
}

function showStep(
  { method, path, body, contentType = '' }: Asked,
  { original, ours }: Pair<Answer>,
  lines: readonly string[],
): void {
  print(`${method} ${path} ${contentType} ${JSON.stringify(body) ?? ''}`);
  print(`  original ${original.status} ${original.text.trim()}\n  ours     ${ours.status} ${ours.text.trim()}`);
  for (const line of lines) print(`    ${line}`);
}

async function showCase(sides: Sides, asked: Asked): Promise<boolean> {
  const [one, other] = await ask(sides, asked);
  const { method, path, contentType = '', accept = '', body } = asked;
  const sent = Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body);
  print(`${method} ${path} ${contentType} ${accept}\n${sent}`);
  print(`original ${one.status}\n${one.text}\nours ${other.status}\n${other.text}`);
  const lines = linesOf(one, other);
  for (const line of lines) print(`    ${line}${isKnownHere(asked, line) ? ' (known)' : ''}`);
  return lines.length === 0;
}

function casesAsked(sides: Sides, seed: number): Promise<CaseOf> {
  if (values.custom !== undefined) return customCases(sides, seed, Number(values.custom));
  const types = new RegExp(values.types);
  return values.requests ? builtInRequests(sides, seed, types) : builtInCases(sides, seed, types);
}

async function run(file: string): Promise<boolean> {
  const undo: (() => void | Promise<void>)[] = [];
  // What controllers do would be told of as a difference.
  const isAlone = values.requests || values.stories !== undefined || values.owners !== undefined;
  try {
    const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
    const server = await startServer(scope, {
      command: 'apiserver',
      args: [
        '--api-dialect=kubernetes',
        ...ARGUMENTS,
        ...(isAlone ? ['--controllers=', '--authorization-mode=RBAC'] : []),
      ],
    });
    const sides = { original: await startOriginal(scope, file, ARGUMENTS), ours: server.client };
    const seed = Number(values.seed);
    const stories = await storiesAsked(sides, seed);
    if (stories !== undefined) return await compareStories(sides, stories);
    const caseOf = await casesAsked(sides, seed);
    return await (values.case === undefined ? compareAll(sides, caseOf) : showCase(sides, caseOf(Number(values.case))));
  } finally {
    for (const step of undo) await step();
  }
}

if (values.help || values.original === undefined) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}
process.exit((await run(values.original)) ? 0 : 1);
