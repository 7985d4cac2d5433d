// Reads the members of a configuration file by their types: an unknown member, a wrong type and a value out of bounds are
// each refused with the path of what is wrong. Used by the files of components that are written as API objects.
import { parseDurationMs } from '../values/duration.ts';
import { ConfigurationError, type Members, memberPath, membersOf } from './configuration-file.ts';

export interface NumberBounds {
  readonly least: number;
  readonly most: number;
  /** False: fractions will do. */
  readonly whole?: boolean;
}

export class Section {
  readonly path: string;
  private readonly members: Members;

  /** `known`: the members there can be. */
  constructor(value: unknown, path: string, known: readonly string[]) {
    this.path = path;
    this.members = membersOf(value, path, known);
  }

  /** The path of a member. */
  at(name: string): string {
    return memberPath(this.path, name);
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  /** As it is written; undefined when it is not, or null. */
  value(name: string): unknown {
    const value = Object.hasOwn(this.members, name) ? this.members[name] : undefined;
    return value === null ? undefined : value;
  }

  fail(name: string, problem: string): never {
    throw new ConfigurationError(this.at(name), problem);
  }

  text(name: string, whenUnset: string): string {
    const value = this.value(name) ?? whenUnset;
    return typeof value === 'string' ? value : this.fail(name, 'must be a text');
  }

  requiredText(name: string): string {
    const text = this.text(name, '');
    return text === '' ? this.fail(name, 'is required') : text;
  }

  /** One of `values`. */
  choice<Value extends string>(name: string, values: readonly Value[], whenUnset: Value): Value {
    const text = this.text(name, whenUnset);
    return values.find((value) => value === text) ?? this.fail(name, `must be one of ${values.join(', ')}`);
  }

  flag(name: string, whenUnset: boolean): boolean {
    const value = this.value(name) ?? whenUnset;
    return typeof value === 'boolean' ? value : this.fail(name, 'must be true or false');
  }

  number(name: string, { least, most, whole = true }: NumberBounds, whenUnset: number): number {
    const value = this.value(name) ?? whenUnset;
    const isNumber = typeof value === 'number' && Number.isFinite(value) && (!whole || Number.isInteger(value));
    if (!isNumber) return this.fail(name, `must be a ${whole ? 'whole ' : ''}number`);
    return value >= least && value <= most ? value : this.fail(name, `must be within ${least} and ${most}`);
  }

  /** A duration such as `15s`, in ms. */
  durationMs(name: string, whenUnsetMs: number): number {
    const value = this.value(name);
    if (value === undefined) return whenUnsetMs;
    const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
    return ms !== undefined && ms >= 0 ? ms : this.fail(name, 'must be a duration, such as 15s');
  }

  /** An absent list is empty. */
  list(name: string): readonly unknown[] {
    const value = this.value(name) ?? [];
    return Array.isArray(value) ? value : this.fail(name, 'must be a list');
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((item, index) => {
      if (typeof item === 'string' && item !== '') return item;
      throw new ConfigurationError(`${this.at(name)}[${index}]`, 'must be a text');
    });
  }

  sections(name: string, known: readonly string[]): readonly Section[] {
    return this.list(name).map((item, index) => new Section(item, `${this.at(name)}[${index}]`, known));
  }

  /** An absent one is empty. */
  section(name: string, known: readonly string[]): Section {
    return new Section(this.value(name) ?? {}, this.at(name), known);
  }
}
