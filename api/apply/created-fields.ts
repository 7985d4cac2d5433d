// The fields a new object asserts, as the JSON text of its managedFields: made in one pass over the object, since every
// create makes it. Says the same as a comparison with the empty object of the type (compare.ts).
import { deepEqual } from '../deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { keyStep, memberStep, valueStep } from './field-path.ts';
import { FIELD_LEVELS_MAX } from './field-set.ts';
import type { Member, OwnershipRule } from './ownership-rule.ts';

/** The field set of an object as JSON text, `{}` when it asserts nothing. */
export function createdFieldsText(object: JsonObject, rule: OwnershipRule): string {
  const text =
    rule.kind === 'struct'
      ? structText(object, rule, true, FIELD_LEVELS_MAX - 1)
      : membersText(object, rule, FIELD_LEVELS_MAX - 1);
  return `{${text}}`;
}

const SELF_LEAF = '".":{}';

/** The node of a value that the empty object does not have. */
function nodeText(value: unknown, rule: OwnershipRule, levelsLeft: number): string {
  if (rule.kind === 'leaf' || levelsLeft === 0) return '{}';
  const below = belowText(value, rule, false, levelsLeft - 1);
  return below === '' || below === undefined ? '{}' : `{${SELF_LEAF},${below}}`;
}

/** The node of a value that the empty object has as well; empty when they are the same. */
function changedText(value: unknown, member: Member, levelsLeft: number): string {
  const { rule, zero } = member;
  if (rule.kind === 'leaf' || levelsLeft === 0) return value === zero || deepEqual(value, zero) ? '' : '{}';
  const below = belowText(value, rule, true, levelsLeft - 1);
  if (below === undefined) return '{}';
  return below === '' ? '' : `{${below}}`;
}

/** What is asserted below a value; undefined where it is owned as a whole after all. */
function belowText(value: unknown, rule: OwnershipRule, isAlways: boolean, levelsLeft: number): string | undefined {
  if (value === null || value === undefined) return '';
  switch (rule.kind) {
    case 'set':
      return Array.isArray(value) ? setText(value) : undefined;
    case 'keyed':
      return Array.isArray(value) ? keyedText(value, rule, levelsLeft) : undefined;
    case 'struct':
      return isJsonObject(value) ? structText(value, rule, isAlways, levelsLeft) : undefined;
    default:
      return isJsonObject(value) ? membersText(value, rule, levelsLeft) : undefined;
  }
}

/** @param isAlways the empty object has this struct as well. */
function structText(object: JsonObject, rule: OwnershipRule, isAlways: boolean, levelsLeft: number): string {
  let text = '';
  for (const member of rule.ownedMembers) {
    const value = object[member.name];
    if (value === undefined) continue;
    const below =
      isAlways && member.isAlways ? changedText(value, member, levelsLeft) : nodeText(value, member.rule, levelsLeft);
    if (below !== '') text += text === '' ? member.prefix + below : `,${member.prefix}${below}`;
  }
  return text;
}

function membersText(object: JsonObject, rule: OwnershipRule, levelsLeft: number): string {
  const { members } = rule;
  let text = '';
  for (const name of namesInOrder(object)) {
    const value = object[name];
    const member = members.get(name);
    if (value === undefined || member?.isOwned === false) continue;
    const below = member?.stays
      ? changedText(value, member, levelsLeft)
      : nodeText(value, rule.below(name)!, levelsLeft);
    if (below !== '') text += `${text === '' ? '' : ','}${JSON.stringify(memberStep(name))}:${below}`;
  }
  return text;
}

function namesInOrder(object: JsonObject): readonly string[] {
  const names = Object.keys(object);
  for (let index = 1; index < names.length; index++) if (names[index]! < names[index - 1]!) return names.sort();
  return names;
}

function setText(list: readonly unknown[]): string | undefined {
  const steps = new Set<string>();
  for (const value of list) {
    const step = valueStep(value);
    if (step === undefined) return undefined;
    steps.add(step);
  }
  return [...steps]
    .sort()
    .map((step) => `${JSON.stringify(step)}:{}`)
    .join(',');
}

function keyedText(list: readonly unknown[], rule: OwnershipRule, levelsLeft: number): string | undefined {
  if (list.length === 1) {
    const step = keyStep(list[0], rule.keys);
    return step === undefined ? undefined : `${JSON.stringify(step)}:${nodeText(list[0], rule.element, levelsLeft)}`;
  }
  const nodes = new Map<string, string>();
  for (const element of list) {
    const step = keyStep(element, rule.keys);
    if (step === undefined) return undefined;
    nodes.set(step, nodes.has(step) ? '{}' : nodeText(element, rule.element, levelsLeft));
  }
  return [...nodes.keys()]
    .sort()
    .map((step) => `${JSON.stringify(step)}:${nodes.get(step)}`)
    .join(',');
}
