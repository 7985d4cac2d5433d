// What a validation run writes to: the path it stands at, and the errors found so far. One per validator, used again for
// every object: a run over a valid object allocates nothing. Decides nothing.
import type { Dialect } from '../../config/dialect.ts';
import type { FeatureGateName } from '../../config/feature-gates.ts';
import type { JsonObject } from '../json/json-value.ts';
import * as wrong from '../status/field-error.ts';
import { type FieldError, NO_FIELD_ERRORS } from '../status/field-error.ts';

/** Errors of one object that are kept; a body of megabytes could have one per byte. */
const ERRORS_MAX = 1000;

/** What of the server's options the rules depend on. */
export interface ValidationSettings {
  /** `--allow-privileged`. */
  readonly allowPrivileged: boolean;
  /** Whether a feature gate is on. */
  readonly gate: (name: FeatureGateName) => boolean;
}

const NO_LIST: readonly unknown[] = [];

/** Values that rules of their parts look at. */
export interface Surroundings {
  podSpec?: object | undefined;
  container?: object | undefined;
  /** A projected volume. */
  projected?: object | undefined;
}

/** Paths given to the error functions are relative to where the run stands: '' is that value itself. */
export class Report {
  readonly dialect: Dialect;
  readonly settings: ValidationSettings;
  /** The whole object of the run. */
  root: JsonObject = {};
  /** What the object replaces; undefined: it is new. */
  stored: JsonObject | undefined;
  /** What rules look at beside their own value: what stands around it. */
  readonly around: Surroundings = {};
  /** The list whose element the run stands in, which one that is, and the number of errors before it. */
  list: readonly unknown[] = NO_LIST;
  index = 0;
  start = 0;
  /** Elements of lists with errors in them. */
  readonly faulty = new Set<unknown>();
  readonly #met = new Map<readonly unknown[], Map<unknown, Map<unknown, unknown>>>();
  readonly #parts: (string | number)[] = [];
  #depth = 0;
  #errors: FieldError[] | undefined;

  constructor(dialect: Dialect, settings: ValidationSettings) {
    this.dialect = dialect;
    this.settings = settings;
  }

  begin(root: JsonObject, stored?: JsonObject): void {
    this.root = root;
    this.stored = stored;
    this.#depth = 0;
    this.#errors = undefined;
    this.stand(NO_LIST, 0, 0);
    if (this.faulty.size > 0) this.faulty.clear();
    if (this.#met.size > 0) this.#met.clear();
  }

  /** The object replaces a stored one. */
  get isUpdate(): boolean {
    return this.stored !== undefined;
  }

  /** The errors of the run; the shared empty list when there are none. */
  end(): readonly FieldError[] {
    const errors = this.#errors;
    this.#errors = undefined;
    this.root = {};
    this.stored = undefined;
    this.list = NO_LIST;
    return errors ?? NO_FIELD_ERRORS;
  }

  /** Steps into a member, or into an element by its index. */
  enter(part: string | number): void {
    this.#parts[this.#depth++] = part;
  }

  /** Steps into the value of a map's key. */
  enterKey(key: string): void {
    this.#parts[this.#depth++] = `[${key}]`;
  }

  leave(): void {
    this.#depth--;
  }

  /** Steps out, and answers with what was left. */
  step(): string | number {
    return this.#parts[--this.#depth]!;
  }

  /** Notes which element of a list the run stands in. Answers with `start`. */
  stand(list: readonly unknown[], index: number, start: number): number {
    this.list = list;
    this.index = index;
    this.start = start;
    return start;
  }

  /** The number of errors so far, to see whether a step added any. */
  get count(): number {
    return this.#errors === undefined ? 0 : this.#errors.length;
  }

  /** What a rule has met by key in a list that is too long to be looked through again and again. Empty at first. */
  metIn(list: readonly unknown[], rule: unknown): Map<unknown, unknown> {
    let rules = this.#met.get(list);
    if (rules === undefined) {
      rules = new Map();
      this.#met.set(list, rules);
    }
    let met = rules.get(rule);
    if (met === undefined) {
      met = new Map();
      rules.set(rule, met);
    }
    return met;
  }

  /** The full path of a place below this one. */
  path(sub = ''): string {
    let path = '';
    for (let i = 0; i < this.#depth; i++) path = joined(path, this.#parts[i]!);
    return sub === '' ? path : joined(path, sub);
  }

  required(sub: string, detail = ''): void {
    if (this.#hasRoom) this.#add(wrong.required(this.path(sub), detail));
  }

  invalid(sub: string, value: unknown, detail: string): void {
    if (this.#hasRoom) this.#add(wrong.invalid(this.path(sub), value, detail));
  }

  notSupported(sub: string, value: unknown, supported: readonly string[]): void {
    if (this.#hasRoom) this.#add(wrong.notSupported(this.path(sub), value, supported));
  }

  forbidden(sub: string, detail: string): void {
    if (this.#hasRoom) this.#add(wrong.forbidden(this.path(sub), detail));
  }

  duplicate(sub: string, value: unknown): void {
    if (this.#hasRoom) this.#add(wrong.duplicate(this.path(sub), value));
  }

  notFound(sub: string, value: unknown): void {
    if (this.#hasRoom) this.#add(wrong.notFound(this.path(sub), value));
  }

  tooLong(sub: string, bytesMax: number): void {
    if (this.#hasRoom) this.#add(wrong.tooLong(this.path(sub), bytesMax));
  }

  tooMany(sub: string, count: number, countMax: number): void {
    if (this.#hasRoom) this.#add(wrong.tooMany(this.path(sub), count, countMax));
  }

  /** One FieldValueInvalid for each problem. */
  problems(sub: string, value: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(sub, value, problem);
  }

  /** Errors that carry full paths already. */
  addAll(errors: readonly FieldError[]): void {
    for (const error of errors) if (this.#hasRoom) this.#add(error);
  }

  /** Asked before an error is made: making one looks at a value, which may be huge. */
  get #hasRoom(): boolean {
    return this.count < ERRORS_MAX;
  }

  #add(error: FieldError): void {
    this.#errors ??= [];
    this.#errors.push(error);
  }
}

function joined(path: string, part: string | number): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  if (path === '') return part;
  return part.startsWith('[') ? path + part : `${path}.${part}`;
}
