// The shape of a source file's code: how long its functions are, and what its switches hold. A scan of the bare text
// (source-tree.ts), which knows brackets and no grammar.
import { lineAt, type SourceFile } from './source-tree.ts';

export interface FunctionLength {
  /** `path: name`; a function without a name is called after what it is handed to, or `anonymous`. */
  readonly name: string;
  /** From the line of the opening brace to that of the closing one. */
  readonly lines: number;
}

/** Every function, method and arrow function with a body in braces. */
export function functionLengths({ path, bare }: SourceFile): FunctionLength[] {
  const closing = closingBraces(bare);
  const found: FunctionLength[] = [];
  for (const [open, close] of closing) {
    const name = nameOf(bare, open);
    if (name === undefined) continue;
    found.push({ name: `${path}: ${name}`, lines: lineAt(bare, close) - lineAt(bare, open) + 1 });
  }
  return found;
}

/** The switches of a bare text whose subject is as the pattern says. */
export function switchesOver(bare: string, subject: RegExp): { readonly at: number; readonly body: string }[] {
  const closing = closingBraces(bare);
  return [...bare.matchAll(/\bswitch \(([^()]*)\) \{/g)]
    .filter(([, over]) => subject.test(over!))
    .map(({ 0: head, index }) => {
      const open = index + head.length - 1;
      return { at: index, body: bare.slice(open, closing.get(open)) };
    });
}

/** The brace that closes each one that opens. */
function closingBraces(bare: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < bare.length; i++) {
    if (bare[i] === '{') open.push(i);
    else if (bare[i] === '}') {
      const from = open.pop();
      if (from !== undefined) pairs.set(from, i);
    }
  }
  return pairs;
}

const CONTROL = new Set(['if', 'for', 'while', 'switch', 'catch', 'with']);
const BEFORE_ARROW =
  /(?:([\w$#]+)\s*(?::[^=;{}]*)?[=:(,]\s*)?(?:async\s*)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\s*:[^=;{}]*)?|[\w$]+)\s*$/;

/** The name of the function whose body a brace opens; undefined when it opens something else. */
function nameOf(bare: string, brace: number): string | undefined {
  const before = bare.slice(Math.max(0, brace - 600), brace).trimEnd();
  if (before.endsWith('=>')) return BEFORE_ARROW.exec(before.slice(0, -2))?.[1] ?? 'anonymous';
  const parameters = endOfParameters(before);
  if (parameters === undefined) return undefined;
  const head = before.slice(0, openingOf(before, parameters)).replace(/<[^<>()]*(?:<[^<>]*>[^<>()]*)*>\s*$/, '');
  const name = /([\w$#]+)\s*$/.exec(head)?.[1];
  if (name !== undefined && CONTROL.has(name)) return undefined;
  return name === 'function' || name === undefined ? 'anonymous' : name;
}

/** Nothing, or a type: a declaration behind it would be what the brace belongs to. */
const RETURN_TYPE = /^\)\s*(?:$|:(?![\s\S]*\b(?:class|interface|const|let|export|else|finally|return)\b))/;

/** Where the parentheses end that stand before a body, with or without a return type behind them. */
function endOfParameters(before: string): number | undefined {
  let depth = 0;
  for (let i = before.length - 1; i >= 0; i--) {
    const one = before[i]!;
    if (one === ')' && depth === 0 && RETURN_TYPE.test(before.slice(i))) return i;
    if (one === ')' || one === '}' || one === ']') depth++;
    else if (one === '(' || one === '{' || one === '[') depth--;
    if (depth < 0 || (depth === 0 && (one === ';' || (one === '=' && before[i + 1] !== '>')))) return undefined;
  }
  return undefined;
}

function openingOf(before: string, end: number): number {
  let depth = 0;
  for (let i = end; i >= 0; i--) {
    if (before[i] === ')') depth++;
    else if (before[i] === '(' && --depth === 0) return i;
  }
  return 0;
}
