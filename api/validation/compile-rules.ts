// Makes validators of rule tables. Walks the schema from a kind's type, so that a type's rules hold wherever it occurs;
// what the tables do not mention costs nothing at run time.
import type { JsonObject } from '../json/json-value.ts';
import type { FieldSchema, Schema, TypeSchema } from '../schema/schema.ts';
import { shownIntOrString } from '../status/shown-value.ts';
import { formatProblems } from './field-formats.ts';
import { distinct } from './repeats.ts';
import type { Report, Surroundings } from './report.ts';
import { type AnyRule, type Choice, type FieldRules, type Rule, type RuleTable, STOP, type TypeRules } from './rule.ts';

/** Looks at a value that is there, and reports what is wrong with it. */
export type Check = (value: unknown, at: Report) => void;

/** The entry for a type name: its own, or that of the name without version. */
export function entryOf<T>(table: Readonly<Record<string, T>>, typeName: string): T | undefined {
  if (Object.hasOwn(table, typeName)) return table[typeName];
  const unversioned = typeName.replace(/\/[^.]*/, '');
  return Object.hasOwn(table, unversioned) ? table[unversioned] : undefined;
}

export class RuleCompiler {
  readonly #schema: Schema;
  readonly #table: RuleTable;
  readonly #checks = new Map<string, { check: Check | undefined; done: boolean }>();

  constructor(schema: Schema, table: RuleTable) {
    this.#schema = schema;
    this.#table = table;
  }

  /** The validator of a type; undefined when neither it nor anything below has rules. */
  check(type: TypeSchema): Check | undefined {
    const known = this.#checks.get(type.name);
    if (known?.done) return known.check;
    // A type inside itself: its check is known when it is first called.
    if (known !== undefined) return (value, at) => known.check?.(value, at);
    const entry: { check: Check | undefined; done: boolean } = { check: undefined, done: false };
    this.#checks.set(type.name, entry);
    entry.check = this.#compile(type);
    entry.done = true;
    return entry.check;
  }

  #compile(type: TypeSchema): Check | undefined {
    const { fields = {}, rules = [], around } = entryOf(this.#table, type.name) ?? NO_RULES;
    const turns = turnsOf(rules);
    for (const name of [...Object.keys(fields), ...turns]) {
      if (type.form === 'message' && type.field(name) === undefined) {
        throw new RangeError(`a rule names ${type.name}.${name}, which the schema lacks`);
      }
    }
    const turn = (name: string): Check | undefined => this.#memberStep(type, name, fields[name] ?? NO_FIELD_RULES);
    const parts: Check[][] = [[]];
    const take = (step: Check | undefined): void => {
      if (step !== undefined) parts.at(-1)!.push(step);
    };
    for (const name of fieldsWithoutTurn(type, Object.keys(fields), turns)) take(turn(name));
    for (const rule of rules) {
      if (rule === STOP) parts.push([]);
      else if (typeof rule === 'string') take(turn(rule));
      else if (typeof rule === 'object') take(choiceStep(rule, rule.choice.map(turn)));
      else take(rule as Rule<unknown>);
    }
    const check = parts.map(sequence).reduceRight<Check | undefined>((rest, part) => inTwo(part, rest), undefined);
    return around === undefined ? check : check && knownAs(around, check);
  }

