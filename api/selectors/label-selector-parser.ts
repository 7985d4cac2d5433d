// The text form of label selectors: text to requirements. Knows the grammar and nothing of matching.
import { badRequest } from '../status/failures.ts';
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
 * elsewhere; a missing value is the empty one (`a=`, `a in ()`). Throws StatusError 400, in Kubernetes' words.
 */
export function parseRequirements(text: string): readonly LabelRequirement[] {
  const tokens = new Tokens(text);
  const requirements: LabelRequirement[] = [];
  if (tokens.next === END) return requirements;
  if (!tokens.beginsRequirement) throw tokens.unexpected("!, identifier, or 'end of string'");
  while (true) {
    requirements.push(parseRequirement(tokens));
    if (tokens.next === END) return requirements;
    if (!tokens.takes(',')) throw tokens.unexpected("',' or 'end of string'");
    if (!tokens.beginsRequirement) throw tokens.unexpected("identifier after ','");
  }
}

/** The tokens of one selector, and the words for complaining about one. */
class Tokens {
  private readonly list: readonly string[];
  private position = 0;

  constructor(text: string) {
    this.list = text.match(TOKENS) ?? [];
  }

  /** The token to come; END after the last. */
  get next(): string {
    return this.list[this.position] ?? END;
  }

  get nextIsWord(): boolean {
    return this.next !== END && !SYMBOLS.has(this.next);
  }

  get beginsRequirement(): boolean {
    return this.next === '!' || this.nextIsWord;
  }

  advance(): string {
    const token = this.next;
    this.position++;
    return token;
  }

  /** Whether the next is this one, which is then passed over. */
  takes(symbol: string): boolean {
    if (this.next !== symbol) return false;
    this.position++;
    return true;
  }

  unexpected(expected: string): StatusError {
    return refused(`found '${this.next}', expected: ${expected}`);
  }

  /** The same within a requirement. */
  unfit(expected: string): StatusError {
    return unfit(`found '${this.next}', expected: ${expected}`);
  }
}

function refused(problem: string): StatusError {
  return new StatusError(badRequest(problem.length > 1024 ? `${problem.slice(0, 1024)}…` : problem));
}

function unfit(problem: string): StatusError {
  return refused(`unable to parse requirement: ${problem}`);
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  const negated = tokens.takes('!');
  if (!tokens.nextIsWord) throw tokens.unfit('identifier');
  const key = tokens.advance();
  // Of a key and an operator that are both wrong, the key is told.
  const keyProblem = requirementProblem(key, 'Exists', []);
  if (keyProblem !== undefined) throw unfit(keyProblem);
  let operator: LabelOperator = negated ? 'DoesNotExist' : 'Exists';
  let values: readonly string[] = [];
  if (!negated && tokens.next !== END && tokens.next !== ',') {
    const symbol = tokens.next;
    if (!Object.hasOwn(OPERATORS, symbol)) throw tokens.unfit("'=', '!=', '==', 'in', notin'");
    tokens.advance();
    operator = OPERATORS[symbol]!;
    values = symbol === 'in' || symbol === 'notin' ? parseValueList(tokens) : [parseValue(tokens)];
  }
  const problem = requirementProblem(key, operator, values);
  if (problem !== undefined) throw unfit(problem);
  return labelRequirement(key, operator, values);
}

function parseValue(tokens: Tokens): string {
  if (tokens.next === END || tokens.next === ',') return '';
  if (!tokens.nextIsWord) throw tokens.unfit('identifier');
  return tokens.advance();
}

/**
 * `(a,b)`; between two commas, or a comma and a parenthesis, stands the empty value. Two commas are read at once, as in
 * Kubernetes: behind them it takes no parenthesis.
 */
function parseValueList(tokens: Tokens): readonly string[] {
  if (!tokens.takes('(')) throw unfit(`found '${tokens.next}' expected: '('`);
  if (tokens.takes(')')) return [''];
  if (!tokens.nextIsWord && tokens.next !== ',') throw tokens.unfit("',', ')' or identifier");
  const values: string[] = [];
  while (true) {
    if (tokens.nextIsWord) {
      values.push(tokens.advance());
      if (tokens.takes(')')) return values;
      if (tokens.next !== ',') throw tokens.unfit("',' or ')'");
    } else if (tokens.takes(',')) {
      if (values.length === 0) values.push('');
      const isLast = tokens.takes(')');
      if (isLast || tokens.takes(',')) values.push('');
      if (isLast) return values;
    } else throw tokens.unfit("',', or identifier");
  }
}
