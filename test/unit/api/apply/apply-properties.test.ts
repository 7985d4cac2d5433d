// What holds of any applies, over generated configurations of one kind: seeds are fixed, and a failure names its seed.
import test from 'ava';
import { assertedFields } from '../../../../api/apply/asserted-fields.ts';
import { pathText } from '../../../../api/apply/field-path.ts';
import { places } from '../../../../api/apply/field-set.ts';
import { readFields } from '../../../../api/apply/managed-entries.ts';
import { ownedType } from '../../../../api/apply/owned-type.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import { casesOf } from '../../../server/effort.ts';
import { kindNamed, LiveObject } from './live-object.ts';
import { oneOf, randomNumbers } from './seeded.ts';

const DEPLOYMENT = kindNamed('apps/v1.Deployment');
const SEEDS = casesOf(40);

test('an apply that is repeated makes no difference', (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomNumbers(seed);
    const live = new LiveObject(DEPLOYMENT);
    scramble(live, random, 4);
    const config = configOf(random);
    live.apply('self', config, { force: true });
    live.apply('self', config);
    t.true(live.unchanged, `seed ${seed}: ${JSON.stringify(config)}`);
  }
});

test('appliers of different fields can come in any order', (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomNumbers(seed);
    const left = configOf(random, ['a', 'b'], 'left');
    const right = configOf(random, ['c', 'd'], 'right');
    const [first, second] = [
      [left, right],
      [right, left],
    ].map((configs) => {
      const live = new LiveObject(DEPLOYMENT);
      for (const config of configs) live.apply(config === left ? 'left' : 'right', config);
      return live;
    });
    t.deepEqual(unordered(first!.content), unordered(second!.content), `seed ${seed}`);
    for (const manager of ['left', 'right']) {
      t.deepEqual(first!.fieldsOf(manager), second!.fieldsOf(manager), `seed ${seed}`);
    }
  }
});

test('after a forced apply nobody else owns what it changed, and the object says what was applied', (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomNumbers(seed);
    const live = new LiveObject(DEPLOYMENT);
    scramble(live, random, 5);
    const config = configOf(random);
    const contested = conflictsOf(live, config);
    live.apply('self', config, { force: true });
    for (const path of contested) t.deepEqual(live.ownersOf(path), ['self/Apply'], `seed ${seed} ${path}`);
    t.deepEqual(conflictsOf(live, config), [], `seed ${seed}`);
    const asserted = assertedFields({ ...config }, ownedType(DEPLOYMENT.schema).rule);
    t.deepEqual(live.fieldsOf('self'), [...places(asserted)].map(pathText), `seed ${seed}`);
  }
});

test('every owner has said what it owns, and entries stand in their one form', (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomNumbers(seed);
    const live = new LiveObject(DEPLOYMENT);
    const said = scramble(live, random, 8);
    const { rule } = ownedType(DEPLOYMENT.schema);
    for (const { manager = '', fieldsV1, operation } of live.entries) {
      if (operation !== 'Apply') continue;
      const config = said.get(manager)!;
      const asserted = new Set([...places(assertedFields(config, rule))].map(pathText));
      for (const path of [...places(fieldsV1 as never)].map(pathText))
        t.true(asserted.has(path), `seed ${seed} ${path}`);
      t.is(JSON.stringify(readFields(fieldsV1)), JSON.stringify(fieldsV1), `seed ${seed}`);
    }
  }
});

test('an apply without conflict leaves what others own as it was', (t) => {
  let applied = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = randomNumbers(seed);
    const live = new LiveObject(DEPLOYMENT);
    scramble(live, random, 5);
    const before = new Map(live.entries.map((entry) => [`${entry.manager}/${entry.operation}`, entry]));
    // Mostly fields of its own, beside some that others have.
    const config = configOf(random, ['d', 'e', 'a'], 'self');
    if (!isApplied(live, config)) continue;
    applied++;
    for (const [name, entry] of before) {
      if (name === 'self/Apply') continue;
      const after = live.entries.find(({ manager, operation }) => `${manager}/${operation}` === name);
      t.deepEqual(after?.fieldsV1, entry.fieldsV1, `seed ${seed} ${name}`);
    }
  }
  t.true(applied >= SEEDS / 8, `${applied} applies without conflict`);
});

/** False when it conflicts. */
function isApplied(live: LiveObject, config: JsonObject): boolean {
  try {
    live.apply('self', config);
    return true;
  } catch (error) {
    if (isStatusError(error) && error.status.code === 409) return false;
    throw error;
  }
}

/** Several managers at work; answers what each has applied last. */
function scramble(live: LiveObject, random: () => number, steps: number): ReadonlyMap<string, JsonObject> {
  const said = new Map<string, JsonObject>();
  for (let step = 0; step < steps; step++) {
    const manager = oneOf(random, ['one', 'two', 'three']);
    const config = configOf(random);
    if (step > 0 && random() < 0.3) {
      live.update(manager, (object) => {
        object.spec.replicas = Math.floor(random() * 5) + 2;
        object.metadata.labels = { ...object.metadata.labels, [oneOf(random, ['a', 'b', 'c'])]: String(random()) };
      });
    } else {
      live.apply(manager, config, { force: true });
      said.set(manager, { apiVersion: 'apps/v1', kind: 'Deployment', ...config });
    }
  }
  return said;
}

function conflictsOf(live: LiveObject, config: JsonObject): readonly string[] {
  try {
    live.apply('self', config);
    return [];
  } catch (error) {
    if (!isStatusError(error) || error.status.code !== 409) throw error;
    return [...new Set((error.status.details?.causes ?? []).map(({ field = '' }) => field))];
  }
}

/** A configuration with some labels, containers, ports and variables out of a few names. */
function configOf(random: () => number, names: readonly string[] = ['a', 'b', 'c'], mark = ''): JsonObject {
  const some = (): string[] => names.filter(() => random() < 0.6);
  const value = (): string => oneOf(random, ['1', '2', '3']);
  const container = (name: string): JsonObject => ({
    name,
    ...(random() < 0.7 ? { image: value() } : {}),
    ...(random() < 0.4 ? { args: some() } : {}),
    ...(random() < 0.5 ? { ports: some().map((_, index) => ({ containerPort: 80 + index })) } : {}),
    ...(random() < 0.5 ? { env: some().map((variable) => ({ name: variable, value: value() })) } : {}),
  });
  const isWhole = mark === '';
  return {
    metadata: {
      // An empty map is owned itself, and so contested by who puts something into it.
      labels: Object.fromEntries([...some(), names[0]!].map((name) => [name, value()])),
      finalizers: some().map((name) => `x/${name}`),
    },
    spec: {
      ...(isWhole && random() < 0.5 ? { replicas: Math.floor(random() * 3) + 1 } : {}),
      ...(isWhole && random() < 0.3 ? { selector: { matchLabels: { x: value() } } } : {}),
      ...(isWhole && random() < 0.3 ? { strategy: { type: oneOf(random, ['Recreate', 'RollingUpdate']) } } : {}),
      template: { spec: { containers: some().map(container) } },
    },
  };
}

/** The same with every list sorted: who comes first puts its elements first. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(unordered).sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unordered(member)]));
}
