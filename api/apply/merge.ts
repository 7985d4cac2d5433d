// Merging an applied configuration into the live object, and taking out of it what an applier has given up. Neither
// object is changed; what is not merged stays shared with the live one, what is new is copied from the configuration.
import { isJsonObject, type JsonObject, memberOf, PROTOTYPE_KEY } from '../json/json-value.ts';
import { isAsserted } from './asserted-fields.ts';
import { keyStep, memberStep, valueStep } from './field-path.ts';
import { type FieldSet, NO_FIELDS, SELF } from './field-set.ts';
import type { OwnershipRule } from './ownership-rule.ts';

/** The live object with the configuration's fields. The configuration must have passed `assertedFields`. */
export function mergeConfiguration(live: JsonObject, config: JsonObject, rule: OwnershipRule): JsonObject {
  return merged(live, config, rule) as JsonObject;
}

function merged(live: unknown, config: unknown, rule: OwnershipRule): unknown {
  if (config === undefined) return live;
  if (rule.kind === 'leaf' || config === null || typeof config !== 'object') {
    return config === null && isLeftByNull(live, rule) ? live : copyOf(config);
  }
  if (rule.kind === 'set') return Array.isArray(config) ? mergedSet(live, config) : copyOf(config);
  if (rule.kind === 'keyed') return Array.isArray(config) ? mergedElements(live, config, rule) : copyOf(config);
  return isJsonObject(config) ? mergedMembers(isJsonObject(live) ? live : NO_FIELDS, config, rule) : copyOf(config);
}

function mergedMembers(live: JsonObject, config: JsonObject, rule: OwnershipRule): JsonObject {
  const result: Record<string, unknown> = { ...live };
  for (const name of Object.keys(config)) {
    if (name === PROTOTYPE_KEY) continue;
    result[name] = merged(memberOf(live, name), config[name], rule.below(name)!);
  }
  return result;
}

function mergedSet(live: unknown, config: readonly unknown[]): readonly unknown[] {
  const values = new Set<unknown>(Array.isArray(live) ? (live as readonly unknown[]) : []);
  for (const value of config) values.add(value);
  return [...values];
}

/** Live elements keep their places, new ones follow. */
function mergedElements(live: unknown, config: readonly unknown[], rule: OwnershipRule): readonly unknown[] {
  const wanted = new Map(config.map((element) => [keyStep(element, rule.keys), element]));
  const result: unknown[] = [];
  for (const element of Array.isArray(live) ? (live as readonly unknown[]) : []) {
    const step = keyStep(element, rule.keys);
    const config = step === undefined ? undefined : wanted.get(step);
    // Of elements with the same key the first is merged into and the others go: one is what was asked for.
    if (config === HANDLED) continue;
    result.push(merged(element, config, rule.element));
    if (config !== undefined) wanted.set(step, HANDLED);
  }
  for (const element of wanted.values()) if (element !== HANDLED) result.push(copyOf(element));
  return result;
}

const HANDLED: unique symbol = Symbol('handled');

/** True for what has parts of its own, and some in it. A list that comes as it is has none: it is replaced like a text. */
function isLeftByNull(live: unknown, { kind }: OwnershipRule): boolean {
  return kind !== 'leaf' && (kind !== 'deduced' || isJsonObject(live)) && holdsSomething(live);
}

/** True for objects and lists that have something in them. */
function holdsSomething(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return true;
  return false;
}

/**
 * The object with null for what a configuration says is null and in which nothing is left, now that what its applier has given up is
 * taken out.
 */
export function withNulls(object: JsonObject, config: JsonObject, rule: OwnershipRule): JsonObject {
  return nulled(object, config, rule) as JsonObject;
}

function nulled(value: unknown, config: unknown, rule: OwnershipRule): unknown {
  if (rule.kind === 'leaf' || typeof value !== 'object') return value;
  if (config === null) return holdsSomething(value) ? value : null;
  if (Array.isArray(value)) {
    return rule.kind === 'keyed' && Array.isArray(config) ? nulledElements(value, config, rule) : value;
  }
  return isJsonObject(value) && isJsonObject(config) ? nulledMembers(value, config, rule) : value;
}

function nulledMembers(object: JsonObject, config: JsonObject, rule: OwnershipRule): JsonObject {
  let result: Record<string, unknown> | undefined;
  for (const name of Object.keys(config)) {
    if (name === PROTOTYPE_KEY || !Object.hasOwn(object, name)) continue;
    const value = nulled(object[name], config[name], rule.below(name)!);
    if (value === object[name]) continue;
    result ??= { ...object };
    result[name] = value;
  }
  return result ?? object;
}

