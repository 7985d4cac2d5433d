// The cases of built-in types, and what of them both servers have before they are asked.
import type { JsonObject } from '../../api/json/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { diceOf } from '../fuzz/generate/dice.ts';
import type { HttpsClient } from '../server/https-client.ts';
import { caseOf, collectionOf, NAMESPACE, nameIn, typesLike, validObject } from './cases.ts';
import { type Asked, nameOf } from './report.ts';
import { requestOf } from './requests.ts';
import { ask, keep, type Sides } from './sides.ts';

/** Objects of these say what becomes of others' requests. */
const MEDDLING = /webhookconfigurations|apiservices|customresourcedefinitions|resourcequotas|limitranges/;
const KEPT_EACH = 3;

/** The cases of the types like the pattern that the original has, by number. */
export async function builtInCases(sides: Sides, seed: number, pattern: RegExp): Promise<(index: number) => Asked> {
  const types = await builtInTypes(sides, pattern);
  const kept = await keepObjects(sides, types, seed);
  return (index) => caseOf(seed, index, types, kept);
}

/** Requests that are odd in everything about those types, by number. */
export async function builtInRequests(sides: Sides, seed: number, pattern: RegExp): Promise<(index: number) => Asked> {
  const types = await builtInTypes(sides, pattern);
  const kept = await keepObjects(sides, types, seed);
  return (index) => requestOf(seed, index, types, kept);
}

/** The types like the pattern that the original has. */
export async function builtInTypes(sides: Sides, pattern: RegExp): Promise<readonly KnownType[]> {
  return typesLike(pattern).filter(await servedBy(sides.original));
}

/** Creates some valid objects of each type on both sides; those that both took, as each says the original has them. */
async function keepObjects(sides: Sides, types: readonly KnownType[], seed: number) {
  await ask(sides, { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } });
  const kept = new Map<KnownType, JsonObject[]>();
  for (const type of types.filter(({ plural }) => !MEDDLING.test(plural))) {
    const objects = new Map<string, JsonObject>();
    for (let index = 0; index < KEPT_EACH; index++) {
      const object = validObject(type, diceOf(seed, nameOf(type), index));
      if (await keep(sides, collectionOf(type), object, nameIn(object))) objects.set(nameIn(object), object);
    }
    kept.set(type, [...objects.values()]);
  }
  return kept;
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
