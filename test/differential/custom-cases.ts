// The requests about custom types: definitions with changes, and objects of those that both servers have, created, updated, patched,
// applied, scaled and read through all of their versions. Each is made again by the run's seed and its number alone.
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { type Dice, diceOf } from '../fuzz/generate/dice.ts';
import { junk } from '../fuzz/generate/junk.ts';
import { mutatedValue } from '../fuzz/generate/mutate-value.ts';
import {
  type CustomDefinition,
  type CustomVersion,
  DEFINITIONS,
  definitionOf,
  objectsOf,
} from './custom-definitions.ts';
import { type Dict, NAMES, valueFor } from './custom-schemas.ts';
import type { Asked } from './report.ts';

const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const KEPT = ['kept-0', 'kept-1', 'kept-2'];
const POINTERS = [
  '/spec',
  '/status',
  '/other',
  '/spec/a',
  '/spec/b',
  '/spec/c/0',
  '/spec/c/-',
  '/metadata/labels',
  '/zz',
];
const REPLICAS = [0, 1, -1, 'a', null, 2 ** 31, 1.5];

/** The objects of a definition that are kept at both, with the paths that they are created at. */
export function keptObjects(seed: number, definition: CustomDefinition, namespace: string) {
  return KEPT.map((name) => {
    const dice = diceOf(seed, `${definition.plural} ${name}`, 0);
    const version = dice.pick(definition.versions);
    const body = objectOf(dice, definition, version, { name, namespace });
    return { path: objectsOf(definition, version.name, namespace), body, name };
  });
}

/** The case of a number: one in eight is a definition, all others are of objects of the definitions given. */
export function customCaseOf(
  seed: number,
  index: number,
  definitions: readonly CustomDefinition[],
  namespace: string,
): Asked {
  const dice = diceOf(seed, 'custom', index);
  if (definitions.length === 0 || dice.oneIn(8)) return ofDefinition(seed, index, dice);
  const definition = dice.pick(definitions);
  const version = dice.pick(definition.versions);
  const place = { name: dice.oneIn(4) ? `new-${index}` : dice.pick(KEPT), namespace };
  const body = objectOf(dice, definition, version, place);
  const all = objectsOf(definition, version.name, namespace);
  const asked = dice.pick(REQUESTS)(dice, { body, all, one: `${all}/${place.name}` });
  return { group: definition.group, plural: definition.plural, ...asked };
}

/** Mostly with a change, which definitions are often refused for. */
function ofDefinition(seed: number, index: number, dice: Dice): Asked {
  const { body } = definitionOf(seed, index);
  const spec = dice.oneIn(4)
    ? body.spec
    : mutatedValue(structuredClone(body.spec), dice, 1 + dice.small(2), suggestion);
  const named = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };
  return { ...named, method: 'POST', path: `${DEFINITIONS}?dryRun=All`, body: { ...body, spec } };
}

function suggestion(name: string, dice: Dice): unknown {
  return Object.hasOwn(SUGGESTIONS, name) ? dice.pick(SUGGESTIONS[name]!) : junk(dice);
}

const SUGGESTIONS: Readonly<Record<string, readonly unknown[] | undefined>> = {
  type: ['string', 'integer', 'object', 'array', 'number', '', 'null', 'any'],
  pattern: ['(', 'a**', '(?=a)', 'a{1001}', '^a'],
  scope: ['Cluster', 'Namespaced', 'namespaced', ''],
  jsonPath: ['', '.', 'a b', '.a[', '{', '.a[?(@.b==1)]', '.spec['],
  specReplicasPath: ['.status.a', 'spec.a', '.spec', '', '.a.b'],
  items: [{}, { type: 'string' }, [], [{ type: 'string' }], { type: 'array' }, { type: 'object', nullable: true }],
  additionalProperties: [true, false, {}, { type: 'string' }],
  required: [['a', 'a'], [], [''], 'a'],
  enum: [[], [1, 1], [{}], 1],
  name: ['v1', 'V1', '', 'a.b'],
  default: [1, 'a', {}, [], null, { kind: 'Pod' }],
  not: [{}, { type: 'string' }, { default: 1 }, { properties: { zz: {} } }],
  anyOf: [[{}], [], [{ type: 'integer' }, { type: 'string' }]],
  versions: [[], null],
  openAPIV3Schema: [{}, null, { type: 'string' }, { type: 'object', nullable: true }],
};

