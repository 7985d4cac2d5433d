// The JSON paths by which definitions name what a column shows, as far as kubectl's dialect of them makes sense for one value:
// members, indexes, slices, unions, wildcards, filters, recursion. Compiled once; takes time in proportion to what it passes over,
// of which there is no more than it is allowed.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';

/** How many values may still be passed over: what lies behind them is not found. */
export interface Passage {
  left: number;
}

/** Every value that a path leads to from the values before it. */
type Step = (values: readonly unknown[], passage: Passage) => readonly unknown[];

export type JsonPath = (object: JsonObject, passage?: Passage) => readonly unknown[];

const VALUES_MAX = 1000;
const PASSED_MAX = 50_000;
/** Filters within filters: each is read again, and followed again for every value of the one around it. */
const FILTER_DEPTH_MAX = 16;

/** For all paths that are followed in one object. */
export function newPassage(): Passage {
  return { left: PASSED_MAX };
}

/** Compiles `.spec.foo`; undefined for what is no path. */
export function jsonPathOf(text: string): JsonPath | undefined {
  return pathWithin(0, text);
}

/** @param depth how many filters it stands in. */
function pathWithin(depth: number, text: string): JsonPath | undefined {
  const reader = new PathReader(text.trim(), depth);
  const steps = reader.steps();
  if (steps === undefined) return undefined;
  return (object, passage = newPassage()) => {
    let values: readonly unknown[] = [object];
    for (const step of steps) values = step(values, passage);
    return values;
  };
}

function each(expand: (value: unknown, passage: Passage) => readonly unknown[]): Step {
  return (values, passage) => {
    const found: unknown[] = [];
    for (const value of values) {
      if (passage.left-- <= 0) return found;
      for (const one of expand(value, passage)) {
        if (found.length === VALUES_MAX) return found;
        found.push(one);
      }
    }
    return found;
  };
}

function member(name: string): Step {
  return each((value) => (isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));
}

const everything: Step = each(contentsOf);

/** What lies in a value, as far as it is passed over. */
function contentsOf(value: unknown, passage: Passage): readonly unknown[] {
  const contents = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return passed(contents, passage);
}

function passed(values: readonly unknown[], passage: Passage): readonly unknown[] {
  const { left } = passage;
  passage.left -= values.length;
  return values.length <= left ? values : values.slice(0, Math.max(0, left));
}

function element(index: number): Step {
  return each((value) => {
    if (!Array.isArray(value)) return [];
    const at = index < 0 ? value.length + index : index;
    return at >= 0 && at < value.length ? [value[at]] : [];
  });
}

function range(from: number | undefined, to: number | undefined, step: number): Step {
  return each((value, passage) =>
    Array.isArray(value) ? passed(value.slice(from, to), passage).filter((_item, index) => index % step === 0) : [],
  );
}

/** Whatever has something in it, at any depth, from the outside in. */
const withinAll: Step = each(function within(value, passage): readonly unknown[] {
  const inside = contentsOf(value, passage);
  const found: unknown[] = inside.length === 0 ? [] : [value];
  for (const one of inside) {
    if (found.length >= VALUES_MAX) break;
    found.push(...within(one, passage));
  }
  return found;
});

function union(steps: readonly Step[]): Step {
  return (values, passage) => {
    const found: unknown[] = [];
    for (const step of steps) {
      if (found.length >= VALUES_MAX) break;
      found.push(...step(values, passage));
    }
    return found;
  };
}

const OPERATORS: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<=': (left, right) => (left as number) <= (right as number),
  '>=': (left, right) => (left as number) >= (right as number),
  '<': (left, right) => (left as number) < (right as number),
  '>': (left, right) => (left as number) > (right as number),
};

/**
 * Each character is taken in one way, and what follows the last of them is cut off before: where two parts of the expression could take a
 * backslash, a path of 60 of them took hours, in a thread that serves others.
 */
