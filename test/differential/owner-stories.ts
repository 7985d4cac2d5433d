// Stories about who owns what: three managers create, apply, force, replace and patch one object, and both servers have to answer the
// same objects with the same owners, the same conflicts, and a new version exactly where the other has one.
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { asObject } from '../../api/json/object-fields.ts';
import { APPLY_PATCH } from '../../api/patch/apply-patch.ts';
import type { Dice } from '../fuzz/generate/dice.ts';
import type { Answer } from '../server/https-client.ts';
import { differences } from './differences.ts';
import { OWNED_KINDS, type OwnedKind, saidMetadata } from './owned-objects.ts';
import { type Made, type Pair, query, type Scene, type Step, same } from './story-place.ts';
import { withText } from './story-run.ts';
import { MERGE } from './story-writes.ts';

const MANAGERS = ['m0', 'm1', 'm2'];
const NAME = 'owned';

interface OwnedPlace {
  readonly dice: Dice;
  readonly scene: Scene;
  readonly all: string;
  /** What a manager says this time. */
  readonly body: JsonObject;
}

type Way = (place: OwnedPlace) => Made;

/** The step of a story that comes next. Each is about one object, whose kind goes by the first throw of the dice. */
export function nextOwnerStep(dice: Dice, scene: Scene): Step {
  const [known] = scene.objects.keys();
  const owned = OWNED_KINDS.find(({ plural }) => known?.includes(`/${plural}/`)) ?? dice.pick(OWNED_KINDS);
  const { group, plural, version } = owned;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = { dice, scene, all: `${root}/namespaces/${scene.namespace}/${plural}`, body: bodyOf(owned, dice) };
  const make = dice.pick(known === undefined ? FIRST : LATER);
  return { group, plural, version, ...make(place) };
}

function bodyOf({ group, version, kind, said }: OwnedKind, dice: Dice): JsonObject {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind, metadata: { name: NAME, ...saidMetadata(dice) }, ...said(dice) } as JsonObject;
}

const managed = ({ dice }: OwnedPlace, ...more: readonly string[]): string =>
  query(`fieldManager=${dice.pick(MANAGERS)}`, ...more);

const create: Way = (place) => ({
  method: 'POST',
  path: same(`${place.all}${managed(place)}`),
  body: same(place.body),
});

const applying =
  (...more: readonly string[]): Way =>
  (place) => ({
    method: 'PATCH',
    path: same(`${place.all}/${NAME}${managed(place, ...more)}`),
    body: same(place.body),
    contentType: APPLY_PATCH,
  });

/** An element of a list with keys comes twice, which no applier may say. */
const applyTwice: Way = (place) => {
  const spec = asObject(place.body.spec);
  const [name, elements] = Object.entries(spec).find(([, value]) => isOfObjects(value)) ?? [];
  if (name === undefined || !Array.isArray(elements)) return applying()(place);
  const body = { ...place.body, spec: { ...spec, [name]: [...(elements as unknown[]), elements[0] as unknown] } };
  return applying()({ ...place, body: body as JsonObject });
};

const isOfObjects = (value: unknown): boolean => Array.isArray(value) && isJsonObject(value[0]);

const merge: Way = (place) => {
  const { apiVersion: _, kind: __, ...body } = place.body;
  return {
    method: 'PATCH',
    path: same(`${place.all}/${NAME}${managed(place)}`),
    body: same(body),
    contentType: MERGE,
  };
};

/** A service has to be told its version in 1.20. */
const replace: Way = (place) => ({
  method: 'PUT',
  path: same(`${place.all}/${NAME}${managed(place)}`),
  body: (side) => {
    const found = [...place.scene.objects.values()][0]?.[side];
    if (found?.kind !== 'Service') return place.body;
    const { resourceVersion } = asObject(found.metadata);
    return { ...place.body, metadata: { ...asObject(place.body.metadata), resourceVersion } };
  },
});

const [apply, force] = [applying(), applying('force=true')];
const FIRST = [create, apply, apply];
const LATER = [apply, apply, apply, force, force, applying('force=true', 'dryRun=All'), replace, merge, applyTwice];

const CONFLICTS = /^Apply failed with (\d+) conflict/;

/**
 * What two answers differ in, but for the order of owners, which is that of their times. Of refusals the original may name one place of a
 * conflict twice, and another not: their number is compared.
 *
 * @param told what was found by the story, versions among it.
 */
export function ownerLines(told: readonly string[], { original, ours }: Pair<Answer>): readonly string[] {
  const [one, other] = [original, ours].map(({ json }) => CONFLICTS.exec(json.message ?? '')?.[1]);
  if (one !== undefined && one === other) return [];
  const lines = differences(withOwnersInOrder(original), withOwnersInOrder(ours));
  return [...lines, ...told.filter((line) => VERSIONS.test(line))].filter((line) => !SAID_ALIKE.test(line));
}

const VERSIONS = /^[^"]*: (?:as before|another) \| (?:as before|another)$/;
/** Both refuse what does not fit its type, and the original calls that its own error. */
const SAID_ALIKE =
  /^answer: 500 failed to create typed patch object: (.*) \| 400 failed to create typed patch object: \1$/s;

function withOwnersInOrder(answer: Answer): Answer {
  const { json } = answer;
  const { managedFields, ...metadata } = asObject(json.metadata);
  if (!Array.isArray(managedFields)) return answer;
  const inOrder = [...(managedFields as JsonObject[])].sort((left, right) => (placeOf(left) < placeOf(right) ? -1 : 1));
  return withText(answer, JSON.stringify({ ...json, metadata: { ...metadata, managedFields: inOrder } }));
}

const placeOf = ({ manager, operation, apiVersion }: JsonObject): string => [operation, manager, apiVersion].join(' ');