interface Sent {
  readonly body: JsonObject;
  readonly all: string;
  readonly one: string;
}

type Request = (dice: Dice, sent: Sent) => Omit<Asked, 'group' | 'plural'>;

/** Equally likely. */
const REQUESTS: readonly Request[] = [
  (_, { body, all }) => ({ method: 'POST', path: `${all}?dryRun=All`, body }),
  (dice, { body, all }) => ({ method: 'POST', path: `${all}?dryRun=All`, body: changed(dice, body) }),
  (dice, { body, one }) => ({ method: 'PUT', path: `${one}${status(dice)}?dryRun=All`, body: changed(dice, body) }),
  (dice, { body, one }) => ({ ...patchOf(dice, one), body: partOf(dice, body), contentType: MERGE }),
  (dice, { one }) => ({ ...patchOf(dice, one), body: jsonPatch(dice), contentType: 'application/json-patch+json' }),
  (dice, { body, one }) => {
    const manner = `dryRun=All&fieldManager=m${dice.oneIn(2) ? '&force=true' : ''}`;
    return { method: 'PATCH', path: `${one}${status(dice)}?${manner}`, body, contentType: APPLY };
  },
  (dice, { one }) => {
    const body = { spec: { replicas: dice.pick(REPLICAS) } };
    return { method: 'PATCH', path: `${one}/scale?dryRun=All`, body, contentType: MERGE };
  },
  (dice, { all, one }) => {
    const path = dice.pick([one, all, `${all}?limit=2`, `${all}?labelSelector=a`, `${one}/scale`, `${one}/status`]);
    return { method: 'GET', path, ...(dice.oneIn(2) ? { accept: TABLE } : {}) };
  },
];

const status = (dice: Dice): string => (dice.oneIn(4) ? '/status' : '');

function patchOf(dice: Dice, one: string) {
  return { method: 'PATCH', path: `${one}${status(dice)}?dryRun=All` } as const;
}

function jsonPatch(dice: Dice): readonly object[] {
  return Array.from({ length: 1 + dice.below(3) }, () => {
    const op = dice.pick(['add', 'replace', 'remove', 'test', 'copy', 'move']);
    const step = { op, path: dice.pick(POINTERS) };
    if (op === 'copy' || op === 'move') return { ...step, from: dice.pick(POINTERS) };
    return op === 'remove' ? step : { ...step, value: dice.pick([1, 'a', {}, [], true, { a: 1 }, [{}]]) };
  });
}

/** All but what tells which object it is, most of the time. */
function partOf(dice: Dice, { apiVersion, kind, metadata, ...rest }: JsonObject): JsonObject {
  return dice.oneIn(4) ? { apiVersion, kind, metadata, ...rest } : rest;
}

/** Sometimes with a change in what is not metadata. */
function changed(dice: Dice, { apiVersion, kind, metadata, ...rest }: JsonObject): JsonObject {
  const after = dice.oneIn(2) ? rest : mutatedValue(structuredClone(rest), dice, 1, (_, from) => junk(from));
  return { apiVersion, kind, metadata, ...(isJsonObject(after) ? after : rest) };
}

function objectOf(
  dice: Dice,
  { group, kind, namespaced }: CustomDefinition,
  { name: version, schema }: CustomVersion,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): JsonObject {
  const value = valueFor(dice, { ...schema, nullable: false }, 3);
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = isJsonObject(value) ? value : {};
  const metadata: Dict = { name, ...(namespaced ? { namespace } : {}) };
  if (dice.oneIn(4)) metadata.labels = { a: dice.pick(['b', 'c', '-']) };
  if (dice.oneIn(8)) metadata.annotations = { a: dice.pick(NAMES) };
  return { apiVersion: `${group}/${version}`, kind, metadata, ...rest };
}
