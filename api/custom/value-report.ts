// Where the checks of a custom object write what is wrong: the place they stand at, and the errors so far. A valid object
// allocates nothing here.

import type { FieldError } from '../status/field-error.ts';
import * as wrong from '../status/field-error.ts';

const ERRORS_MAX = 1000;

export class ValueReport {
  #errors: FieldError[] = [];
  readonly #parts: (string | number)[] = [];

  enter(part: string | number): void {
    this.#parts.push(part);
  }

  leave(): void {
    this.#parts.pop();
  }

  get errors(): readonly FieldError[] {
    return this.#errors;
  }

  /** The place, or one below it; the empty text at the top. */
  path(below = ''): string {
    let path = '';
    for (const part of this.#parts) path = joined(path, part);
    return below === '' ? path : joined(path, below);
  }

  required(name: string): void {
    this.#add(wrong.required(this.path(name)));
  }

  invalid(value: unknown, complaint: string): void {
    const path = this.path();
    this.#add(wrong.invalid(path, value, `${path} in body ${complaint}`));
  }

  /** What no one place is to be blamed for. */
  composite(complaint: string): void {
    this.#add(wrong.invalid('<nil>', '', `${JSON.stringify(this.path())} ${complaint}`));
  }

  add(error: (path: string) => FieldError): void {
    this.#add(error(this.path()));
  }

  addAll(errors: readonly FieldError[]): void {
    for (const error of errors) this.#add(error);
  }

  /** The errors of a check that is tried, which are not this object's yet. */
  tried(check: () => void): readonly FieldError[] {
    const before = this.#errors;
    this.#errors = [];
    check();
    const found = this.#errors;
    this.#errors = before;
    return found;
  }

  #add(error: FieldError): void {
    if (this.#errors.length < ERRORS_MAX) this.#errors.push(error);
  }
}

function joined(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  return path === '' ? part : `${path}.${part}`;
}
