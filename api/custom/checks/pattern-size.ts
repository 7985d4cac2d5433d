// About how many instructions a regular expression comes to, which is what compiling it costs and each character of a text may:
// what is repeated is there as often as it may occur. Reads any text; what is no regular expression has some size too. Pure.

const SIZE_MAX = 1e9;
const REPEAT = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;
/** Of a class of characters. */
const CLASS_SIZE = 2;
/** Escapes that go on in braces: a character by its number, a class by its name. */
const BRACED_ESCAPE = /\\[xpP]\{[^}]*\}/y;

export function patternSize(pattern: string): number {
  /** Of the groups that are open: what stands in them so far. */
  const groups: number[] = [];
  let size = 0;
  /** Of what a repeat would be about. */
  let last = 0;
  const add = (units: number): void => {
    last = units;
    size = Math.min(SIZE_MAX, size + units);
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '\\') {
      at = afterEscape(pattern, at) - 1;
      add(CLASS_SIZE);
    } else if (char === '[') {
      at = afterClass(pattern, at) - 1;
      add(CLASS_SIZE);
    } else if (char === '(') {
      groups.push(size);
      size = 0;
      last = 0;
    } else if (char === ')') {
      const inner = size + 1;
      size = groups.pop() ?? 0;
      add(inner);
    } else if (char === '{') {
      const found = matchAt(REPEAT, pattern, at);
      if (found === null) {
        add(1);
        continue;
      }
      const times = Math.max(1, Number(found[1]), Number(found[2] ?? 0));
      at += found[0].length - 1;
      const more = last * (times - 1);
      add(more);
      last = Math.min(SIZE_MAX, more + last);
    } else add(1);
  }
  for (const outer of groups) size += outer;
  return Math.min(SIZE_MAX, size + 1);
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

function afterEscape(pattern: string, at: number): number {
  const braced = matchAt(BRACED_ESCAPE, pattern, at);
  return braced === null ? at + 2 : at + braced[0].length;
}

/** A bracket that comes first is one of the class. */
function afterClass(pattern: string, at: number): number {
  let end = at + 1;
  if (pattern[end] === '^') end++;
  if (pattern[end] === ']') end++;
  while (end < pattern.length && pattern[end] !== ']') end += pattern[end] === '\\' ? 2 : 1;
  return end + 1;
}
