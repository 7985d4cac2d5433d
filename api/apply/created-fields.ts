// The fields a new object asserts, as the JSON text of its managedFields: made in one pass over the object, since every
// create makes it. Says the same as a comparison with the empty object of the type (compare.ts).

import { compareTexts } from '../../values/compare-texts.ts';
import { keep } from '../../values/kept.ts';
import { sortRange } from '../../values/sort-range.ts';
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { keyStep, memberStep, valueStep } from './field-path.ts';
import { FIELD_LEVELS_MAX } from './field-set.ts';
import type { ListKey, Member, OwnershipRule } from './ownership-rule.ts';

/** The field set of an object as JSON text, `{}` when it asserts nothing. */
export function createdFieldsText(object: JsonObject, rule: OwnershipRule): string {
  top = 0;
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
  // An empty list is another value than none, and has no elements to own.
  if (below === '') return Array.isArray(value) ? '{}' : '';
  return `{${below}}`;
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

/** Ranks of the members met so far, of every struct that is being read: what a type could have is several times what objects have. */
const ranks: number[] = [];
let top = 0;

/** What was made of parts that many objects have in common, and of the rule that it was made by. */
const sharedTexts = new WeakMap<object, { readonly rule: OwnershipRule; readonly text: string }>();

/** Keeps what is made of a member of new objects, which is frozen and in many of them. */
export function keepFieldsOf(part: JsonObject, member: string, { members }: OwnershipRule): void {
  const found = members.get(member);
  if (found?.rule.kind !== 'struct') return;
  top = 0;
  const text = structText(part, found.rule, found.isAlways, FIELD_LEVELS_MAX - 2);
  sharedTexts.set(part, { rule: found.rule, text });
}

/** @param isAlways the empty object has this struct as well. */
function structText(object: JsonObject, rule: OwnershipRule, isAlways: boolean, levelsLeft: number): string {
  const shared = sharedTexts.get(object);
  if (shared?.rule === rule) return shared.text;
  const base = top;
  const { ownedRanks, ownedMembers } = rule;
  for (const name in object) {
    const rank = ownedRanks.get(name);
    if (rank !== undefined && object[name] !== undefined) ranks[top++] = rank;
  }
  const end = top;
  sortRange(ranks, base, end);
  let text = '';
  for (let at = base; at < end; at++) {
    const member = ownedMembers[ranks[at]!]!;
    const hasZero = isAlways && member.isAlways;
    if (!hasZero && member.rule.kind === 'leaf') {
      text += text === '' ? member.leaf : member.nextLeaf;
      continue;
    }
    const value = object[member.name];
    const below = hasZero ? changedText(value, member, levelsLeft) : nodeText(value, member.rule, levelsLeft);
    if (below !== '') text += text === '' ? member.prefix + below : `,${member.prefix}${below}`;
  }
  top = base;
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
    if (below !== '') text += `${text === '' ? '' : ','}${quotedMembers.of(name, memberStep)}:${below}`;
  }
  return text;
}

/** Names that no type says, such as labels and those of containers: most come again and again. */
const NAMES_MAX = 2_000;
const NAME_LENGTH_MAX = 64;

/** Steps as JSON, by the name that they are made of. */
class QuotedSteps {
  readonly #steps = new Map<string, string>();

  of(name: string, stepOf: (name: string) => string): string {
    const known = this.#steps.get(name);
    if (known !== undefined) return known;
    const quoted = JSON.stringify(stepOf(name));
    if (name.length > NAME_LENGTH_MAX) return quoted;
    keep(this.#steps, NAMES_MAX, name, quoted);
    return quoted;
  }
}

const quotedMembers = new QuotedSteps();
/** Of lists whose elements are told apart by a member `name` alone, which most are. */
const quotedNames = new QuotedSteps();
const nameStep = (name: string): string => `k:{"name":${JSON.stringify(name)}}`;

/** The step to an element of a list with keys, as JSON; undefined where it has none. */
function quotedKey(element: unknown, keys: readonly ListKey[]): string | undefined {
  if (keys.length === 1 && keys[0]!.name === 'name' && isJsonObject(element) && typeof element.name === 'string')
    return quotedNames.of(element.name, nameStep);
  const step = keyStep(element, keys);
  return step === undefined ? undefined : JSON.stringify(step);
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
    const step = quotedKey(list[0], rule.keys);
    return step === undefined ? undefined : `${step}:${nodeText(list[0], rule.element, levelsLeft)}`;
  }
  const steps: Step[] = [];
  let isOrdered = true;
  for (const element of list) {
    const step = keyStep(element, rule.keys);
    if (step === undefined) return undefined;
    if (steps.length > 0 && step < steps[steps.length - 1]!.step) isOrdered = false;
    steps.push({ step, element });
  }
  if (!isOrdered) steps.sort((left, right) => compareTexts(left.step, right.step));
  let text = '';
  for (let at = 0; at < steps.length; at++) {
    const { step, element } = steps[at]!;
    if (steps[at - 1]?.step === step) continue;
    // Elements that cannot be told apart are owned together.
    const node = steps[at + 1]?.step === step ? '{}' : nodeText(element, rule.element, levelsLeft);
    text += `${text === '' ? '' : ','}${JSON.stringify(step)}:${node}`;
  }
  return text;
}

interface Step {
  readonly step: string;
  readonly element: unknown;
}
