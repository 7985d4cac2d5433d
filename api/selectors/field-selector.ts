// Field selectors, compiled against the fields a type offers: `metadata.name=a,spec.nodeName!=b`. They are matched
// against an object's values in the order of those fields (selectable-values.ts makes them).
import { compareTexts } from '../../values/compare-texts.ts';
import { DEFAULT_SELECTABLE_FIELDS } from '../resources/resource-row.ts';
import { badRequest, quote } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';

export interface FieldRequirement {
  readonly field: string;
  /** Where the field's value stands among an object's values. */
  readonly index: number;
  readonly equals: boolean;
  readonly value: string;
}

export interface FieldSelector {
  /** Canonical: selectors that ask the same have the same text. Empty for one that asks nothing. */
  readonly text: string;
  readonly requirements: readonly FieldRequirement[];
  /** What is fixed to one value: field to value. An index over it need only be asked, then `matches`. */
  readonly equality: ReadonlyMap<string, string>;
  matches(values: readonly string[]): boolean;
}

/** Matches every object. */
const EVERY_FIELD: FieldSelector = Object.freeze({
  text: '',
  requirements: [],
  equality: new Map<string, string>(),
  matches: () => true,
});

/** Fields known by a second name, where the type offers the first. */
const FIELD_ALIASES: Readonly<Record<string, string>> = { 'spec.host': 'spec.nodeName' };

/** Tried in this order at each place of a term, so that `!=` and `==` are not taken for `=`. */
const OPERATORS = ['!=', '==', '='] as const;

/** One term of a selector, of whatever type. */
export interface FieldTerm {
  readonly field: string;
  readonly equals: boolean;
  readonly value: string;
}

/**
 * The terms of a `fieldSelector` parameter, those left out that say nothing (``, `=`, `==` and `!=`). They are joined by
 * commas; `\`, `,` and `=` in a value are escaped by a backslash. Throws StatusError 400 for text that cannot be read: of
 * several problems, as in 1.21, that of the term that comes first in alphabetical order.
 */
export function parseFieldTerms(text: string): readonly FieldTerm[] {
  const terms: FieldTerm[] = [];
  for (const part of splitTerms(text).sort(compareTexts)) {
    if (part === '') continue;
    const term = parseTerm(part, text);
    if (term.field !== '' || term.value !== '') terms.push(term);
  }
  return terms;
}

/**
 * The selector of a `fieldSelector` parameter. Empty matches everything. Throws StatusError 400 as above, and for a field
 * that the type does not offer.
 */
export function compileFieldSelector(text: string, selectableFields: readonly string[]): FieldSelector {
  return text === '' ? EVERY_FIELD : compileFieldTerms(parseFieldTerms(text), selectableFields);
}

function compileFieldTerms(terms: readonly FieldTerm[], selectableFields: readonly string[]): FieldSelector {
  const byText = new Map<string, FieldRequirement>();
  for (const term of terms) {
    const requirement = { ...term, ...findField(term.field, selectableFields) };
    byText.set(
      `${requirement.field}${requirement.equals ? '=' : '!='}${escapeFieldValue(requirement.value)}`,
      requirement,
    );
  }
  if (byText.size === 0) return EVERY_FIELD;
  const texts = [...byText.keys()].sort();
  const requirements = texts.map((key) => byText.get(key)!);
  return {
    text: texts.join(','),
    requirements,
    equality: new Map(requirements.filter(({ equals }) => equals).map(({ field, value }) => [field, value])),
    matches: matcherOf(requirements),
  };
}

/** What a field must not be is one question, however much of it there is: every object of a type is asked. */
function matcherOf(requirements: readonly FieldRequirement[]): FieldSelector['matches'] {
  const wanted = requirements.filter(({ equals }) => equals);
  const unwanted = new Map<number, Set<string>>();
  for (const { index, value } of requirements.filter(({ equals }) => !equals)) {
    const values = unwanted.get(index) ?? new Set();
    unwanted.set(index, values.add(value));
  }
  return (values) => {
    for (const { index, value } of wanted) if ((values[index] ?? '') !== value) return false;
    if (unwanted.size === 0) return true;
    for (const [index, refused] of unwanted) if (refused.has(values[index] ?? '')) return false;
    return true;
  };
}

/** What a type offers, and what the store calls the fields that it calls otherwise. */
interface SelectableType {
  readonly selectableFields: readonly string[];
  readonly storedFieldNames: Readonly<Record<string, string>>;
}

/** The text of terms over the fields as the store names them. Throws StatusError 400 for a field that is not offered. */
export function storedFieldSelector(terms: readonly FieldTerm[], type: SelectableType): string {
  const { requirements } = compileFieldTerms(terms, type.selectableFields);
  const names = type.storedFieldNames;
  return requirements
    .map(({ field, equals, value }) => {
      const stored = Object.hasOwn(names, field) ? names[field]! : field;
      return `${stored}${equals ? '=' : '!='}${escapeFieldValue(value)}`;
    })
    .join(',');
}

/** A value as it is written in a field selector. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** Splits at commas that no backslash precedes; escapes stay as they are. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') {
      at++;
    } else if (text[at] === ',') {
      terms.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  terms.push(text.slice(begin));
  return terms;
}

function parseTerm(term: string, selector: string): FieldTerm {
  const at = term.search(/!=|=/);
  const operator = at < 0 ? undefined : OPERATORS.find((candidate) => term.startsWith(candidate, at));
  if (operator === undefined)
    throw unreadable(`invalid selector: '${shortened(selector)}'; can't understand '${shortened(term)}'`);
  const value = unescapeFieldValue(term.slice(at + operator.length));
  return { field: term.slice(0, at), equals: operator !== '!=', value };
}

/** An escape, or a character that stands for itself. */
const CHARACTERS = /\\.?|./gsu;

/** Throws 400 for other escapes, and for what has to be escaped. */
function unescapeFieldValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  return text.replace(CHARACTERS, (character) => {
    if (character === ',' || character === '=')
      throw unreadable(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    if (!character.startsWith('\\')) return character;
    const escaped = character.slice(1);
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped;
    throw unreadable(`invalid field selector: invalid escape sequence: ${character}`);
  });
}

function findField(
  name: string,
  selectableFields: readonly string[],
): { readonly field: string; readonly index: number } {
  const alias = Object.hasOwn(FIELD_ALIASES, name) ? FIELD_ALIASES[name]! : name;
  const field = selectableFields.includes(alias) ? alias : name;
  const index = selectableFields.indexOf(field);
  if (index < 0) throw unreadable(notSelectable(name, selectableFields));
  return { field, index };
}

function notSelectable(name: string, selectableFields: readonly string[]): string {
  if (selectableFields !== DEFAULT_SELECTABLE_FIELDS) return `field label not supported: ${name}`;
  return `${quote(name)} is not a known field selector: only ${selectableFields.map(quote).join(', ')}`;
}

function unreadable(problem: string): StatusError {
  return new StatusError(badRequest(problem));
}

function shortened(text: string): string {
  return text.length > 256 ? `${text.slice(0, 256)}…` : text;
}