function nulledElements(list: readonly unknown[], config: readonly unknown[], rule: OwnershipRule): readonly unknown[] {
  const said = new Map(config.map((element) => [keyStep(element, rule.keys), element]));
  const kept = list.map((element) => nulled(element, said.get(keyStep(element, rule.keys)), rule.element));
  return kept.every((element, index) => element === list[index]) ? list : kept;
}

/** Decoding works in place, and the configuration is needed again when a write loses a race. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) if (name !== PROTOTYPE_KEY) copy[name] = copyOf(value[name]);
  return copy;
}

/**
 * The object without what an applier had and has given up: fields of `last` that nobody manages any more, with all that
 * is in them.
 *
 * @param last what the applier asserted the time before.
 * @param managed what anyone manages now, the applier included.
 */
export function withoutGivenUp(object: JsonObject, last: FieldSet, managed: FieldSet, rule: OwnershipRule): JsonObject {
  return pruned(object, { last, managed, wasIn: isAsserted }, rule) as JsonObject;
}

/**
 * The same of fields that a comparison has found to be gone: a member is one of them only where it is gone itself, and not where
 * something in it is.
 */
export function withoutGone(object: JsonObject, gone: FieldSet, managed: FieldSet, rule: OwnershipRule): JsonObject {
  return pruned(object, { last: gone, managed, wasIn: (fields) => isAsserted(fields, false) }, rule) as JsonObject;
}

/** What is to be taken out at a place and below it. */
interface Pruning {
  readonly last: FieldSet;
  readonly managed: FieldSet;
  /** Whether a member was one of the fields. */
  readonly wasIn: typeof isAsserted;
}

function below({ last, managed, wasIn }: Pruning, step: string): Pruning {
  return { last: last[step]!, managed: managed[step] ?? NO_FIELDS, wasIn };
}

function pruned(value: unknown, pruning: Pruning, rule: OwnershipRule): unknown {
  if (rule.kind === 'leaf') return value;
  if (rule.kind === 'set') return Array.isArray(value) ? prunedSet(value, pruning) : value;
  if (rule.kind === 'keyed') return Array.isArray(value) ? prunedElements(value, pruning, rule) : value;
  return isJsonObject(value) ? prunedMembers(value, pruning, rule) : value;
}

function prunedMembers(object: JsonObject, pruning: Pruning, rule: OwnershipRule): JsonObject {
  const { last, managed, wasIn } = pruning;
  let result: Record<string, unknown> | undefined;
  for (const step in last) {
    const name = step.slice(2);
    if (step === SELF || !Object.hasOwn(object, name) || step !== memberStep(name)) continue;
    const ruleBelow = rule.below(name);
    if (ruleBelow === undefined) continue;
    const isStruct = rule.kind === 'struct' || rule.members.has(name);
    const isStaying = rule.members.get(name)?.stays ?? false;
    const isGivenUp = wasIn(last[step], isStruct) && !isAsserted(managed[step], isStruct) && !isStaying;
    const value = isGivenUp ? undefined : pruned(object[name], below(pruning, step), ruleBelow);
    if (value === object[name]) continue;
    result ??= { ...object };
    if (isGivenUp) delete result[name];
    else result[name] = value;
  }
  return result ?? object;
}

function prunedSet(list: readonly unknown[], { last, managed }: Pruning): readonly unknown[] {
  const kept = list.filter((value) => {
    const step = valueStep(value);
    return step === undefined || last[step] === undefined || managed[step] !== undefined;
  });
  return kept.length === list.length ? list : kept;
}

function prunedElements(list: readonly unknown[], pruning: Pruning, rule: OwnershipRule): readonly unknown[] {
  const { last, managed } = pruning;
  const kept: unknown[] = [];
  let isChanged = false;
  for (const element of list) {
    const step = keyStep(element, rule.keys);
    const before = step === undefined ? undefined : last[step];
    if (before === undefined) kept.push(element);
    else if (isAsserted(before, false) && !isAsserted(managed[step!], false)) isChanged = true;
    else {
      const value = pruned(element, below(pruning, step!), rule.element);
      isChanged ||= value !== element;
      kept.push(value);
    }
  }
  return isChanged ? kept : list;
}
