// Requests that follow from one another, as both servers are sent them: each story is about a few objects in a namespace of its own,
// which are created, changed in every way, read, listed, watched and deleted. What a step says follows from the seed, from the
// numbers of story and step, and from what the original has answered before.

import type { JsonObject } from '../../api/json/json-value.ts';
import type { Dice } from '../fuzz/generate/dice.ts';
import { ODD_TEXTS } from '../fuzz/generate/junk.ts';
import { collectionOf, validObject } from './cases.ts';
import { type Made, type Place, query, type Scene, type Step, same } from './story-place.ts';
import { accepted, list, read, watch } from './story-reads.ts';
import {
  apply,
  create,
  deleteAll,
  deletion,
  drawn,
  MERGE,
  manner,
  merge,
  patchJson,
  replace,
  strategic,
  wanted,
} from './story-writes.ts';

const NAMES = ['a', 'b', 'c'];

/** The step of a story that comes next. */
export function nextStep(dice: Dice, scene: Scene): Step {
  const type = dice.pick(scene.types);
  const all = collectionOf(type, scene.namespace);
  const name = dice.pick(NAMES);
  const one = `${all}/${name}`;
  const place = { dice, scene, type, all, one, name, found: scene.objects.get(one) };
  const { group, plural, version } = type;
  const make = place.found === undefined && !dice.oneIn(5) ? create : dice.pick(STEPS);
  return { group, plural, version, ...make(place) };
}

/** Equally likely of an object that is there. */
const STEPS: readonly ((place: Place) => Made)[] = [
  ...[create, replace, replace, replace, merge, merge, strategic, strategic, patchJson, patchJson, apply, apply, apply],
  ...[deletion, deletion, deletion, deleteAll, read, list, list, list, watch, below, below, below, odd],
];

const REPLICAS = [0, 1, 3, -1, 'a', null, 2 ** 31, 1.5];

/** What lies below an object. */
function below(place: Place): Made {
  const { dice, one, type, name } = place;
  const names = [...type.subresources.keys()].filter((known) => SUBRESOURCES.has(known));
  const known = names.length === 0 || dice.oneIn(10) ? dice.pick(['status', 'scale', 'zz']) : dice.pick(names);
  const path = same(`${one}/${known}${query(...manner(dice))}`);
  if (known === 'scale' && dice.oneIn(2)) {
    return { method: 'PATCH', path, body: same({ spec: { replicas: dice.pick(REPLICAS) } }), contentType: MERGE };
  }
  if (known === 'scale') {
    const scale = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name },
      spec: { replicas: dice.pick(REPLICAS) },
    };
    return { method: 'PUT', path, body: drawn(scale as unknown as JsonObject, place) };
  }
  if (known === 'eviction') {
    const eviction = {
      apiVersion: 'policy/v1beta1',
      kind: 'Eviction',
      metadata: { name: dice.pick([name, name, 'z']) },
    };
    return { method: 'POST', path, body: same(eviction) };
  }
  if (known === 'binding') {
    const target = { kind: dice.pick(['Node', 'Node', 'Pod', '']), name: dice.pick(['n1', 'n1', '']) };
    return { method: 'POST', path, body: same({ apiVersion: 'v1', kind: 'Binding', metadata: { name }, target }) };
  }
  if (dice.oneIn(3)) return { method: 'GET', path, ...accepted(dice) };
  return { method: 'PUT', path, body: drawn(wanted(place), place) };
}

const SUBRESOURCES = new Set(['status', 'scale', 'eviction', 'binding']);

/** Requests that no client should make. */
function odd(place: Place): Made {
  const { dice, one, all, type, scene } = place;
  const body = same(validObject(type, dice, scene.namespace));
  return dice.pick<() => Made>([
    () => ({ method: 'POST', path: same(one), body }),
    () => ({ method: 'PUT', path: same(all), body }),
    () => ({ method: 'PATCH', path: same(all), body, contentType: MERGE }),
    () => ({ method: 'PATCH', path: same(one), body, contentType: dice.pick(['application/json', 'text/plain', 'x']) }),
    () => ({ method: 'PUT', path: same(one), body: same({ ...body(), kind: 'Zz' }) }),
    () => ({
      method: 'POST',
      path: same(all),
      body: same({ ...body(), apiVersion: dice.pick(['v9', 'x/v1', 'a/b/c', '']) }),
    }),
    () => ({ method: 'POST', path: same(all), body: same({ kind: 'List', apiVersion: 'v1', items: [] }) }),
    () => ({ method: 'GET', path: same(`${all}/${encodeURIComponent(dice.pick(ODD_TEXTS.slice(0, 20)))}`) }),
    () => ({ method: 'PUT', path: same(`${all}/other`), body }),
    () => ({ method: 'OPTIONS', path: same(one) }),
    () => ({ method: 'POST', path: same(all), body: same([]) }),
  ])();
}
