// Sets of tolerations: which of them others cover, held against the rule of two one by one.
import test from 'ava';
import { areTolerationsAllowed, mergedTolerations } from '../../../../actors/admission/plugins/tolerations.ts';
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { SeededRandom } from '../../../../runtime/simulation/seeded-random.ts';

const MANY = 30_000;

/** Whether one tolerates everything that the other does. */
function toleratesAll(wide: JsonObject, narrow: JsonObject): boolean {
  if (deepEqual(wide, narrow)) return true;
  const isOfAnyKey = wide.key === undefined && wide.operator === 'Exists';
  if (wide.key !== narrow.key && !isOfAnyKey) return false;
  if (wide.effect !== undefined && wide.effect !== narrow.effect) return false;
  const [most, asked] = [wide.tolerationSeconds, narrow.tolerationSeconds].map((one) => one ?? Infinity);
  if (wide.effect === 'NoExecute' && (asked as number) > (most as number)) return false;
  if (wide.operator === 'Exists') return true;
  return (wide.operator ?? 'Equal') === 'Equal' && narrow.operator === 'Equal' && narrow.value === wide.value;
}

function mergedOneByOne(all: readonly JsonObject[]): readonly JsonObject[] {
  const merged: JsonObject[] = [];
  for (const [index, one] of all.entries()) {
    const later = all.slice(index + 1).filter((other) => !deepEqual(one, other));
    if (![...merged, ...later].some((other) => toleratesAll(other, one))) merged.push(one);
  }
  return merged;
}

function someOf(random: SeededRandom): readonly JsonObject[] {
  const oneOf = (...values: unknown[]): unknown => values[random.below(values.length)];
  return Array.from({ length: random.below(8) }, () => {
    const members = {
      key: oneOf(undefined, 'a', 'b'),
      operator: oneOf(undefined, 'Exists', 'Equal', 'Equal', 'Other'),
      effect: oneOf(undefined, 'NoSchedule', 'NoExecute'),
      value: oneOf(undefined, 'v', 'w'),
      tolerationSeconds: oneOf(undefined, undefined, -1, 0, 10, 20),
    };
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
  });
}

test('tolerations are merged and allowed as if each were held against each', (t) => {
  for (let seed = 1; seed <= 5000; seed++) {
    const random = new SeededRandom(seed);
    const [first, second] = [someOf(random), someOf(random)];
    const text = JSON.stringify([first, second]);
    t.deepEqual(mergedTolerations(first, second), mergedOneByOne([...first, ...second]), text);
    const isAllowed = second.length === 0 || first.every((one) => second.some((other) => toleratesAll(other, one)));
    t.is(areTolerationsAllowed(first, second), isAllowed, text);
  }
});

test('tens of thousands of tolerations are merged with as many, and allowed by them', (t) => {
  const named = (name: string): JsonObject[] =>
    Array.from({ length: MANY }, (_, index) => ({ key: `${name}${index}`, operator: 'Exists' }));
  const [own, given] = [named('own'), named('given')];
  const merged = mergedTolerations(own, given);
  t.deepEqual(merged, [...own, ...given]);
  t.true(areTolerationsAllowed(merged, [...given, ...own]));
  t.false(areTolerationsAllowed(merged, given));
});
