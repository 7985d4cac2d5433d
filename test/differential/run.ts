// The differential's command line: sends the same requests to the original server and to this one, and prints what they do not agree
// on, grouped by what differs. What is known to differ, and why, is in known.ts.
import { parseArgs } from 'node:util';
import type { JsonObject } from '../../api/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { diceOf } from '../fuzz/generate/dice.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';
import { type Case, caseOf, collectionOf, NAMESPACE, nameIn, nameOf, typesLike, validObject } from './cases.ts';
import { differences } from './differences.ts';
import { isKnown } from './known.ts';
import { startOriginal } from './original-apiserver.ts';

const USAGE = `usage: npm run differential -- --original FILE [options]
  --original FILE  a kube-apiserver, of 1.20 or 1.21; etcd has to be on the path
  --cases N        requests to each (default 2000)
  --seed S         which (default 1)
  --types PATTERN  of which types, as plural.group/version (default: all)
  --case I         this one alone, with both answers
`;
/** What needs controllers, which neither server has here. */
const ARGUMENTS = ['--disable-admission-plugins=ServiceAccount', '--service-cluster-ip-range=10.0.0.0/16'];
/** Objects of these say what becomes of others' requests. */
const MEDDLING = /webhookconfigurations|apiservices|customresourcedefinitions|resourcequotas|limitranges/;
const KEPT_EACH = 3;
const AT_ONCE = 8;

const { values } = parseArgs({
  options: {
    original: { type: 'string' },
    cases: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    types: { type: 'string', default: '' },
    case: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

interface Sides {
  readonly original: HttpsClient;
  readonly ours: HttpsClient;
}

/** Of one kind of difference. */
interface Group {
  count: number;
  readonly first: { readonly index: number; readonly asked: Case; readonly lines: readonly string[] };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function ask({ original, ours }: Sides, method: string, path: string, body?: JsonObject): Promise<[Answer, Answer]> {
  const settings = body === undefined ? {} : { body };
  return Promise.all([original.request(method, path, settings), ours.request(method, path, settings)]);
}

/** Creates some valid objects of each type on both sides; those that both took, as each says the original has them. */
async function keepObjects(sides: Sides, types: readonly KnownType[], seed: number) {
  await ask(sides, 'POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const kept = new Map<KnownType, JsonObject[]>();
  for (const type of types.filter(({ plural }) => !MEDDLING.test(plural))) {
    const objects = new Map<string, JsonObject>();
    for (let index = 0; index < KEPT_EACH; index++) {
      const object = validObject(type, diceOf(seed, nameOf(type), index));
      const [one, other] = await ask(sides, 'POST', collectionOf(type), object);
      if (one.status < 300 && other.status < 300) objects.set(nameIn(object), object);
    }
    kept.set(type, [...objects.values()]);
  }
  return kept;
}

/** A difference without what stands in it, so that those of one cause meet. */
function groupOf({ type, method }: Case, lines: readonly string[]): string {
  const plain = lines.map((line) =>
    line
      .replace(/"[^"]*"/g, '"…"')
      .replace(/\d+/g, '#')
      .slice(0, 100),
  );
  return [method, nameOf(type), ...new Set(plain)].join('\n');
}

async function compareAll(sides: Sides, types: readonly KnownType[]): Promise<boolean> {
  const seed = Number(values.seed);
  const kept = await keepObjects(sides, types, seed);
  const groups = new Map<string, Group>();
  const count = Number(values.cases);
  let [next, refused, differing] = [0, 0, 0];
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const asked = caseOf(seed, index, types, kept);
      const [one, other] = await ask(sides, asked.method, asked.path, asked.body);
      if (one.status >= 400) refused += 1;
      const lines = differences(one, other).filter((line) => !isKnown(asked.type, line));
      if (lines.length === 0) continue;
      differing += 1;
      const key = groupOf(asked, lines);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { count: 1, first: { index, asked, lines } });
      else group.count += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  for (const { count: times, first } of [...groups.values()].sort((a, b) => b.count - a.count)) {
    const { asked, index, lines } = first;
    print(`${times} × ${asked.method} ${nameOf(asked.type)}, the first is --case ${index}`);
    for (const line of lines.slice(0, 12)) print(`    ${line}`);
  }
  print(
    `${count} requests of ${types.length} types, ${refused} of them refused: ${differing} differ, in ${groups.size} ways`,
  );
  return differing === 0;
}

async function showCase(sides: Sides, types: readonly KnownType[], index: number): Promise<boolean> {
  const seed = Number(values.seed);
  const asked = caseOf(seed, index, types, await keepObjects(sides, types, seed));
  const [one, other] = await ask(sides, asked.method, asked.path, asked.body);
  print(`${asked.method} ${asked.path}\n${JSON.stringify(asked.body)}`);
  print(`original ${one.status}\n${one.text}\nours ${other.status}\n${other.text}`);
  const lines = differences(one, other);
  for (const line of lines) print(`    ${line}`);
  return lines.length === 0;
}

async function run(file: string): Promise<boolean> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const scope = { teardown: (step: () => void | Promise<void>) => void undo.unshift(step) };
    const server = await startServer(scope, { command: 'apiserver', args: ['--api-dialect=kubernetes', ...ARGUMENTS] });
    const sides = { original: await startOriginal(scope, file, ARGUMENTS), ours: server.client };
    const isServed = await servedBy(sides.original);
    const types = typesLike(new RegExp(values.types)).filter(isServed);
    return await (values.case === undefined ? compareAll(sides, types) : showCase(sides, types, Number(values.case)));
  } finally {
    for (const step of undo) await step();
  }
}

/** Whether a server has a type, by its discovery. */
async function servedBy(client: HttpsClient): Promise<(type: KnownType) => boolean> {
  const served = new Set<string>();
  for (const { group, version } of typesLike(/(?:)/)) {
    const answer = await client.get(group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
    if (answer.status !== 200) continue;
    const { resources = [] } = answer.json as unknown as { readonly resources?: readonly { readonly name: string }[] };
    for (const { name } of resources) served.add(`${group}/${version}/${name}`);
  }
  return ({ group, version, plural }) => served.has(`${group}/${version}/${plural}`);
}

if (values.help || values.original === undefined) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}
process.exit((await run(values.original)) ? 0 : 1);
