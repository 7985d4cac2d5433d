// Strategic merge patches as clients make them: a patch made of two objects turns the one into the other, order and all.
// The patch is made here, by the schema, the way client-side apply makes its own.
import test from 'ava';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { type MemberShape, memberShape, type Shape, shapeOf } from '../../../api/patch/patch-shape.ts';
import { applyStrategicMergePatch } from '../../../api/patch/strategic-merge-patch.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { oneOf, randomNumbers } from './apply/seeded.ts';
import { frozen } from './sample-type.ts';

const POD = schemaOf(DIALECTS.orch).type('core/v1.Pod');

test('the patch of the difference between two objects turns the one into the other', (t) => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomNumbers(seed);
    const original = frozen(podOf(random));
    const modified = frozen(podOf(random));
    const patch = frozen(patchOf(original, modified, shapeOf(POD)));
    const patched = applyStrategicMergePatch(original, patch, POD);
    t.deepEqual(patched, modified, `seed ${seed}: ${JSON.stringify(patch)}`);
    t.is(applyStrategicMergePatch(patched, patch, POD), patched, `seed ${seed}: not the same when repeated`);
  }
});

test('the patch of no difference changes nothing', (t) => {
  for (let seed = 1; seed <= 100; seed++) {
    const pod = frozen(podOf(randomNumbers(seed)));
    t.is(applyStrategicMergePatch(pod, patchOf(pod, pod, shapeOf(POD)), POD), pod);
  }
});

test('a patch keeps what others have added to the object since', (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomNumbers(seed);
    const original = podOf(random);
    const modified = podOf(random);
    const patch = patchOf(original, modified, shapeOf(POD));
    const sidecar = { name: 'sidecar', image: 'mesh' };
    const list = (pod: JsonObject): readonly JsonObject[] =>
      (pod.spec as { containers: readonly JsonObject[] }).containers;
    const live = { ...original, spec: { ...(original.spec as JsonObject), containers: [...list(original), sidecar] } };
    const patched = list(applyStrategicMergePatch(frozen(live), frozen(patch), POD));
    t.deepEqual(
      patched.filter(({ name }) => name !== 'sidecar'),
      list(modified),
      `seed ${seed}`,
    );
    t.deepEqual(
      patched.find(({ name }) => name === 'sidecar'),
      sidecar,
      `seed ${seed}`,
    );
  }
});

function patchOf(original: JsonObject, modified: JsonObject, shape: Shape): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(original)) if (!Object.hasOwn(modified, name)) patch[name] = null;
  for (const [name, after] of Object.entries(modified)) {
    const before = original[name];
    const member = memberShape(shape, name);
    if (deepEqual(before, after)) continue;
    if (isJsonObject(before) && isJsonObject(after)) patch[name] = patchOf(before, after, member.below);
    else if (Array.isArray(before) && Array.isArray(after) && member.merges)
      addListPatch(patch, name, member, before, after);
    else patch[name] = after;
  }
  return patch;
}

function addListPatch(
  patch: Record<string, unknown>,
  name: string,
  member: MemberShape,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  const { mergeKey, below } = member;
  if (mergeKey === undefined) {
    patch[name] = after.filter((value) => !before.includes(value));
    patch[`$deleteFromPrimitiveList/${name}`] = before.filter((value) => !after.includes(value));
    patch[`$setElementOrder/${name}`] = after;
    return;
  }
  const keyOf = (element: unknown): unknown => (element as JsonObject)[mergeKey];
  const changes = (after as readonly JsonObject[]).flatMap((element) => {
    const earlier = (before as readonly JsonObject[]).find((other) => keyOf(other) === keyOf(element));
    if (earlier === undefined) return [element];
    const change = patchOf(earlier, element, below);
    return Object.keys(change).length === 0 ? [] : [{ ...change, [mergeKey]: keyOf(element) }];
  });
  const gone = before.filter((element) => !after.some((other) => keyOf(other) === keyOf(element)));
  patch[name] = [...changes, ...gone.map((element) => ({ [mergeKey]: keyOf(element), $patch: 'delete' }))];
  patch[`$setElementOrder/${name}`] = after.map((element) => ({ [mergeKey]: keyOf(element) }));
}

/** A pod of some of everything that merges in its own way: maps, keyed lists in keyed lists, sets, lists replaced whole. */
function podOf(random: () => number): JsonObject {
  const value = (): string => oneOf(random, ['1', '2', '3']);
  const some = (names: readonly string[]): string[] => shuffled(names, random).filter(() => random() < 0.6);
  const maybe = (member: JsonObject): JsonObject => (random() < 0.6 ? member : {});
  const container = (name: string): JsonObject => ({
    name,
    ...maybe({ image: value() }),
    ...maybe({ args: some(['x', 'y', 'z']) }),
    ...maybe({ env: some(['A', 'B', 'C']).map((variable) => ({ name: variable, value: value() })) }),
    ...maybe({
      ports: some(['80', '81', '82']).map((port) => ({ containerPort: Number(port), ...maybe({ name: `p${port}` }) })),
    }),
    ...maybe({ resources: { limits: Object.fromEntries(some(['cpu', 'memory']).map((name) => [name, value()])) } }),
  });
  return {
    metadata: {
      name: 'it',
      ...maybe({ labels: Object.fromEntries(some(['a', 'b', 'c']).map((name) => [name, value()])) }),
      ...maybe({ finalizers: some(['x/a', 'x/b', 'x/c', 'x/d']) }),
    },
    spec: {
      containers: some(['a', 'b', 'c', 'd']).map(container),
      ...maybe({ volumes: some(['v', 'w']).map((name) => ({ name, ...maybe({ emptyDir: {} }) })) }),
      ...maybe({ tolerations: some(['k', 'l']).map((key) => ({ key, value: value() })) }),
      ...maybe({ nodeSelector: { disk: value() } }),
    },
  };
}

function shuffled(names: readonly string[], random: () => number): string[] {
  const list = [...names];
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [list[index], list[other]] = [list[other]!, list[index]!];
  }
  return list;
}
