// The language the rules of kinds are written in: tables by schema type, a row per field, and named functions for what a
// row cannot say. compile-rules.ts makes validators of them; the schema says where a type occurs, so a rule is written once.
import type { FieldFormat } from './field-formats.ts';
import type { Report, Surroundings } from './report.ts';

/**
 * A rule no row can say. Written for the type of value it stands with (`Rule<PodSpec>`), whose shape the decoder has
 * ensured; tables hold them all as `AnyRule`.
 */
export type Rule<T> = (value: T, at: Report) => void;
export type AnyRule = Rule<never>;

/** A rule for a change: the value to be, and the stored one. */
export type ChangeRule<T> = (next: T, stored: T, at: Report) => void;
export type AnyChangeRule = ChangeRule<never>;

/**
 * What must hold of one field. A value that is absent or empty breaks `required` only; the other rules are for values
 * that are there, and the empty text is one where the schema tells it from an absent one. For a list, `format`, `enum`, `min` and `max` are of its elements; for a map, of its values.
 */
export interface FieldRules {
  /** A text gives the detail of the error. */
  readonly required?: true | string;
  /** The text is in the enumeration that the schema names (`listed`: shown in the schema's order), or in this list. */
  readonly enum?: true | 'listed' | readonly string[];
  /** Inclusive. */
  readonly min?: number;
  readonly max?: number;
  /** What is said of a number below `min`, and of one above `max`; absent: the range. */
  readonly below?: string;
  readonly above?: string;
  readonly format?: FieldFormat;
  /** What is said of a value out of `enum` (with the reason invalid), `min` and `max`. Absent: what those are. */
  readonly outside?: string;
  /** UTF-8 bytes of a text. */
  readonly bytesMax?: number;
  readonly itemsMax?: number;
  /** No two elements are equal (`true`), or equal in this member. The last that is found of an element. */
  readonly unique?: true | string;
  /** The format of a map's keys. */
  readonly keys?: FieldFormat;
  /** Why the field must not be set at all. */
  readonly forbidden?: string;
  /** An empty text is held to the rest as well, after `required` where there is that. */
  readonly emptyToo?: true;
  /** The empty text is as good as none. */
  readonly mayBeEmpty?: true;
  /** Errors of `required` (invalid), or of `enum` (invalid), `min` and `max` (forbidden), carry this reason instead. */
  readonly reason?: 'invalid' | 'forbidden';
  /** Where errors are reported when that is not the field: a sibling's name, or '' for the parent. */
  readonly reportedAt?: string;
  /** What is wrong with an element is reported at the list. */
  readonly reportedAtList?: true;
  /** The rules of the field's type are not for this place. */
  readonly opaque?: true;
  /** The row, and the rules of the field's type, are for objects of which these members say this, or this holds. */
  readonly when?: Readonly<Record<string, string>> | ((owner: never, at: Report) => boolean);
  /** Rules of the value that is there, in order. */
  readonly rules?: readonly AnyRule[];
}

/** Members of which one is set. The first that is has its turn, and others are not looked into. */
export interface Choice {
  readonly choice: readonly string[];
  /** Why another is forbidden. Absent: a rule says it. */
  readonly more?: string;
  /** Where that is reported when it is not the member. */
  readonly moreAt?: Readonly<Record<string, string>>;
  /** Why there must be one. */
  readonly none?: string;
}

/** Among the rules of a type: what follows is for values that nothing was wrong with so far. */
export const STOP = Symbol('stop');

/**
 * The rules of a type: of its fields, and of the whole value. Errors come in the order of `rules`, where the name of a
 * field is its turn: what its row says, then the rules of its type. Fields without a turn come before: those with rows in
 * the order of the rows, then those whose types have rules, in the schema's. Clients see this order, and it is
 * Kubernetes'.
 */
export interface TypeRules {
  /** As what the rules of its parts find the value (`Report.around`). */
  readonly around?: keyof Surroundings;
  readonly fields?: Readonly<Record<string, FieldRules>>;
  readonly rules?: readonly (AnyRule | string | Choice | typeof STOP)[];
}

/**
 * Rules by schema type. A key without version (`networking.IngressSpec`) is for every version that has no key of its
 * own.
 */
export type RuleTable = Readonly<Record<string, TypeRules>>;

/** What must hold of one field of a kind from one version of an object to the next. */
export interface FieldChangeRules {
  /** `once`: may be set when it was not. */
  readonly immutable?: true | 'once';
  /** Absent: invalid. */
  readonly reason?: 'invalid' | 'forbidden';
  readonly reportedAt?: string;
  /** What is said of an immutable field; absent: that it is immutable. */
  readonly text?: string;
  readonly rules?: readonly AnyChangeRule[];
}

/** Among the rules of a change: here the rules of a create are applied again. */
export const CREATE_RULES = Symbol('create rules');

/**
 * What an update of a kind is held to. Keys of `fields` are dotted paths from the object. Errors come in the order of
 * `rules`, where such a key is the turn of that field; fields without a turn come before, and before these the rules of a
 * create unless they have theirs.
 */
export interface ChangeRules {
  readonly fields?: Readonly<Record<string, FieldChangeRules>>;
  readonly rules?: readonly (AnyChangeRule | string | typeof CREATE_RULES)[];
  /** The rules of a create are not applied again: these say everything. */
  readonly only?: true;
}

/** Change rules by kind, keyed as RuleTable. */
export type ChangeTable = Readonly<Record<string, ChangeRules>>;
