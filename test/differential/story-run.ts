// Tells stories to both servers, step by step, and says what their answers differ in, versions and uids included: what was one at the
// original has to be one here.

import { parse } from 'yaml';
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { asObject } from '../../api/json/object-fields.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { type Dice, diceOf } from '../fuzz/generate/dice.ts';
import type { Answer, ApiObject } from '../server/https-client.ts';
import { differences } from './differences.ts';
import type { Asked } from './report.ts';
import { ask, askEach, type Sides } from './sides.ts';
import type { Pair, Scene, Side, Step } from './story-place.ts';

const STEPS_EACH = 40;
const TYPES_EACH = 2;

/** A step of a story, and in what the answers to it differ. */
export interface Told {
  readonly asked: Asked;
  readonly answers: Pair<Answer>;
  readonly lines: readonly string[];
}

/** What stories are about. */
export interface Plot {
  readonly seed: number;
  /** Of the objects; none where the steps go by themselves. */
  readonly types: readonly KnownType[];
  readonly next: (dice: Dice, scene: Scene) => Step;
}

/** Tells the story of a number; it ends where one server took what the other refused. */
export async function* tell(sides: Sides, { seed, types, next }: Plot, index: number): AsyncGenerator<Told> {
  const dice = diceOf(seed, 'story', index);
  const namespace = `story-${seed}-${index}`;
  await ask(sides, { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
  const chosen = types.length === 0 ? [] : Array.from({ length: TYPES_EACH }, () => dice.pick(types));
  const scene: Scene = { namespace, types: chosen, objects: new Map(), versions: [] };
  const twins = new Twins();
  for (let left = STEPS_EACH; left > 0; left--) {
    const step = next(dice, scene);
    const told = await answersTo(sides, step);
    const lines = [...linesOf(told.answers), ...twins.linesOf(told.answers)];
    yield { ...told, lines };
    const { original, ours } = told.answers;
    if (original.status >= 300 !== ours.status >= 300) return;
    remember(scene, told.asked, told.answers);
  }
}

async function answersTo(sides: Sides, step: Step): Promise<Omit<Told, 'lines'>> {
  const { path, body, ...rest } = step;
  const asked = (side: Side): Asked => ({
    ...rest,
    path: path(side),
    ...(body === undefined ? {} : { body: body(side) }),
  });
  const [original, ours] = await askEach(sides, { original: asked('original'), ours: asked('ours') });
  return { asked: asked('original'), answers: { original: inOrder(original), ours: inOrder(ours) } };
}

/** What the original answers in any order, of a list or at the beginning of a watch, by name. */
function inOrder(answer: Answer): Answer {
  const isEvents = /^\s*\{"type":"[A-Z]+","object":/.test(answer.text);
  if (isEvents) return withText(answer, eventsOf(answer.text));
  const body = parsed(answer);
  const members = ['items', 'rows'].filter((name) => Array.isArray(body[name]));
  if (members.length === 0) return answer;
  const sorted = members.map((name) => [name, (body[name] as JsonObject[]).sort(byPlace)]);
  return withText(answer, JSON.stringify({ ...body, ...Object.fromEntries(sorted) }));
}

/** The answer with another text. */
export function withText({ status, headers, bytes }: Answer, text: string): Answer {
  return {
    status,
    headers,
    bytes,
    text,
    get json() {
      return JSON.parse(text) as ApiObject;
    },
  };
}

function byPlace(one: JsonObject, other: JsonObject): number {
  return byName(JSON.stringify(one), JSON.stringify(other));
}

/** The events of a watch as a list. */
function eventsOf(text: string): string {
  const events = text.trim().split('\n');
  const changed = events.findIndex((event) => !event.trimStart().startsWith('{"type":"ADDED"'));
  const begun = changed < 0 ? events.length : changed;
  return `[${[...events.slice(0, begun).sort(byName), ...events.slice(begun)].join(',')}]`;
}

/** Of texts that tell an object, by its name. */
function byName(one: string, other: string): number {
  const [name, otherName] = [one, other].map((text) => /"name":"([^"]*)","namespace"/.exec(text)?.[1] ?? '');
  return name! < otherName! ? -1 : name === otherName ? 0 : 1;
}

const PLAIN_REFUSAL = ['reason', 'status', 'kind'] as const;

function linesOf(answers: Pair<Answer>): readonly string[] {
  const [original, ours] = [plain(answers.original), plain(answers.ours)];
  const lines = [...differences(original, ours)];
  const [type, ourType] = [original.headers['content-type'], ours.headers['content-type']];
  if (type !== ourType) lines.push(`content-type: ${type} | ${ourType}`);
  if (original.status < 400 || original.status !== ours.status) return lines;
  const [one, other] = [parsed(original), parsed(ours)];
  for (const name of PLAIN_REFUSAL) if (one[name] !== other[name]) lines.push(`${name}: ${one[name]} | ${other[name]}`);
  const [details, ourDetails] = [detailsOf(one), detailsOf(other)];
  if (details !== ourDetails) lines.push(`details: ${details} | ${ourDetails}`);
  return lines;
}

/** What is drawn anew each time, as far as it stands in texts. */
const DRAWN_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  [/\b([abc])-[a-z0-9]{5}\b/g, '$1-drawn'],
  [/\b10\.0\.\d+\.\d+/g, 'ADDRESS'],
  [/("nodePort":)3\d{4}/g, '$10'],
  [/(in the precondition |in record )\(\d+\)/g, '$1'],
  [/(too old resource version: |resource version: )\d+(?: \(\d+\))?/g, '$1'],
];

function plain(answer: Answer): Answer {
  const { headers, text } = answer;
  const isYaml = String(headers['content-type']).startsWith('application/yaml');
  let told = isYaml ? JSON.stringify(parse(text)) : text;
  for (const [drawn, instead] of DRAWN_TEXTS) told = told.replace(drawn, instead);
  return withText(answer, told);
}

function detailsOf({ details }: JsonObject): string {
  const { causes: _, uid: __, ...rest } = asObject(details);
  return JSON.stringify(Object.fromEntries(Object.entries(rest).sort()));
}

function parsed(answer: Answer): JsonObject {
  try {
    return asObject(JSON.parse(answer.text));
  } catch {
    return {};
  }
}

/** Which of our versions and uids stands for which of the original's. */
class Twins {
  readonly #ours = new Map<string, string>();
  readonly #originals = new Map<string, string>();

  linesOf({ original, ours }: Pair<Answer>): readonly string[] {
    if (original.status >= 300 || ours.status >= 300) return [];
    const [one, other] = [drawnIn(original), drawnIn(ours)];
    const lines: string[] = [];
    for (const [place, value] of one) {
      const twin = other.get(place);
      if (twin === undefined) continue;
      const [known, before] = [this.#ours.get(value), this.#originals.get(twin)];
      if (known !== undefined && known !== twin) lines.push(`${place}: as before | another`);
      else if (before !== undefined && before !== value) lines.push(`${place}: another | as before`);
      this.#ours.set(value, twin);
      this.#originals.set(twin, value);
    }
    return lines;
  }
}

/** Versions and uids of an object, of a list's items, of events, by place; a list's own version is also of others' writes. */
function drawnIn(answer: Answer): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (place: string, value: unknown): void => {
    const { metadata } = asObject(value);
    if (!isJsonObject(metadata)) return;
    for (const name of ['resourceVersion', 'uid'] as const)
      if (typeof metadata[name] === 'string' && metadata[name] !== '') found.set(`${place}${name}`, metadata[name]);
  };
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return found;
  }
  if (Array.isArray(body)) {
    for (const [at, event] of (body as JsonObject[]).entries()) add(`[${at}].object.metadata.`, event.object);
  } else if (isJsonObject(body) && Array.isArray(body.items))
    for (const [at, item] of body.items.entries()) add(`.items[${at}].metadata.`, item);
  else if (isJsonObject(body) && Array.isArray(body.rows))
    for (const [at, row] of body.rows.entries()) add(`.rows[${at}].object.metadata.`, (row as JsonObject).object);
  else add('.metadata.', body);
  return found;
}

