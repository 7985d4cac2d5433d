// YAML scalars that span characters with a meaning of their own: quoted, plain over several lines, literal and folded.
// Reads the text of a scalar from a cursor; what the text of a plain one means is scalars.ts.
import { CODE, END, type YamlCursor } from './cursor.ts';

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

/** Digits that follow an escape for a code point. */
const ESCAPE_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** Reads a quoted scalar, from its opening to behind its closing quote. */
export function readQuoted(cursor: YamlCursor): string {
  const quote = cursor.peek();
  const { text } = cursor;
  let result = '';
  cursor.position++;
  let start = cursor.position;
  for (;;) {
    const code = cursor.peek();
    if (code === END) cursor.fail('a quoted text does not end');
    if (code === quote) {
      result += text.slice(start, cursor.position);
      cursor.position++;
      if (quote === CODE.quote || cursor.peek() !== CODE.apostrophe) return result;
      result += "'";
      cursor.position++;
    } else if (code === CODE.newline) {
      result += trimBlanksEnd(text.slice(start, cursor.position)) + foldLines(cursor);
    } else if (code === CODE.backslash && quote === CODE.quote) {
      result += text.slice(start, cursor.position) + readEscape(cursor);
    } else {
      cursor.position++;
      continue;
    }
    start = cursor.position;
  }
}

/** Passes the line ends at the position and the next line's indentation. Answers what they stand for. */
function foldLines(cursor: YamlCursor): string {
  let lines = 0;
  while (cursor.peek() === CODE.newline) {
    lines++;
    cursor.position++;
    cursor.skipBlanks();
    if (cursor.atDocumentMarker) cursor.fail('a text does not end before the document does');
  }
  return lines === 1 ? ' ' : '\n'.repeat(lines - 1);
}

function readEscape(cursor: YamlCursor): string {
  const letter = cursor.text.charAt(cursor.position + 1);
  if (letter === '\n') {
    cursor.position++;
    // The escaped line end is nothing, the empty lines after it are themselves.
    const folded = foldLines(cursor);
    return folded === ' ' ? '' : folded;
  }
  const digits = ESCAPE_DIGITS.get(letter);
  if (digits !== undefined) {
    const hex = cursor.text.slice(cursor.position + 2, cursor.position + 2 + digits);
    const codePoint = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : Number.NaN;
    if (!(codePoint <= 0x10ffff)) cursor.fail(`\\${letter} needs ${digits} hexadecimal digits`);
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) cursor.fail(`\\${letter}${hex} is no character`);
    cursor.position += 2 + digits;
    return String.fromCodePoint(codePoint);
  }
  const escaped = ESCAPES.get(letter);
  if (escaped === undefined) cursor.fail(`\\${letter} is no escape`);
  cursor.position += 2;
  return escaped;
}

/**
 * The end of the plain text that starts at the position, on this line: before `: `, ` #`, the line end and, in a flow
 * collection, its punctuation. Blanks before the end are not part of it.
 */
export function plainEnd(cursor: YamlCursor, inFlow: boolean): number {
  const { text } = cursor;
  let end = cursor.position;
  for (let at = cursor.position; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === CODE.newline) break;
    if (code === CODE.space || code === CODE.tab) continue;
    if (code === CODE.hash && at > end) break;
    if (inFlow && isFlowPunctuation(code)) break;
    if (code === CODE.colon) {
      const next = at + 1 < text.length ? text.charCodeAt(at + 1) : END;
      const isSeparator = next === CODE.space || next === CODE.tab || next === CODE.newline || next === END;
      if (isSeparator || (inFlow && isFlowPunctuation(next))) break;
    }
    end = at + 1;
  }
  return end;
}

/** True for the characters that structure a flow collection. */
export function isFlowPunctuation(code: number): boolean {
  return (
    code === CODE.comma ||
    code === CODE.openBracket ||
    code === CODE.closeBracket ||
    code === CODE.openBrace ||
    code === CODE.closeBrace
  );
}

/** Reads a plain scalar in a block, over all lines indented deeper than `parentIndent`. */
export function readPlainBlock(cursor: YamlCursor, parentIndent: number): string {
  const lines: string[] = [];
  for (;;) {
    const end = plainEnd(cursor, false);
    lines.push(cursor.text.slice(cursor.position, end));
    cursor.position = end;
    cursor.skipBlanks();
    if (cursor.peek() === CODE.colon) cursor.fail('a key cannot stand here');
    if (cursor.peek() !== CODE.newline) break;
    const lineEnd = cursor.position;
    const folded = continueLine(cursor, parentIndent);
    if (folded === undefined) {
      cursor.position = lineEnd;
      break;
    }
    lines.push(folded);
  }
  return lines.join('');
}

