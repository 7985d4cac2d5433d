// The cases of custom types: makes their definitions and some objects at both servers, and waits until both serve them.
import type { HttpsClient } from '../server/https-client.ts';
import { customCaseOf, keptObjects } from './custom-cases.ts';
import { type CustomDefinition, DEFINITIONS, definitionOf, isEstablished, objectsOf } from './custom-definitions.ts';
import type { Asked } from './report.ts';
import { ask, keep, type Sides } from './sides.ts';

const NAMESPACE = 'custom';
const LOOK_MS = 200;
const LOOKS_MAX = 150;
/** Of the definitions made, so many are not taken by either server. */
const TRIES_EACH = 6;

/** The cases of `count` definitions, by number. */
export async function customCases(sides: Sides, seed: number, count: number): Promise<(index: number) => Asked> {
  await ask(sides, { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } });
  const definitions: CustomDefinition[] = [];
  for (let index = 0; definitions.length < count && index < count * TRIES_EACH; index++) {
    const definition = definitionOf(seed, index);
    const { name } = definition.body.metadata as { readonly name: string };
    if (await keep(sides, DEFINITIONS, definition.body, name)) definitions.push(definition);
  }
  for (const definition of definitions) {
    await Promise.all([untilServed(sides.original, definition), untilServed(sides.ours, definition)]);
    for (const { path, body, name } of keptObjects(seed, definition, NAMESPACE)) await keep(sides, path, body, name);
  }
  return (index) => customCaseOf(seed, index, definitions, NAMESPACE);
}

/** Rejects when that takes half a minute. */
export async function untilServed(
  client: HttpsClient,
  definition: Pick<CustomDefinition, 'plural' | 'group' | 'namespaced'> & {
    readonly versions: readonly { readonly name: string }[];
  },
): Promise<void> {
  const { plural, group, versions } = definition;
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const { json } = await client.get(`${DEFINITIONS}/${plural}.${group}`);
    const lists = await Promise.all(versions.map(({ name }) => client.get(objectsOf(definition, name, NAMESPACE))));
    if (isEstablished(json) && lists.every(({ status }) => status === 200)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`${plural}.${group} is not served`);
}