function remember(scene: Scene, { method, path }: Asked, { original, ours }: Pair<Answer>): void {
  if (original.status >= 300) return;
  const [one, other] = [parsed(original), parsed(ours)];
  const [metadata, ourMetadata] = [one.metadata, other.metadata];
  if (!isJsonObject(metadata) || !isJsonObject(ourMetadata)) return;
  if (typeof metadata.resourceVersion === 'string' && typeof ourMetadata.resourceVersion === 'string')
    scene.versions.push({ original: metadata.resourceVersion, ours: ourMetadata.resourceVersion });
  const [plainPath = ''] = path.split('?');
  if (typeof metadata.continue === 'string' && typeof ourMetadata.continue === 'string' && metadata.continue !== '')
    scene.token = { path: plainPath, value: { original: metadata.continue, ours: ourMetadata.continue } };
  if (path.includes('dryRun=') || one.kind === 'Scale' || one.kind === 'Table' || one.kind !== other.kind) return;
  if (typeof metadata.name !== 'string' || one.items !== undefined || metadata.name === '' || one.kind === 'Status') {
    if (method === 'DELETE') scene.objects.delete(plainPath);
    return;
  }
  const base = method === 'POST' ? `${plainPath}/${metadata.name}` : plainPath.replace(/\/(?:status|scale)$/, '');
  scene.objects.set(base, { original: one, ours: other });
}
