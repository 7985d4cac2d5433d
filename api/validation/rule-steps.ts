// The steps that rules are made of: each makes, of what a row of a table says, a function that looks at one value. Pure; which steps a
// field has, and in which order, is compile-rules.ts.
import type { JsonObject } from '../json/json-value.ts';
import { shownIntOrString } from '../status/shown-value.ts';
import { formatProblems } from './field-formats.ts';
import { distinct } from './repeats.ts';
import type { Report, Surroundings } from './report.ts';
import type { Choice, FieldRules } from './rule.ts';

/** Looks at a value that is there, and reports what is wrong with it. */
export type Check = (value: unknown, at: Report) => void;

/** What comes after a stop is for values that nothing was wrong with. */
export function inTwo(part: Check | undefined, rest: Check | undefined): Check | undefined {
  if (part === undefined || rest === undefined) return part ?? rest;
  return (value, at) => {
    const { count } = at;
    part(value, at);
    if (at.count === count) rest(value, at);
  };
}

/** Makes a value known to the rules of its parts. */
export function knownAs(name: keyof Surroundings, check: Check): Check {
  return (value, at) => {
    const outer = at.around[name];
    at.around[name] = value as object;
    check(value, at);
    at.around[name] = outer;
  };
}

export function choiceStep({ choice, more, moreAt = {}, none }: Choice, turns: readonly (Check | undefined)[]): Check {
  return (value, at) => {
    let found = 0;
    for (let i = 0; i < choice.length; i++) {
      const member = (value as JsonObject)[choice[i]!];
      if (member === undefined || member === null) continue;
      if (found++ === 0) turns[i]?.(value, at);
      else if (more !== undefined) at.forbidden(moreAt[choice[i]!] ?? choice[i]!, more);
    }
    if (found === 0 && none !== undefined) at.required('', none);
  };
}

export function onlyWhen(when: NonNullable<FieldRules['when']>, step: Check): Check {
  if (typeof when === 'function') {
    return (value, at) => {
      if (when(value as never, at)) step(value, at);
    };
  }
  const wanted = Object.entries(when);
  return (value, at) => {
    if (wanted.every(([name, text]) => (value as JsonObject)[name] === text)) step(value, at);
  };
}

export function optionalMember(name: string, check: Check): Check {
  return (value, at) => {
    const member = (value as JsonObject)[name];
    if (member === undefined || member === null || member === '') return;
    at.enter(name);
    check(member, at);
    at.leave();
  };
}

/** A member whose empty text is one that somebody has set. */
export function presentMember(name: string, check: Check): Check {
  return (value, at) => {
    const member = (value as JsonObject)[name];
    if (member === undefined || member === null) return;
    at.enter(name);
    check(member, at);
    at.leave();
  };
}

/**
 * A member that must not be empty. One that is, zero among them, is reported as missing and mostly as nothing else.
 * `isTextOrNone`: an empty text is there, and none of those that may be.
 */
export function neededMember(name: string, rules: FieldRules, check: Check | undefined, isTextOrNone: boolean): Check {
  const { required, reason, reportedAt = name, emptyToo } = rules;
  const detail = required === true || required === undefined ? '' : required;
  const inside: Check = (member, at) => {
    if (check === undefined) return;
    at.enter(name);
    check(member, at);
    at.leave();
  };
  return (value, at) => {
    const member = (value as JsonObject)[name];
    if (!isEmpty(member) || (isTextOrNone && member === '')) {
      inside(member, at);
      return;
    }
    if (reason === 'invalid') at.invalid(reportedAt, member ?? '', detail === '' ? 'must not be empty' : detail);
    else at.required(reportedAt, detail);
    if (emptyToo) inside('', at);
  };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true;
  return Array.isArray(value) && value.length === 0;
}

export function sequence(checks: readonly Check[]): Check | undefined {
  const [first, second] = checks;
  if (first === undefined || second === undefined) return first;
  if (checks.length === 2) {
    return (value, at) => {
      first(value, at);
      second(value, at);
    };
  }
  return (value, at) => {
    for (const check of checks) check(value, at);
  };
}

