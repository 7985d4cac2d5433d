// managedFields that clients send, and the sets in them: read into one spelling, joined, taken apart.

import { pathText } from '../../../api/apply/field-path.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  NO_FIELDS,
  places,
  sameFields,
  union,
  unionOf,
  within,
  without,
} from '../../../api/apply/field-set.ts';
import {
  asksForReset,
  entriesOf,
  givenManagers,
  readFields,
  storedManagers,
} from '../../../api/apply/managed-entries.ts';
import type { ManagedFieldsEntry } from '../../../api/metadata/object-meta.ts';
import type { Dice } from '../generate/dice.ts';
import { junk, ODD_NAMES, withName } from '../generate/junk.ts';
import { mutatedText } from '../generate/mutate-text.ts';
import { mutatedValue } from '../generate/mutate-value.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { requireSame, type Target, Violation } from '../target.ts';

const STEPS: readonly string[] = [
  ...[
    'f:metadata',
    'f:labels',
    'f:a',
    'f:spec',
    'f:__proto__',
    'f:',
    'k:{"name":"a"}',
    'k:{"port":80,"protocol":"TCP"}',
  ],
  ...[
    'k:{ "name" : "a" }',
    'k:{}',
    'k:{"a":{}}',
    'v:1',
    'v:"a"',
    'v: "a"',
    'v:null',
    'v:{}',
    'i:0',
    'i:01',
    'i:-1',
    '.',
    'x:',
    '',
  ],
];

function set(dice: Dice, levels: number): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (let left = dice.small(5); left > 0; left--) {
    const step = dice.pick(dice.oneIn(30) ? ODD_NAMES : STEPS);
    withName(made, step, step === '.' || levels === 0 ? {} : set(dice, levels - 1));
  }
  return made;
}

function setText(dice: Dice): string {
  let made: unknown = set(dice, 5);
  if (dice.oneIn(100)) for (let level = dice.below(300); level > 0; level--) made = { 'f:a': made };
  if (dice.oneIn(4)) made = mutatedValue(made, dice, 1, () => ({}));
  return JSON.stringify(made) ?? '{}';
}

function entriesText(dice: Dice): string {
  const entries = Array.from({ length: dice.small(14) }, () => ({
    manager: dice.pick(['a', 'b', '', 'x']),
    operation: dice.oneIn(10) ? junk(dice) : dice.pick(['Apply', 'Update']),
    apiVersion: dice.pick(['v1', 'apps/v1', '']),
    time: dice.pick(['2021-04-08T12:00:00Z', '', '2022-04-08T12:00:00Z']),
    fieldsType: dice.oneIn(10) ? '' : 'FieldsV1',
    fieldsV1: dice.oneIn(10) ? junk(dice) : set(dice, 3),
  }));
  return JSON.stringify(entries);
}

function generate(dice: Dice): Input {
  const left = setText(dice);
  const right = dice.oneIn(10) ? left : setText(dice);
  return {
    text: { left, right: dice.oneIn(20) ? mutatedText(right, dice) : right, entries: entriesText(dice) },
    body: NO_BYTES,
  };
}

function fieldsOf(text: string | undefined): FieldSet | undefined {
  try {
    return readFields(JSON.parse(text ?? ''));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function run({ text }: Input): void {
  const left = fieldsOf(text.left);
  const right = fieldsOf(text.right);
  if (left !== undefined) requireSame(JSON.stringify(readFields(left)), JSON.stringify(left), 'a set read twice');
  if (left !== undefined && right !== undefined) algebra(left, right);
  const entries = JSON.parse(text.entries ?? '[]') as ManagedFieldsEntry[];
  if (entries.length > 0 && entries[0] !== null) asksForReset(entries);
  const managers = givenManagers(entries);
  if (managers === undefined) return;
  const written = entriesOf(managers);
  const again = givenManagers(written ?? []);
  requireSame(JSON.stringify(entriesOf(again ?? [])), JSON.stringify(written), 'managers written and read');
  storedManagers(written);
}

function algebra(left: FieldSet, right: FieldSet): void {
  const both = union(left, right);
  const common = intersection(left, right);
  requireEqual(both, union(right, left), 'a union turned round');
  requireEqual(common, intersection(right, left), 'an intersection turned round');
  requireEqual(union(difference(left, right), common), left, 'a difference and what was taken');
  if (!isEmpty(intersection(difference(left, right), right))) throw new Violation('a difference keeps what was taken');
  requireEqual(unionOf([left, right, NO_FIELDS, left]), both, 'a union of several');
  requireEqual(union(without(left, right), within(left, right)), left, 'within and without');
  const inBoth = new Set([...places(both)].map(pathText));
  for (const path of places(left)) {
    if (!inBoth.has(pathText(path))) throw new Violation(`${pathText(path)} is lost in the union`);
  }
}

function requireEqual(actual: FieldSet, expected: FieldSet, what: string): void {
  if (!sameFields(actual, expected))
    throw new Violation(
      `${what}: ${JSON.stringify(actual).slice(0, 400)} is not ${JSON.stringify(expected).slice(0, 400)}`,
    );
}

export const fieldSets: Target = { name: 'field-sets', weight: 4, generate, run };
