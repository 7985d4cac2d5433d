// The shape of one row of the option table, and the types that follow from a row: the property that holds the value and
// what can be in it. The rows themselves are in the files beside this one, reading them from argv is config/parse.ts.
import { VALUE_TYPES, type ValueTypeName } from './value-types.ts';

/** The commands that take options. `up` is the API server and the scheduler in one process. */
export type Program = 'apiserver' | 'scheduler' | 'up';

export const SERVER: readonly Program[] = ['apiserver', 'up'];
export const SCHEDULER: readonly Program[] = ['scheduler'];
export const WITH_SCHEDULER: readonly Program[] = ['scheduler', 'up'];
export const ALL_PROGRAMS: readonly Program[] = ['apiserver', 'scheduler', 'up'];

/** Longest time a timer of ours is set to: setTimeout fires at once beyond 2^31 - 1 ms, 24 days and a bit. */
export const TIMER_MS_MAX = 24 * 86_400_000;
export const INT32_MAX = 2 ** 31 - 1;

/** A shape that each text of an option must have beyond its type. */
export interface ValueForm {
  readonly pattern: RegExp;
  /** The shape in the operator's words, as in `file:line`. */
  readonly says: string;
}

/**
 * What a setting does in this release. `in force`: what it says. `refused`: a value that asks for more than there is stops the
 * start. `not in force`: it changes nothing, and a start says so. The text is what can be seen of it, or why there is nothing.
 */
export type Effect = readonly [state: EffectState, text: string];
export type EffectState = 'in force' | 'refused' | 'not in force';

/** One option as its table writes it. Texts may hold the markers of `Dialect.spell`; the name never does. */
export interface OptionRow {
  /** Without dashes. Fixed in both dialects. */
  readonly name: string;
  readonly type: ValueTypeName;
  /** One line, in our own words. */
  readonly description: string;
  /** As an operator would type it; the type's blank value when left out. */
  readonly default?: string;
  readonly defaultFor?: Readonly<Partial<Record<Program, string>>>;
  /** What a number counts. `seconds`, `days`, `bytes` and `megabytes` end the property's name too. */
  readonly unit?: string;
  /** Inclusive; milliseconds for a duration. */
  readonly bounds?: readonly [least: number, most: number];
  readonly values?: readonly string[];
  /** The values that do what they say in this release; of an option in force, any other is refused. */
  readonly valuesInForce?: readonly string[];
  readonly form?: ValueForm;
  /** A value may have a password in it: nothing that is said of a wrong one quotes it, or what stands after it. */
  readonly holdsSecrets?: true;
  /** What to do instead. */
  readonly deprecated?: string;
  /** Values or keys that still work and will not for long. */
  readonly deprecatedValues?: readonly string[];
  /** Values that do what they say, and ought not to be used: a start with one says so. */
  readonly insecureValues?: readonly string[];
  /** The letter after a single dash. */
  readonly shorthand?: string;
  /** Other names, without dashes. */
  readonly aliases?: readonly string[];
  /** Names that are on their way out, without dashes: a start with one says so. */
  readonly formerNames?: readonly string[];
  /** What can be seen of it. */
  readonly effect: Effect;
}

/** Rows that share a heading and the programs that take them. */
export interface OptionGroup<Rows extends readonly OptionRow[] = readonly OptionRow[]> {
  readonly title: string;
  readonly programs: readonly Program[];
  readonly rows: Rows;
}

/** A group whose rows keep their literal types, from which `OptionsOf` derives the typed result. */
export function optionGroup<const Rows extends readonly OptionRow[]>(
  title: string,
  programs: readonly Program[],
  rows: Rows,
): OptionGroup<Rows> {
  return { title, programs, rows };
}

/** A row with everything its group and type say about it. */
export interface Option extends OptionRow {
  readonly group: string;
  readonly programs: readonly Program[];
  /** The name in the options object. */
  readonly property: string;
  readonly repeatable: boolean;
}

const SUFFIX_UNITS: readonly string[] = ['seconds', 'days', 'bytes', 'megabytes'];
type SuffixUnit = 'seconds' | 'days' | 'bytes' | 'megabytes';

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** `request-timeout` → `requestTimeoutMs`, `min-request-timeout` in seconds → `minRequestTimeoutSeconds`. */
type PropertyOf<Row extends OptionRow> = Row extends { readonly type: 'duration' }
  ? `${Camel<Row['name']>}Ms`
  : Row extends { readonly unit: infer Unit extends SuffixUnit }
    ? Row['name'] extends `${string}-${Unit}`
      ? Camel<Row['name']>
      : `${Camel<Row['name']>}${Capitalize<Unit>}`
    : Camel<Row['name']>;

/** Values spelled by the dialect are known only when the program runs, so their type is plain text. */
type Literal<Value extends string> = Value extends `${string}@${string}` ? string : Value;

type ValueOf<Row extends OptionRow> = Row extends {
  readonly type: 'string';
  readonly values: readonly (infer Value extends string)[];
}
  ? Literal<Value>
  : Row extends { readonly type: 'list'; readonly values: readonly (infer Value extends string)[] }
    ? readonly Literal<Value>[]
    : ReturnType<(typeof VALUE_TYPES)[Row['type']]['parse']>;

/** The typed result of the rows of `Group`: one property a row, durations in milliseconds. */
export type OptionsOf<Group extends OptionGroup> = {
  readonly [Row in Group['rows'][number] as Row['type'] extends 'action' ? never : PropertyOf<Row>]: ValueOf<Row>;
};

/** The property that holds the value of `row`: what `OptionsOf` says in types. */
function propertyName({ name, type, unit }: OptionRow): string {
  const camel = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  if (type === 'duration') return `${camel}Ms`;
  if (unit === undefined || !SUFFIX_UNITS.includes(unit) || name.endsWith(`-${unit}`)) return camel;
  return `${camel}${unit[0]!.toUpperCase()}${unit.slice(1)}`;
}

/** The rows of `groups`, each with what its group and type add. */
export function optionsOf(groups: readonly OptionGroup[]): readonly Option[] {
  return groups.flatMap(({ title, programs, rows }) =>
    rows.map((row) => ({
      ...row,
      group: title,
      programs,
      property: propertyName(row),
      repeatable: VALUE_TYPES[row.type].repeatable,
    })),
  );
}

/** The default of `option` at `program`, as an operator would type it, its markers not yet spelled by a dialect. */
export function defaultText(option: OptionRow, program: Program): string {
  return option.defaultFor?.[program] ?? option.default ?? VALUE_TYPES[option.type].blank;
}
