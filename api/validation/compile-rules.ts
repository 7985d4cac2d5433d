// Makes validators of rule tables. Walks the schema from a kind's type, so that a type's rules hold wherever it occurs;
// what the tables do not mention costs nothing at run time. What a single rule comes to is rule-steps.ts.
import type { FieldSchema, Schema, TypeSchema } from '../schema/schema.ts';
import { type AnyRule, type FieldRules, type Rule, type RuleTable, STOP, type TypeRules } from './rule.ts';
import {
  bytesAtMost,
  type Check,
  choiceStep,
  countAtMost,
  distinctBy,
  eachItem,
  eachValue,
  elsewhere,
  elsewhereInList,
  forbid,
  inTwo,
  keysOf,
  knownAs,
  neededMember,
  ofFormat,
  oneOf,
  onlyWhen,
  optionalMember,
  presentMember,
  range,
  sequence,
} from './rule-steps.ts';

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
    if (rules.format !== undefined) steps.push(ofFormat(rules.format));
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

/** A kind's metadata has rules of its own, and its status is written by itself. */
const KIND_PARTS: readonly string[] = ['metadata', 'status'];

function fieldsWithoutTurn(type: TypeSchema, rows: readonly string[], turns: readonly string[]): readonly string[] {
  if (type.form !== 'message') return [];
  const names = new Set([...rows, ...type.fields.map(({ name }) => name)]);
  for (const name of turns) names.delete(name);
  if (type.hasTypeMeta) for (const name of KIND_PARTS) names.delete(name);
  return [...names];
}

/** A number or a text that is an empty one is a text. */
function mayBeText({ kind, type }: FieldSchema): boolean {
  return kind === 'string' || type?.form === 'intOrString';
}