  /** The turn of one member of an object. */
  #memberStep(type: TypeSchema, name: string, rules: FieldRules): Check | undefined {
    const field = type.form === 'message' ? type.field(name) : undefined;
    if (field === undefined) return undefined;
    const step = this.#valueStep(field, rules);
    return step === undefined || rules.when === undefined ? step : onlyWhen(rules.when, step);
  }

  #valueStep(field: FieldSchema, rules: FieldRules): Check | undefined {
    const { name } = field;
    const check = this.#fieldCheck(field, rules);
    const isTextOrNone = field.optional && mayBeText(field) && !rules.mayBeEmpty;
    if (rules.required !== undefined) return neededMember(name, rules, check, isTextOrNone && rules.enum !== undefined);
    if (check === undefined) return undefined;
    return isTextOrNone || rules.emptyToo ? presentMember(name, check) : optionalMember(name, check);
  }

  #fieldCheck(field: FieldSchema, rules: FieldRules): Check | undefined {
    if (rules.forbidden !== undefined) return forbid(rules.forbidden);
    const type = rules.opaque ? undefined : field.type;
    const below = type === undefined ? undefined : this.check(type);
    const steps: Check[] = [];
    const element = sequence([
      ...this.#valueSteps(field, rules),
      ...(below === undefined ? [] : [below]),
      ...(rules.unique === undefined ? [] : [distinctBy(rules.unique)]),
    ]);
    if (field.cardinality === 'list') {
      const items = element && eachItem(rules.reportedAtList ? elsewhereInList(element) : element);
      if (rules.itemsMax !== undefined) steps.push(countAtMost(rules.itemsMax, items));
      else if (items !== undefined) steps.push(items);
    } else if (field.cardinality === 'map') {
      if (rules.keys !== undefined) steps.push(keysOf(rules.keys));
      if (element !== undefined) steps.push(eachValue(element));
    } else if (element !== undefined) {
      steps.push(element);
    }
    steps.push(...((rules.rules ?? []) as readonly AnyRule[] as readonly Check[]));
    const check = sequence(steps);
    if (check === undefined || rules.reportedAt === undefined) return check;
    return elsewhere(check, rules.reportedAt);
  }

  #valueSteps(field: FieldSchema, rules: FieldRules): Check[] {
    const steps: Check[] = [];
    if (rules.enum !== undefined) steps.push(oneOf(this.#textsOf(field, rules.enum), rules));
    if (rules.min !== undefined || rules.max !== undefined) steps.push(range(rules));
    if (rules.bytesMax !== undefined) steps.push(bytesAtMost(rules.bytesMax, rules.reason));
    if (rules.format !== undefined) {
      const problems = formatProblems(rules.format);
      const isAmount = rules.format === 'intOrPercent';
      steps.push((value, at) => {
        const found = problems(value);
        if (found.length > 0)
          at.problems('', isAmount && typeof value === 'string' ? shownIntOrString(value) : value, found);
      });
    }
    return steps;
  }

  #textsOf(field: FieldSchema, texts: true | 'listed' | readonly string[]): readonly string[] {
    if (typeof texts === 'object') return texts.map((text) => this.#schema.dialect.spell(text));
    if (field.enumeration === undefined) throw new RangeError(`the schema has no enumeration for ${field.name}`);
    const known = this.#schema.enumeration(field.enumeration);
    return texts === 'listed' ? known : [...known].sort();
  }
}

const NO_RULES: TypeRules = {};
const NO_FIELD_RULES: FieldRules = {};

function turnsOf(rules: NonNullable<TypeRules['rules']>): readonly string[] {
  return rules.flatMap((rule) => {
    if (typeof rule === 'string') return [rule];
    return typeof rule === 'object' ? rule.choice : [];
  });
}

/** What comes after a stop is for values that nothing was wrong with. */
function inTwo(part: Check | undefined, rest: Check | undefined): Check | undefined {
  if (part === undefined || rest === undefined) return part ?? rest;
  return (value, at) => {
    const { count } = at;
    part(value, at);
    if (at.count === count) rest(value, at);
  };
}

/** Makes a value known to the rules of its parts. */
function knownAs(name: keyof Surroundings, check: Check): Check {
  return (value, at) => {
    const outer = at.around[name];
    at.around[name] = value as object;
    check(value, at);
    at.around[name] = outer;
  };
}

function choiceStep({ choice, more, moreAt = {}, none }: Choice, turns: readonly (Check | undefined)[]): Check {
  return (value, at) => {
    let found = 0;
    for (let i = 0; i < choice.length; i++) {
      const member = (value as JsonObject)[choice[i]!];
      if (member === undefined || member === null) continue;
      if (found++ === 0) turns[i]?.(value, at);
      else if (more !== undefined) at.forbidden(moreAt[choice[i]!] ?? choice[i]!, more);
    }
    if (found === 0 && none !== undefined) at.required('', none);
  };
}

/** A kind's metadata has rules of its own, and its status is written by itself. */
const KIND_PARTS: readonly string[] = ['metadata', 'status'];

function fieldsWithoutTurn(type: TypeSchema, rows: readonly string[], turns: readonly string[]): readonly string[] {
  if (type.form !== 'message') return [];
  const names = new Set([...rows, ...type.fields.map(({ name }) => name)]);
  for (const name of turns) names.delete(name);
  if (type.hasTypeMeta) for (const name of KIND_PARTS) names.delete(name);
  return [...names];
}

function onlyWhen(when: NonNullable<FieldRules['when']>, step: Check): Check {
  if (typeof when === 'function') {
    return (value, at) => {
      if (when(value as never, at)) step(value, at);
    };
  }
  const wanted = Object.entries(when);
  return (value, at) => {
    if (wanted.every(([name, text]) => (value as JsonObject)[name] === text)) step(value, at);
  };
}

/** A number or a text that is an empty one is a text. */
function mayBeText({ kind, type }: FieldSchema): boolean {
  return kind === 'string' || type?.form === 'intOrString';
}

function optionalMember(name: string, check: Check): Check {
  return (value, at) => {
    const member = (value as JsonObject)[name];
    if (member === undefined || member === null || member === '') return;
    at.enter(name);
    check(member, at);
    at.leave();
  };
}

/** A member whose empty text is one that somebody has set. */
function presentMember(name: string, check: Check): Check {
  return (value, at) => {
    const member = (value as JsonObject)[name];
    if (member === undefined || member === null) return;
    at.enter(name);
    check(member, at);
    at.leave();
  };
}

