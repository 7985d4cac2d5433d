// Makes validators of rule tables. Walks the schema from a kind's type, so that a type's rules hold wherever it occurs;
// what the tables do not mention costs nothing at run time.
import type { JsonObject } from '../json-value.ts';
import type { FieldSchema, Schema, TypeSchema } from '../schema/schema.ts';
import { formatProblems } from './field-formats.ts';
import { eachRepeated } from './repeats.ts';
import type { Report } from './report.ts';
import type { AnyRule, FieldRules, Rule, RuleTable, TypeRules } from './rule.ts';

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
    const rules = entryOf(this.#table, type.name) ?? NO_RULES;
    const fields = rules.fields ?? {};
    for (const name of Object.keys(fields)) {
      if (type.form === 'message' && type.field(name) === undefined) {
        throw new RangeError(`a rule names ${type.name}.${name}, which the schema lacks`);
      }
    }
    const members = new Map<string, Check>();
    const needed: NeededMember[] = [];
    for (const field of type.form === 'message' ? type.fields : []) {
      // A kind's metadata has rules of its own, and its status is written by itself.
      if (type.hasTypeMeta && (field.name === 'metadata' || field.name === 'status')) continue;
      const fieldRules = fields[field.name] ?? NO_FIELD_RULES;
      const check = this.#fieldCheck(field, fieldRules);
      if (check !== undefined) members.set(field.name, check);
      if (fieldRules.required !== undefined) needed.push(neededMember(field.name, fieldRules));
    }
    const whole = (rules.rules ?? []) as readonly Rule<unknown>[];
    if (members.size === 0 && needed.length === 0) {
      return whole.length === 0 ? undefined : sequence(whole);
    }
    return memberChecks(members, needed, whole);
  }

  #fieldCheck(field: FieldSchema, rules: FieldRules): Check | undefined {
    if (rules.forbidden !== undefined) return forbid(rules.forbidden);
    const type = rules.opaque ? undefined : field.type;
    const below = type === undefined ? undefined : this.check(type);
    const steps: Check[] = [];
    let element = sequence([...this.#valueSteps(field, rules), ...(below === undefined ? [] : [below])]);
    if (rules.required !== undefined && element !== undefined && NUMBERS.has(field.kind)) element = unlessZero(element);
    if (field.cardinality === 'list') {
      const items: Check[] = [];
      if (rules.unique !== undefined) items.push(distinct(rules.unique));
      if (element !== undefined) items.push(eachItem(element));
      if (rules.itemsMax !== undefined) steps.push(countAtMost(rules.itemsMax, sequence(items)));
      else steps.push(...items);
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
    if (rules.enum !== undefined) steps.push(oneOf(this.#textsOf(field, rules.enum), rules.reason));
    if (rules.min !== undefined || rules.max !== undefined) steps.push(range(rules));
    if (rules.format !== undefined) {
      const problems = formatProblems(rules.format);
      steps.push((value, at) => {
        const found = problems(value);
        if (found.length > 0) at.problems('', value, found);
      });
    }
    if (rules.bytesMax !== undefined) steps.push(bytesAtMost(rules.bytesMax, rules.reason));
    return steps;
  }

  #textsOf(field: FieldSchema, texts: true | 'listed' | readonly string[]): readonly string[] {
    if (typeof texts === 'object') return texts.map((text) => this.#schema.dialect.spell(text));
    if (field.enumeration === undefined) throw new RangeError(`the schema has no enumeration for ${field.name}`);
    const known = this.#schema.enumeration(field.enumeration);
    return texts === 'listed' ? known : [...known].sort();
  }
}

const NUMBERS: ReadonlySet<string> = new Set(['int32', 'int64']);

/** Zero in a number that is required is reported as missing, and as nothing else. */
function unlessZero(check: Check): Check {
  return (value, at) => {
    if (value !== 0) check(value, at);
  };
}

const NO_RULES: TypeRules = {};
const NO_FIELD_RULES: FieldRules = {};

/** A member that must not be empty. */
interface NeededMember {
  readonly name: string;
  readonly detail: string;
  readonly isInvalid: boolean;
  readonly reportedAt: string;
}

function neededMember(name: string, { required, reason, reportedAt }: FieldRules): NeededMember {
  const detail = required === true || required === undefined ? '' : required;
  return { name, detail, isInvalid: reason === 'invalid', reportedAt: reportedAt ?? name };
}

function memberChecks(
  members: ReadonlyMap<string, Check>,
  needed: readonly NeededMember[],
  whole: readonly Rule<unknown>[],
): Check {
  return (value, at) => {
    const object = value as JsonObject;
    for (const name in object) {
      const check = members.get(name);
      if (check === undefined) continue;
      const member = object[name];
      if (member === undefined || member === null || member === '') continue;
      at.enter(name);
      check(member, at);
      at.leave();
    }
    for (const member of needed) if (isEmpty(object[member.name])) reportEmpty(member, object, at);
    for (const rule of whole) rule(object, at);
  };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true;
  return Array.isArray(value) && value.length === 0;
}

function reportEmpty({ name, detail, isInvalid, reportedAt }: NeededMember, object: JsonObject, at: Report): void {
  if (isInvalid) at.invalid(reportedAt, object[name] ?? '', detail === '' ? 'must not be empty' : detail);
  else at.required(reportedAt, detail);
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

function forbid(detail: string): Check {
  return (value, at) => {
    if (!isEmpty(value)) at.forbidden('', detail);
  };
}

function eachItem(check: Check): Check {
  return (value, at) => {
    const list = value as readonly unknown[];
    for (let i = 0; i < list.length; i++) {
      at.enter(i);
      check(list[i], at);
      at.leave();
    }
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

function distinct(by: true | string): Check {
  const keyOf = (element: unknown): string | number | undefined =>
    by === true ? (element as string) : ((element as JsonObject)[by] as string | undefined);
  const report = (key: string | number, index: number, at: Report): void =>
    at.duplicate(by === true ? `[${index}]` : `[${index}].${by}`, key);
  return (value, at) => eachRepeated(value as readonly unknown[], keyOf, report, at);
}

function oneOf(texts: readonly string[], reason: FieldRules['reason']): Check {
  const known = new Set<unknown>(texts);
  return (value, at) => {
    if (known.has(value)) return;
    if (reason === 'invalid') at.invalid('', value, `must be one of ${texts.join(', ')}`);
    else at.notSupported('', value, texts);
  };
}

function range({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, reason }: FieldRules): Check {
  const detail = rangeDetail(min, max);
  return (value, at) => {
    const number = value as number;
    if (number >= min && number <= max) return;
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
