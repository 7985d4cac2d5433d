// The fields that an applied configuration asserts, and what is wrong with it: members its type does not have, lists whose
// elements cannot be told apart. Scalars are checked where the merged object is decoded.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { badRequest } from '../status/failures.ts';
import { mapText } from '../status/map-text.ts';
import { StatusError } from '../status/status.ts';
import { indexStep, keyStep, memberStep, pathText, valueStep } from './field-path.ts';
import { FIELD_LEVELS_MAX, type FieldSet, hasSelf, inOrder, LEAF, NO_FIELDS, node } from './field-set.ts';
import type { Inside, OwnershipRule } from './ownership-rule.ts';

const ERRORS_LISTED_MAX = 20;

/**
 * The set of fields of a configuration. What the server owns is left out. Throws StatusError 400 naming the members that
 * the type does not have, and elements that lack or repeat their keys.
 */
export function assertedFields(config: JsonObject, rule: OwnershipRule): FieldSet {
  const reader = new Reader();
  const fields = reader.read(config, rule, FIELD_LEVELS_MAX) ?? NO_FIELDS;
  if (reader.errors.length > 0) {
    const [first, ...more] = reader.errors;
    const text = more.length === 0 ? first : ['errors:', ...reader.errors].join('\n  ');
    throw new StatusError(badRequest(`failed to create typed patch object: ${text}`));
  }
  return fields;
}

class Reader {
  readonly errors: string[] = [];
  readonly #path: string[] = [];

  /** What is asserted at a place and below it; undefined for nothing. */
  read(value: unknown, rule: OwnershipRule, levelsLeft: number): FieldSet | undefined {
    if (levelsLeft === 0 || value === null) return LEAF;
    if (rule.kind === 'leaf') {
      if (rule.inside !== undefined) this.#look(value, rule.inside, levelsLeft);
      return LEAF;
    }
    if (rule.kind === 'set' || rule.kind === 'keyed') {
      if (!Array.isArray(value)) return this.#wrong(`expected list, got &{${mapText(value)}}`);
      return rule.kind === 'set' ? this.#set(value) : this.#keyed(value, rule, levelsLeft - 1);
    }
    if (isJsonObject(value)) return this.#members(value, rule, levelsLeft - 1);
    return rule.kind === 'deduced' ? LEAF : this.#wrong(`expected map, got &{${mapText(value)}}`);
  }

  /** Into what is asserted as a whole: what its type does not have is refused there as well. */
  #look(value: unknown, { isList, rule }: Inside, levelsLeft: number): void {
    if (!isList) this.read(value, rule(), levelsLeft);
    else if (!Array.isArray(value)) this.#wrong(`expected list, got &{${mapText(value)}}`);
    else {
      for (const [index, element] of value.entries()) {
        this.#path.push(indexStep(index));
        this.read(element, rule(), levelsLeft - 1);
        this.#path.pop();
      }
    }
  }

  #members(object: JsonObject, rule: OwnershipRule, levelsLeft: number): FieldSet | undefined {
    const below: Record<string, FieldSet> = {};
    let isBare = true;
    for (const name of Object.keys(object)) {
      isBare = false;
      const member = rule.members.get(name);
      if (member?.isOwned === false) continue;
      const step = memberStep(name);
      this.#path.push(step);
      const memberRule = rule.isClosed && member === undefined ? undefined : rule.below(name);
      if (memberRule === undefined) this.#wrong('field not declared in schema');
      else {
        const fields = this.read(object[name], memberRule, levelsLeft);
        // Members of a type come and go with what is in them; keys of a map are there in their own right.
        const isIn = rule.kind !== 'struct' && member === undefined;
        // Nobody owns the metadata itself, be it that there is nothing in it.
        const own = member?.stays === true && fields === LEAF ? undefined : fields;
        const part = isIn ? node(true, fields ?? LEAF) : own;
        if (part !== undefined) below[step] = part;
      }
      this.#path.pop();
    }
    if (isBare) return LEAF;
    for (const _ in below) return inOrder(below);
    return undefined;
  }

  #set(list: readonly unknown[]): FieldSet | undefined {
    return this.#elements(
      list,
      (value) => valueStep(value),
      () => LEAF,
      (value) => noScalar(value),
    );
  }

  #keyed(list: readonly unknown[], rule: OwnershipRule, levelsLeft: number): FieldSet | undefined {
    return this.#elements(
      list,
      (element) => keyStep(element, rule.keys),
      (element) => this.read(element, rule.element, levelsLeft),
      (element) => withoutKey(element, rule),
    );
  }

  #elements(
    list: readonly unknown[],
    stepOf: (element: unknown) => string | undefined,
    fieldsOf: (element: unknown) => FieldSet | undefined,
    problemOf: (element: unknown) => string,
  ): FieldSet | undefined {
    const below: Record<string, FieldSet> = {};
    for (const [index, element] of list.entries()) {
      const step = stepOf(element);
      if (step === undefined) return this.#wrong(`element ${index}: ${problemOf(element)}`);
      if (below[step] !== undefined) this.#wrong(`duplicate entries for key ${pathText([step])}`);
      this.#path.push(step);
      below[step] = node(true, fieldsOf(element) ?? LEAF)!;
      this.#path.pop();
    }
    for (const _ in below) return inOrder(below);
    return undefined;
  }

  #wrong(problem: string): undefined {
    if (this.errors.length < ERRORS_LISTED_MAX) this.errors.push(`${pathText(this.#path)}: ${problem}`);
    return undefined;
  }
}

/** What an element of a set is that has no step. */
function noScalar(value: unknown): string {
  if (Array.isArray(value)) return 'not supported: associative list with lists as elements';
  const what = value === null ? 'an explicit null' : 'a map type';
  return `associative list without keys has an element that's ${what}`;
}

/** What an element of a list with keys is that has no step. */
function withoutKey(element: unknown, { keys }: OwnershipRule): string {
  if (element === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(element)) return 'associative list with keys may not have non-map elements';
  const missing = keys.find(({ name, whenAbsent }) => (element[name] ?? whenAbsent) === undefined);
  const name = JSON.stringify((missing ?? keys[0])?.name);
  return `associative list with keys has an element that omits key field ${name} (and doesn't have default value)`;
}

/** True when a set has the member itself, or something in it where a type's members stand for what is in them. */
export function isAsserted(fields: FieldSet | undefined, isStructMember: boolean): boolean {
  return fields !== undefined && (isStructMember || hasSelf(fields));
}
