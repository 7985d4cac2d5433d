// Steps of stories that write: creates, updates and all kinds of patches with versions and uids that are right, old, wrong or left out, and
// deletes with every option.
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { asObject } from '../../api/json/object-fields.ts';
import { APPLY_PATCH, STRATEGIC_MERGE_PATCH } from '../../api/patch/apply-patch.ts';
import type { Dice } from '../fuzz/generate/dice.ts';
import { configuration, jsonPatch, mergePatch, strategicPatch } from '../fuzz/generate/patches.ts';
import { changed, validObject } from './cases.ts';
import { LABELS, type Made, type Place, query, type Side, same, sometimes } from './story-place.ts';

export const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const POLICIES = ['Foreground', 'Background', 'Orphan', 'foreground', ''];

/** What any write may say in its query. */
export function manner(dice: Dice): readonly string[] {
  return [
    sometimes(dice, 6, `dryRun=${dice.pick(['All', 'All', 'All', 'x', 'all'])}`),
    sometimes(dice, 4, `fieldManager=${dice.pick(['m1', 'm2', 'm%20x', 'x'.repeat(129), ''])}`),
  ];
}

export function create({ dice, scene, type, all, name }: Place): Made {
  const valid = validObject(type, dice, scene.namespace);
  const body = dice.oneIn(3) ? changedABit(valid, dice) : valid;
  const odd = dice.oneIn(25) ? { resourceVersion: '1' } : dice.oneIn(25) ? { finalizers: ['example.com/a'] } : {};
  const labels = dice.oneIn(3) ? { labels: { a: dice.pick(['b', 'c', '']), app: 'x' } } : {};
  return {
    method: 'POST',
    path: same(`${all}${query(...manner(dice))}`),
    body: same({ ...body, metadata: { ...asObject(body.metadata), name, ...labels, ...odd } }),
  };
}

const changedABit = (object: JsonObject, dice: Dice): JsonObject => changed(object, dice, 1 + dice.small(2));

/** The object without what servers draw. */
function plain(object: JsonObject): JsonObject {
  const {
    uid: _,
    resourceVersion: __,
    creationTimestamp: ___,
    managedFields: ____,
    ...metadata
  } = asObject(object.metadata);
  const { clusterIP: _____, clusterIPs: ______, ...spec } = asObject(object.spec);
  return { ...object, metadata, ...(object.kind === 'Service' ? { spec } : {}) } as JsonObject;
}

/** An object with each server's own version, uid and time, or with some of them left out, old or wrong. */
export function drawn(object: JsonObject, place: Place): (side: Side) => JsonObject {
  const { dice, found, scene } = place;
  const version = dice.pick(['own', 'own', 'own', 'none', 'none', 'old', 'odd'] as const);
  const uid = dice.pick(['own', 'own', 'none', 'none', 'odd'] as const);
  const old = scene.versions.length === 0 ? undefined : dice.pick(scene.versions);
  const keepsOwners = dice.oneIn(2);
  return (side) => {
    const own = found === undefined ? {} : asObject(found[side].metadata);
    const versions = { own: own.resourceVersion, none: undefined, old: old?.[side], odd: 'x' };
    const uids = { own: own.uid, none: undefined, odd: '11111111-1111-1111-1111-111111111111' };
    const { creationTimestamp, managedFields } = own;
    return {
      ...object,
      metadata: {
        ...asObject(object.metadata),
        ...said({ resourceVersion: versions[version], uid: uids[uid], creationTimestamp }),
        ...said(keepsOwners ? { managedFields } : {}),
      },
    } as JsonObject;
  };
}

function said(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

export function wanted(place: Place): JsonObject {
  const { dice, found, type, scene, name } = place;
  if (found === undefined) {
    const valid = validObject(type, dice, scene.namespace);
    return { ...valid, metadata: { ...asObject(valid.metadata), name } } as JsonObject;
  }
  return dice.oneIn(5) ? plain(found.original) : changedABit(plain(found.original), dice);
}

export function replace(place: Place): Made {
  const { dice, one } = place;
  const path = same(`${one}${sometimes(dice, 6, '/status')}${query(...manner(dice))}`);
  return { method: 'PUT', path, body: drawn(wanted(place), place) };
}

/** A patch is the same for both: nothing in it was drawn. */
function patch(place: Place, body: unknown, contentType: string): Made {
  const { dice, one } = place;
  const path = `${one}${sometimes(dice, 6, '/status')}${query(...manner(dice))}`;
  return { method: 'PATCH', path: same(path), body: same(body as object), contentType };
}

const patched = ({ found, type, dice, scene }: Place): JsonObject =>
  plain(found?.original ?? validObject(type, dice, scene.namespace));

export function merge(place: Place): Made {
  return patch(place, mergePatch(patched(place), place.dice), MERGE);
}

export function strategic(place: Place): Made {
  return patch(place, strategicPatch(patched(place), place.dice), STRATEGIC_MERGE_PATCH);
}

export function patchJson(place: Place): Made {
  return patch(place, jsonPatch(patched(place), place.dice), JSON_PATCH);
}

export function apply(place: Place): Made {
  const { dice, one } = place;
  const { status: _, ...whole } = wanted(place);
  const body = dice.oneIn(3) && isJsonObject(whole.metadata) ? configuration(whole as JsonObject, dice) : whole;
  const manager = dice.oneIn(20) ? '' : `fieldManager=${dice.pick(['m1', 'm2'])}`;
  const path = `${one}${sometimes(dice, 8, '/status')}${query(manager, sometimes(dice, 3, 'force=true'), sometimes(dice, 10, 'dryRun=All'))}`;
  return { method: 'PATCH', path: same(path), body: same(body as object), contentType: APPLY_PATCH };
}

export function deletion(place: Place): Made {
  const { dice, one, found, scene } = place;
  const asked = [
    ...manner(dice).filter((part) => part.startsWith('dryRun')),
    sometimes(dice, 4, `gracePeriodSeconds=${dice.pick(['0', '1', '30', '-1', 'x'])}`),
    sometimes(dice, 4, `propagationPolicy=${dice.pick(POLICIES)}`),
    sometimes(dice, 10, `orphanDependents=${dice.pick(['true', 'false', 'x'])}`),
  ];
  if (!dice.oneIn(3)) return { method: 'DELETE', path: same(`${one}${query(...asked)}`) };
  const old = scene.versions.length === 0 ? undefined : dice.pick(scene.versions);
  const kind = dice.pick(['uid', 'odd', 'version', 'old', 'policy', 'junk'] as const);
  const body = (side: Side): object => {
    const { uid, resourceVersion } = found === undefined ? {} : asObject(found[side].metadata);
    const options = {
      uid: { preconditions: said({ uid }) },
      odd: { preconditions: { uid: '11111111-1111-1111-1111-111111111111' } },
      version: { preconditions: said({ uid, resourceVersion }) },
      old: { preconditions: said({ resourceVersion: old?.[side] }) },
      policy: { propagationPolicy: 'Foreground', gracePeriodSeconds: 5 },
      junk: { gracePeriodSeconds: 'x' },
    };
    return { apiVersion: 'v1', kind: 'DeleteOptions', ...options[kind] };
  };
  // Beside a body, the original does not look at the query.
  return { method: 'DELETE', path: same(one), body };
}

export function deleteAll({ dice, all }: Place): Made {
  const parts = [`labelSelector=${encodeURIComponent(dice.pick(LABELS))}`, sometimes(dice, 4, 'dryRun=All')];
  return { method: 'DELETE', path: same(`${all}${query(...parts)}`) };
}
