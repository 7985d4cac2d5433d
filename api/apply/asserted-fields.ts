// The fields that an applied configuration asserts, and what is wrong with it: members its type does not have, lists whose
// elements cannot be told apart. Scalars are checked where the merged object is decoded.
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { badRequest } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import { keyStep, memberStep, pathText, valueStep } from './field-path.ts';
import { FIELD_LEVELS_MAX, type FieldSet, hasSelf, inOrder, LEAF, NO_FIELDS, node } from './field-set.ts';
import type { OwnershipRule } from './ownership-rule.ts';

const ERRORS_LISTED_MAX = 20;

/**
 * The set of fields of a configuration. What the server owns is left out. Throws StatusError 400 naming the members that
 * the type does not have, and elements that lack or repeat their keys.
 */
export function assertedFields(config: JsonObject, rule: OwnershipRule): FieldSet {
  const reader = new Reader();
  const fields = reader.read(config, rule, FIELD_LEVELS_MAX) ?? NO_FIELDS;
  if (reader.errors.length > 0) {
    throw new StatusError(badRequest(`the configuration does not fit its type: ${reader.errors.join('; ')}`));
  }
  return fields;
}

class Reader {
  readonly errors: string[] = [];
  readonly #path: string[] = [];

  /** What is asserted at a place and below it; undefined for nothing. */
  read(value: unknown, rule: OwnershipRule, levelsLeft: number): FieldSet | undefined {
    if (rule.kind === 'leaf' || levelsLeft === 0 || value === null) return LEAF;
    if (rule.kind === 'set' || rule.kind === 'keyed') {
      if (!Array.isArray(value)) return this.#wrong('must be a list');
      return rule.kind === 'set' ? this.#set(value) : this.#keyed(value, rule, levelsLeft - 1);
    }
    if (isJsonObject(value)) return this.#members(value, rule, levelsLeft - 1);
    return rule.kind === 'deduced' ? LEAF : this.#wrong('must be an object');
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
      const memberRule = rule.below(name);
      if (memberRule === undefined) this.#wrong('the type has no such field');
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
      'must be a list of scalars',
    );
  }

  #keyed(list: readonly unknown[], rule: OwnershipRule, levelsLeft: number): FieldSet | undefined {
    const names = rule.keys.map(({ name }) => name).join(' and ');
    return this.#elements(
      list,
      (element) => keyStep(element, rule.keys),
      (element) => this.read(element, rule.element, levelsLeft),
      `must have a ${names} in each element`,
    );
  }

  #elements(
    list: readonly unknown[],
    stepOf: (element: unknown) => string | undefined,
    fieldsOf: (element: unknown) => FieldSet | undefined,
    requirement: string,
  ): FieldSet | undefined {
    const below: Record<string, FieldSet> = {};
    for (const element of list) {
      const step = stepOf(element);
      if (step === undefined) return this.#wrong(requirement);
      this.#path.push(step);
      if (below[step] !== undefined) this.#wrong('is there more than once');
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

/** True when a set has the member itself, or something in it where a type's members stand for what is in them. */
export function isAsserted(fields: FieldSet | undefined, isStructMember: boolean): boolean {
  return fields !== undefined && (isStructMember || hasSelf(fields));
}