/**
 * A member that must not be empty. One that is, zero among them, is reported as missing and mostly as nothing else.
 * `isTextOrNone`: an empty text is there, and none of those that may be.
 */
function neededMember(name: string, rules: FieldRules, check: Check | undefined, isTextOrNone: boolean): Check {
  const { required, reason, reportedAt = name, emptyToo } = rules;
  const detail = required === true || required === undefined ? '' : required;
  const inside: Check = (member, at) => {
    if (check === undefined) return;
    at.enter(name);
    check(member, at);
    at.leave();
  };
  return (value, at) => {
    const member = (value as JsonObject)[name];
    if (!isEmpty(member) || (isTextOrNone && member === '')) {
      inside(member, at);
      return;
    }
    if (reason === 'invalid') at.invalid(reportedAt, member ?? '', detail === '' ? 'must not be empty' : detail);
    else at.required(reportedAt, detail);
    if (emptyToo) inside('', at);
  };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true;
  return Array.isArray(value) && value.length === 0;
}

function sequence(checks: readonly Check[]): Check | undefined {
  const [first, second] = checks;
  if (first === undefined || second === undefined) return first;
  if (checks.length === 2) {
    return (value, at) => {
      first(value, at);
      second(value, at);
    };
  }
  return (value, at) => {
    for (const check of checks) check(value, at);
  };
}

/** Runs a check as if the value stood at a sibling, or at its parent. */
function elsewhere(check: Check, sibling: string): Check {
  return (value, at) => {
    const before = at.step();
    if (sibling !== '') at.enter(sibling);
    check(value, at);
    if (sibling !== '') at.leave();
    at.enter(before);
  };
}

/** Runs a check of an element as if it were of the list. */
function elsewhereInList(check: Check): Check {
  return (value, at) => {
    const index = at.step();
    check(value, at);
    at.enter(index);
  };
}

function forbid(detail: string): Check {
  return (value, at) => {
    if (!isEmpty(value)) at.forbidden('', detail);
  };
}

function eachItem(check: Check): Check {
  return (value, at) => {
    const { list: outerList, index: outerIndex, start: outerStart } = at;
    const list = value as readonly unknown[];
    for (let i = 0; i < list.length; i++) {
      const start = at.stand(list, i, at.count);
      at.enter(i);
      check(list[i], at);
      at.leave();
      if (at.count > start) at.faulty.add(list[i]);
    }
    at.stand(outerList, outerIndex, outerStart);
  };
}

function eachValue(check: Check): Check {
  return (value, at) => {
    const map = value as JsonObject;
    for (const key in map) {
      at.enterKey(key);
      check(map[key], at);
      at.leave();
    }
  };
}

function keysOf(format: NonNullable<FieldRules['keys']>): Check {
  const problems = formatProblems(format);
  return (value, at) => {
    for (const key in value as JsonObject) {
      const found = problems(key);
      if (found.length > 0) at.problems(`[${key}]`, key, found);
    }
  };
}

/** Of a list that is too long the items are not looked at. */
function countAtMost(countMax: number, ofItems: Check | undefined): Check {
  return (value, at) => {
    const { length } = value as readonly unknown[];
    if (length > countMax) at.tooMany('', length, countMax);
    else ofItems?.(value, at);
  };
}

function distinctBy(by: true | string): Check {
  if (by === true) return distinct<string>((text) => text) as Check;
  return distinct<JsonObject>(
    (element) => element[by] as string | undefined,
    (key, _element, at) => at.duplicate(by, key),
  ) as Check;
}

function oneOf(texts: readonly string[], { reason, outside }: FieldRules): Check {
  const known = new Set<unknown>(texts);
  return (value, at) => {
    if (known.has(value)) return;
    if (reason === 'invalid') at.invalid('', value, outside ?? `must be '${texts.join("' or '")}'`);
    else at.notSupported('', value, texts);
  };
}

function range({
  min = Number.NEGATIVE_INFINITY,
  max = Number.POSITIVE_INFINITY,
  reason,
  outside = rangeDetail(min, max),
  below = outside,
  above = below,
}: FieldRules): Check {
  return (value, at) => {
    const number = value as number;
    if (number >= min && number <= max) return;
    const detail = number < min ? below : above;
    if (reason === 'forbidden') at.forbidden('', detail);
    else at.invalid('', value, detail);
  };
}

function rangeDetail(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return `must be greater than or equal to ${min}`;
  if (min === Number.NEGATIVE_INFINITY) return `must be less than or equal to ${max}`;
  return `must be between ${min} and ${max}, inclusive`;
}

function bytesAtMost(bytesMax: number, reason: FieldRules['reason']): Check {
  return (value, at) => {
    const text = value as string;
    // A unit of UTF-16 is at most three bytes.
    if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return;
    if (reason === 'invalid') at.invalid('', value, `must have at most ${bytesMax} bytes`);
    else at.tooLong('', bytesMax);
  };
}