/** Goes to the next line of a plain scalar. Answers what the line ends stand for, or undefined if it has ended. */
function continueLine(cursor: YamlCursor, parentIndent: number): string | undefined {
  let lines = 0;
  while (cursor.peek() === CODE.newline) {
    lines++;
    cursor.position++;
    cursor.skipBlanks();
  }
  if (cursor.peek() === END || cursor.peek() === CODE.hash) return undefined;
  if (cursor.column <= parentIndent || cursor.atDocumentMarker) return undefined;
  return lines === 1 ? ' ' : '\n'.repeat(lines - 1);
}

/** Reads a plain scalar in a flow collection. */
export function readPlainFlow(cursor: YamlCursor): string {
  let result = '';
  for (;;) {
    const end = plainEnd(cursor, true);
    if (end === cursor.position) return result;
    result += cursor.text.slice(cursor.position, end);
    cursor.position = end;
    cursor.skipBlanks();
    if (cursor.peek() !== CODE.newline) return result;
    const folded = foldLines(cursor);
    if (cursor.peek() === CODE.hash || cursor.peek() === END || plainEnd(cursor, true) === cursor.position)
      return result;
    result += folded;
  }
}

/** Reads a literal (`|`) or folded (`>`) scalar, whose lines are indented deeper than `parentIndent`. */
export function readBlockScalar(cursor: YamlCursor, parentIndent: number): string {
  const isFolded = cursor.peek() === CODE.greater;
  const { chomping, indentation } = readBlockHeader(cursor);
  let indent = indentation === undefined ? undefined : Math.max(parentIndent, 0) + indentation;
  let result = '';
  let emptyLines = 0;
  let isFirst = true;
  let wasDeeper = false;
  while (cursor.peek() === CODE.newline) {
    const lineStart = cursor.position + 1;
    let at = lineStart;
    while (cursor.text.charCodeAt(at) === CODE.space && (indent === undefined || at - lineStart < indent)) at++;
    const lineEnd = endOfLine(cursor.text, at);
    if (at === lineEnd) {
      if (lineEnd === cursor.text.length) {
        cursor.position = lineEnd;
        break;
      }
      emptyLines++;
      cursor.position = lineEnd;
      continue;
    }
    if (at - lineStart <= parentIndent || at - lineStart < (indent ?? 0) || isMarkerAt(cursor, lineStart)) break;
    indent ??= at - lineStart;
    const line = cursor.text.slice(at, lineEnd);
    const isDeeper = line.startsWith(' ') || line.startsWith('\t');
    result += joint(isFirst, isFolded && !isDeeper && !wasDeeper, emptyLines) + line;
    isFirst = false;
    wasDeeper = isDeeper;
    emptyLines = 0;
    cursor.position = lineEnd;
    // A line that ends with the text has no line end that could be kept.
    if (lineEnd === cursor.text.length) return result;
  }
  if (chomping === 'strip') return result;
  if (chomping === 'keep') return result + '\n'.repeat(isFirst ? emptyLines : emptyLines + 1);
  return isFirst ? '' : `${result}\n`;
}

/** What stands between two lines of a block scalar. */
function joint(isFirst: boolean, isFoldable: boolean, emptyLines: number): string {
  if (isFirst) return '\n'.repeat(emptyLines);
  if (!isFoldable) return '\n'.repeat(emptyLines + 1);
  return emptyLines === 0 ? ' ' : '\n'.repeat(emptyLines);
}

function readBlockHeader(cursor: YamlCursor): { chomping: 'clip' | 'strip' | 'keep'; indentation: number | undefined } {
  let chomping: 'clip' | 'strip' | 'keep' = 'clip';
  let indentation: number | undefined;
  cursor.position++;
  while (!cursor.isBlankAt(0)) {
    const sign = cursor.text.charAt(cursor.position);
    if (sign === '+' && chomping === 'clip') chomping = 'keep';
    else if (sign === '-' && chomping === 'clip') chomping = 'strip';
    else if (sign >= '1' && sign <= '9' && indentation === undefined) indentation = Number(sign);
    else cursor.fail(`${JSON.stringify(sign)} cannot stand behind the sign of a block of text`);
    cursor.position++;
  }
  cursor.skipToLineEnd();
  if (!cursor.atLineEnd) cursor.fail('a block of text starts on the next line');
  return { chomping, indentation };
}

function isMarkerAt(cursor: YamlCursor, lineStart: number): boolean {
  const before = cursor.position;
  cursor.position = lineStart;
  const isMarker = cursor.atDocumentMarker;
  cursor.position = before;
  return isMarker;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function trimBlanksEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text.charCodeAt(end - 1) === CODE.space || text.charCodeAt(end - 1) === CODE.tab)) end--;
  return text.slice(0, end);
}