const FILTER = /^\?\(\s*@((?:[^=!<>\s]|\\[=!<>\s])*)\s*(?:(==|!=|<=|>=|<|>)\s*(.+))?$/s;

/** @param depth how many filters it stands in. */
function filter(text: string, depth: number): Step | undefined {
  if (depth >= FILTER_DEPTH_MAX || !text.endsWith(')')) return undefined;
  const match = FILTER.exec(text.slice(0, -1).trimEnd());
  if (match === null) return undefined;
  const [, pathText = '', operator, literal = ''] = match;
  const path = pathText.includes('..') ? undefined : pathWithin(depth + 1, pathText);
  if (path === undefined) return undefined;
  const wanted = literalOf(literal);
  const holds = (item: unknown, passage: Passage): boolean => {
    if (!isJsonObject(item)) return false;
    const found = path(item, passage);
    if (operator === undefined) return found.length > 0;
    return found.length > 0 && OPERATORS[operator]!(found[0], wanted);
  };
  return each((value, passage) =>
    Array.isArray(value) ? passed(value, passage).filter((item) => holds(item, passage)) : [],
  );
}

function literalOf(text: string): unknown {
  if (/^(["']).*\1$/.test(text)) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  return Number(text);
}

/** Keys stand between single quotes alone. */
const ONE_KEY = /^'[^']*'$/;

/** One of the things between brackets. */
function selection(text: string): Step | undefined {
  if (text === '*') return everything;
  if (/^'.*'$/.test(text)) return member(text.slice(1, -1).replace(/\\(.)/g, '$1'));
  if (/^-?\d+$/.test(text)) return element(Number(text));
  const [, from, to, step = ''] = /^(-?\d*):(-?\d*)(?::(\d*))?$/.exec(text) ?? [];
  if (from === undefined || to === undefined || /^0+$/.test(step)) return undefined;
  const bound = (digits: string): number | undefined => (digits === '' ? undefined : Number(digits));
  return range(bound(from), bound(to), bound(step) ?? 1);
}

class PathReader {
  readonly #text: string;
  /** How many filters the path stands in. */
  readonly #depth: number;
  #at = 0;

  constructor(text: string, depth: number) {
    this.#text = text;
    this.#depth = depth;
  }

  steps(): readonly Step[] | undefined {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      const step = this.#text[this.#at] === '[' ? this.#bracketed() : this.#dotted();
      // Once: what is passed over stays in proportion to the object.
      if (step === undefined || (step === withinAll && steps.includes(withinAll))) return undefined;
      if (step !== 'none') steps.push(step);
    }
    return steps;
  }

  #dotted(): Step | 'none' | undefined {
    if (this.#text[this.#at] !== '.') return undefined;
    this.#at++;
    let name = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!;
      if (char === '.' || char === '[') break;
      if (char === '\\') this.#at++;
      name += this.#text[this.#at] ?? '';
    }
    if (name === '*') return everything;
    if (name !== '') return member(name);
    // `.` alone is the value itself, as before a bracket.
    return this.#text[this.#at] === '.' ? withinAll : 'none';
  }

  #bracketed(): Step | undefined {
    const inside = this.#insideBracket();
    if (inside === undefined) return undefined;
    if (inside.startsWith('?')) return filter(inside, this.#depth);
    const parts = ONE_KEY.test(inside) ? [inside] : inside.split(',');
    const steps = parts.map((part) => selection(part.trim())).filter((step) => step !== undefined);
    return steps.length < parts.length ? undefined : union(steps);
  }

  /** What stands between brackets; quotes and inner brackets belong to it. */
  #insideBracket(): string | undefined {
    const begin = ++this.#at;
    let depth = 1;
    let quote = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!;
      if (char === '\\') this.#at++;
      else if (quote !== '') quote = char === quote ? '' : quote;
      else if (char === '"' || char === "'") quote = char;
      else if (char === '[') depth++;
      else if (char === ']' && --depth === 0) return this.#text.slice(begin, this.#at++).trim();
    }
    return undefined;
  }
}
