// The differential's command line: sends the same requests to the original server and to this one, and prints what they do not agree
// on, grouped by what differs. What is known to differ, and why, is in known.ts.

import { readCommandLine } from '../command-line.ts';
import type { Answer } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';
import { builtInCases, builtInTypes } from './built-in.ts';
import { customCases } from './custom.ts';
import { differences } from './differences.ts';
import { isKnown, isKnownOfStory } from './known.ts';
import { startOriginal } from './original-apiserver.ts';
import { type Asked, Differences } from './report.ts';
import { ask, type Sides } from './sides.ts';
import type { Pair } from './story-place.ts';
import { tell } from './story-run.ts';

const USAGE = `usage: npm run differential -- --original FILE [options]
  --original FILE  a kube-apiserver, of 1.20 or 1.21; etcd has to be on the path
  --cases N        requests to each (default 2000)
  --minutes N      when to end at the latest (default 20)
  --seed S         which (default 1)
  --types PATTERN  of which types, as plural.group/version (default: all)
  --custom N       of custom types instead, of so many definitions made by the seed
  --stories N      so many stories instead: requests that follow from one another
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
    stories: { type: 'string' },
    case: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** The case of a number. */
type CaseOf = (index: number) => Asked;

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
        differences(one, other).filter((line) => !isKnown(asked, line)),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  for (const line of found.lines()) print(line);
  print(`${next} requests, ${refused} of them refused: ${found.differing} differ, in ${found.ways} ways`);
  if (next < count) print(`${values.minutes} minutes are over: ${count - next} of ${count} requests were not sent`);
  return found.differing === 0;
}

/** What stories are about: namespaced, and of no other's requests. */
const STORY_TYPES = /^(?!events|.*webhook|resourcequotas|limitranges|bindings|localsubject|serviceaccounts)/;

async function compareStories(sides: Sides, seed: number): Promise<boolean> {
  const types = await builtInTypes(sides, new RegExp(values.types === '' ? STORY_TYPES : values.types));
  const namespaced = types.filter(({ namespaced }) => namespaced);
  const found = new Differences();
  const count = Number(values.stories);
  const only = values.case === undefined ? undefined : Number(values.case);
  const endMs = Date.now() + Number(values.minutes) * MINUTE_MS;
  let [next, steps, refused] = [only ?? 0, 0, 0];
  const lane = async (): Promise<void> => {
    while (next < (only === undefined ? count : only + 1) && Date.now() < endMs) {
      const index = next++;
      for await (const { asked, answers, lines } of tell(sides, seed, index, namespaced)) {
        steps += 1;
        if (answers.original.status >= 400) refused += 1;
        const unknown = lines.filter((line) => !isKnownOfStory(asked, line));
        found.add(index, asked, unknown);
        if (only !== undefined) showStep(asked, answers, unknown);
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
  print(`${asked.method} ${asked.path}\n${JSON.stringify(asked.body)}`);
  print(`original ${one.status}\n${one.text}\nours ${other.status}\n${other.text}`);
  const lines = differences(one, other);
  for (const line of lines) print(`    ${line}${isKnown(asked, line) ? ' (known)' : ''}`);
  return lines.length === 0;
}

async function run(file: string): Promise<boolean> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
    const server = await startServer(scope, {
      command: 'apiserver',
      args: ['--api-dialect=kubernetes', ...ARGUMENTS, ...(values.stories === undefined ? [] : ['--controllers='])],
    });
    const sides = { original: await startOriginal(scope, file, ARGUMENTS), ours: server.client };
    const seed = Number(values.seed);
    if (values.stories !== undefined) return await compareStories(sides, seed);
    const caseOf =
      values.custom === undefined
        ? await builtInCases(sides, seed, new RegExp(values.types))
        : await customCases(sides, seed, Number(values.custom));
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
