// The text form of label selectors: text to requirements. Knows the grammar and nothing of matching.
import { badRequest, quote } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import {
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  requirementProblem,
} from './label-requirement.ts';

/** Symbols, and words of anything else; white space parts them and means nothing. */
const TOKENS = /==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g;

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
  in: 'In',
  notin: 'NotIn',
};
const SYMBOLS: ReadonlySet<string> = new Set(['=', '==', '!=', '>', '<', '!', '(', ')', ',']);
const END = '';

/**
 * The requirements of a selector's text, in its order. `in` and `notin` are operators after a key and plain words
 * elsewhere; a missing value is the empty one (`a=`, `a in ()`). Throws StatusError 400.
 */
export function parseRequirements(text: string): readonly LabelRequirement[] {
  const tokens = new Tokens(text);
  const requirements: LabelRequirement[] = [];
  if (tokens.next === END) return requirements;
  while (true) {
    requirements.push(parseRequirement(tokens));
    if (tokens.next === END) return requirements;
    tokens.take(',', 'a comma or the end');
  }
}

/** The tokens of one selector, and the words for complaining about one. */
class Tokens {
  private readonly text: string;
  private readonly list: readonly string[];
  private position = 0;

  constructor(text: string) {
    this.text = text;
    this.list = text.match(TOKENS) ?? [];
  }

  /** The token to come; END after the last. */
  get next(): string {
    return this.list[this.position] ?? END;
  }

  get nextIsWord(): boolean {
    return this.next !== END && !SYMBOLS.has(this.next);
  }

  advance(): string {
    const token = this.next;
    this.position++;
    return token;
  }

  take(symbol: string, expected: string): void {
    if (this.next !== symbol) throw this.unexpected(expected);
    this.position++;
  }

  unexpected(expected: string): StatusError {
    return this.refuse(`found ${this.next === END ? 'the end' : quote(this.next)}, expected ${expected}`);
  }

  refuse(problem: string): StatusError {
    const shown = this.text.length > 256 ? `${this.text.slice(0, 256)}…` : this.text;
    return new StatusError(badRequest(`unable to parse label selector ${quote(shown)}: ${problem}`));
  }
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  const negated = tokens.next === '!';
  if (negated) tokens.advance();
  if (!tokens.nextIsWord) throw tokens.unexpected('a key');
  const key = tokens.advance();
  let operator: LabelOperator = negated ? 'DoesNotExist' : 'Exists';
  let values: readonly string[] = [];
  if (!negated && tokens.next !== END && tokens.next !== ',') {
    const symbol = tokens.next;
    if (!Object.hasOwn(OPERATORS, symbol)) throw tokens.unexpected('an operator: in, notin, =, ==, !=, > or <');
    tokens.advance();
    operator = OPERATORS[symbol]!;
    values = symbol === 'in' || symbol === 'notin' ? parseValueList(tokens) : [parseValue(tokens)];
  }
  const problem = requirementProblem(key, operator, values);
  if (problem !== undefined) throw tokens.refuse(problem);
  return labelRequirement(key, operator, values);
}

function parseValue(tokens: Tokens): string {
  if (tokens.next === END || tokens.next === ',') return '';
  if (!tokens.nextIsWord) throw tokens.unexpected('a value');
  return tokens.advance();
}

/** `(a,b)`; between two commas, or a comma and a parenthesis, stands the empty value. */
function parseValueList(tokens: Tokens): readonly string[] {
  tokens.take('(', 'an opening parenthesis');
  const values: string[] = [];
  while (true) {
    values.push(tokens.nextIsWord ? tokens.advance() : '');
    if (tokens.next !== ',') break;
    tokens.advance();
  }
  tokens.take(')', 'a comma or a closing parenthesis');
  return values;
}