/** Runs a check as if the value stood at a sibling, or at its parent. */
export function elsewhere(check: Check, sibling: string): Check {
  return (value, at) => {
    const before = at.step();
    if (sibling !== '') at.enter(sibling);
    check(value, at);
    if (sibling !== '') at.leave();
    at.enter(before);
  };
}

/** Runs a check of an element as if it were of the list. */
export function elsewhereInList(check: Check): Check {
  return (value, at) => {
    const index = at.step();
    check(value, at);
    at.enter(index);
  };
}

export function forbid(detail: string): Check {
  return (value, at) => {
    if (!isEmpty(value)) at.forbidden('', detail);
  };
}

export function eachItem(check: Check): Check {
  return (value, at) => {
    const { list: outerList, index: outerIndex, start: outerStart } = at;
    const list = value as readonly unknown[];
    for (let i = 0; i < list.length; i++) {
      const start = at.stand(list, i, at.count);
      at.enter(i);
      check(list[i], at);
      at.leave();
      if (at.count > start) at.faulty.add(list[i]);
    }
    at.stand(outerList, outerIndex, outerStart);
  };
}

export function eachValue(check: Check): Check {
  return (value, at) => {
    const map = value as JsonObject;
    for (const key in map) {
      at.enterKey(key);
      check(map[key], at);
      at.leave();
    }
  };
}

export function keysOf(format: NonNullable<FieldRules['keys']>): Check {
  const problems = formatProblems(format);
  return (value, at) => {
    for (const key in value as JsonObject) {
      const found = problems(key);
      if (found.length > 0) at.problems(`[${key}]`, key, found);
    }
  };
}

/** Of a list that is too long the items are not looked at. */
export function countAtMost(countMax: number, ofItems: Check | undefined): Check {
  return (value, at) => {
    const { length } = value as readonly unknown[];
    if (length > countMax) at.tooMany('', length, countMax);
    else ofItems?.(value, at);
  };
}

export function distinctBy(by: true | string): Check {
  if (by === true) return distinct<string>((text) => text) as Check;
  return distinct<JsonObject>(
    (element) => element[by] as string | undefined,
    (key, _element, at) => at.duplicate(by, key),
  ) as Check;
}

export function oneOf(texts: readonly string[], { reason, outside }: FieldRules): Check {
  const known = new Set<unknown>(texts);
  return (value, at) => {
    if (known.has(value)) return;
    if (reason === 'invalid') at.invalid('', value, outside ?? `must be '${texts.join("' or '")}'`);
    else at.notSupported('', value, texts);
  };
}

export function range({
  min = Number.NEGATIVE_INFINITY,
  max = Number.POSITIVE_INFINITY,
  reason,
  outside = rangeDetail(min, max),
  below = outside,
  above = below,
}: FieldRules): Check {
  return (value, at) => {
    const number = value as number;
    if (number >= min && number <= max) return;
    const detail = number < min ? below : above;
    if (reason === 'forbidden') at.forbidden('', detail);
    else at.invalid('', value, detail);
  };
}

function rangeDetail(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return `must be greater than or equal to ${min}`;
  if (min === Number.NEGATIVE_INFINITY) return `must be less than or equal to ${max}`;
  return `must be between ${min} and ${max}, inclusive`;
}

export function bytesAtMost(bytesMax: number, reason: FieldRules['reason']): Check {
  return (value, at) => {
    const text = value as string;
    // A unit of UTF-16 is at most three bytes.
    if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return;
    if (reason === 'invalid') at.invalid('', value, `must have at most ${bytesMax} bytes`);
    else at.tooLong('', bytesMax);
  };
}

/** A text, or an amount, of one of the formats that fields have. */
export function ofFormat(format: NonNullable<FieldRules['format']>): Check {
  const problems = formatProblems(format);
  const isAmount = format === 'intOrPercent';
  return (value, at) => {
    const found = problems(value);
    if (found.length > 0)
      at.problems('', isAmount && typeof value === 'string' ? shownIntOrString(value) : value, found);
  };
}
