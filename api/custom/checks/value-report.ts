// Where the checks of a custom object write what is wrong: the place they stand at, and the errors so far. A valid object
// allocates nothing here.

import type { FieldError } from '../../status/field-error.ts';
import * as wrong from '../../status/field-error.ts';
import { EFFORT, spend } from './effort.ts';

const ERRORS_MAX = 1000;

/** What is the whole value's, where that has no place. */
const NO_PLACE = '<nil>';

/** What one alternative of several has found. */
export interface Attempt {
  /** Undefined: nothing is wrong. */
  readonly errors: ReadonlyMap<string, FieldError> | undefined;
  /** How much of the value the alternative was about: the more, the likelier it is the one that was meant. */
  readonly matches: number;
}

export class ValueReport {
  /** Where the value stands in the object that errors are told of; empty: it is that object. */
  readonly #base: string;
  /** By what they say, values aside: what a list's elements have in common is told of the first. */
  #errors: Map<string, FieldError> | undefined;
  readonly #parts: (string | number)[] = [];
  /** The first part is a member that no property names. */
  #beginsUnnamed = false;
  /** Counted as the original counts it, which tells the errors of the alternative with the most of them. */
  matches = 0;

  constructor(base = '') {
    this.#base = base;
  }

  enter(part: string | number): void {
    this.#parts.push(part);
  }

  /** Steps into the value of a map's key. */
  enterKey(key: string): void {
    this.#parts.push(`[${key}]`);
  }

  /** Steps into a member that no property names. */
  enterUnnamed(name: string): void {
    if (this.#parts.length === 0) this.#beginsUnnamed = true;
    this.#parts.push(name);
  }

  leave(): void {
    this.#parts.pop();
    if (this.#parts.length === 0) this.#beginsUnnamed = false;
  }

  get errors(): readonly FieldError[] {
    return this.#errors === undefined ? wrong.NO_FIELD_ERRORS : [...this.#errors.values()];
  }

  /** The place, or one below it. */
  place(below?: string): string {
    const path = this.#path(below);
    return (path === '' ? this.#base : joined(this.#base, path)) || NO_PLACE;
  }

  required(name: string, detail = ''): void {
    this.add(wrong.required(this.place(name), detail));
  }

  /** What the schema says against the value, of which `value` is told. */
  invalid(value: unknown, complaint: string): void {
    const text = `${this.#said()} in body ${complaint}`;
    this.add(wrong.invalid(this.place(), value, text), text);
  }

  /** A schema whose number cannot be a factor. */
  factorProblem(factor: number, shown: string): void {
    const detail = `factor MultipleOf declared for ${this.#said()} must be positive: ${shown}`;
    this.add(wrong.invalid(this.place(), factor, detail));
  }

  /** A member that there must not be. */
  forbiddenMember(name: string): void {
    this.add(wrong.invalid(this.place(), name, `${this.#said()}.${name} in body is a forbidden property`));
  }

  /** What no one place is to be blamed for. */
  composite(complaint: string): void {
    this.add(wrong.invalid(this.#base || NO_PLACE, '', `${JSON.stringify(this.#said())} ${complaint}`));
  }

  /** @param text what it says but for the value. */
  add(error: FieldError, text = `${error.path} ${error.message}`): void {
    spend(EFFORT.error);
    this.#errors ??= new Map();
    if (this.#errors.size < ERRORS_MAX && !this.#errors.has(text)) this.#errors.set(text, error);
  }

  /** What an alternative finds, which is not this object's yet. */
  tried(check: (value: unknown, at: ValueReport) => void, value: unknown): Attempt {
    const before = this.#errors;
    const matchesBefore = this.matches;
    this.#errors = undefined;
    this.matches = 0;
    check(value, this);
    const attempt = { errors: this.#errors, matches: this.matches };
    this.#errors = before;
    this.matches = matchesBefore;
    return attempt;
  }

  /** Makes what an alternative has found this object's. */
  take({ errors, matches }: Attempt): void {
    if (errors !== undefined) for (const [text, error] of errors) this.add(error, text);
    this.matches += matches;
  }

  /** The place as sentences have it: within a default the original begins that of a member which no property names with a dot. */
  #said(): string {
    return this.#beginsUnnamed && this.#base !== '' ? `.${this.#path()}` : this.#path();
  }

  #path(below?: string): string {
    let path = '';
    for (const part of this.#parts) path = joined(path, part);
    return below === undefined ? path : joined(path, below);
  }
}

function joined(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  if (path === '' || part.startsWith('[')) return `${path}${part}`;
  return `${path}.${part}`;
}
