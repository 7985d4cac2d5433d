// A plain value as YAML text in the layout of Kubernetes clients: keys sorted, two blanks an indent, sequences as deep
// as their key, texts of several lines as literal blocks. Whatever reads YAML 1.1 or 1.2 reads the same value back.
import { resolvePlain } from './scalars.ts';

/** Deeper levels are written as JSON on one line: indented, what a client nests a thousandfold would grow as much. */
const BLOCK_INDENT_MAX = 64;

/** The text, with a line end. `value` is plain JSON data, nested no deeper than a body may be. */
export function yamlText(value: unknown): string {
  const lines: string[] = [];
  writeNode(lines, value, '', '');
  return `${lines.join('\n')}\n`;
}

/** Adds the lines of a value: the first behind `lead` (`key:`, `-` or nothing), the others at `indent`. */
function writeNode(lines: string[], value: unknown, lead: string, indent: string): void {
  if (indent.length > BLOCK_INDENT_MAX && typeof value === 'object' && value !== null) {
    lines.push(`${lead} ${JSON.stringify(value)}`);
    return;
  }
  if (Array.isArray(value) && value.length > 0) {
    if (lead.endsWith(':')) lines.push(lead);
    writeSequence(lines, value, lead.endsWith('-') ? `${lead} ` : indent, indent);
    return;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    if (entries.length > 0) {
      if (lead.endsWith(':')) lines.push(lead);
      writeMapping(lines, entries, lead.endsWith('-') ? `${lead} ` : indent, indent);
      return;
    }
  }
  const scalar = scalarText(value, indent === '' ? '  ' : indent);
  lines.push(lead === '' ? scalar : `${lead} ${scalar}`);
}

function writeSequence(lines: string[], items: readonly unknown[], firstLead: string, indent: string): void {
  items.forEach((item, i) => {
    writeNode(lines, item, `${i === 0 ? firstLead : indent}-`, `${indent}  `);
  });
}

function writeMapping(lines: string[], entries: [string, unknown][], firstLead: string, indent: string): void {
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  entries.forEach(([name, member], i) => {
    const lead = `${i === 0 ? firstLead : indent}${keyText(name)}:`;
    writeNode(lines, member, lead, Array.isArray(member) ? indent : `${indent}  `);
  });
}

function keyText(name: string): string {
  return isPlainSafe(name) ? name : JSON.stringify(name);
}

function scalarText(value: unknown, blockIndent: string): string {
  if (Array.isArray(value)) return '[]';
  if (typeof value === 'object' && value !== null) return '{}';
  if (typeof value !== 'string') return value === undefined ? 'null' : JSON.stringify(value);
  if (isPlainSafe(value)) return value;
  return isLiteralSafe(value) ? literalText(value, blockIndent) : JSON.stringify(value);
}

const PLAIN = /^[A-Za-z0-9_./$(<][^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff]*$/u;

/** Numbers in base 60 and dates, which some parsers take such texts for. */
const OTHER_SCALARS = /^(?:[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|=|<<)$/;

function isPlainSafe(text: string): boolean {
  if (!PLAIN.test(text) || text.startsWith('...') || text.endsWith(' ') || text.endsWith(':')) return false;
  if (text.includes(': ') || text.includes(' #') || OTHER_SCALARS.test(text)) return false;
  try {
    return typeof resolvePlain(text) === 'string';
  } catch {
    return false;
  }
}

/** What a literal block can hold as it is: lines of printable text of which the first is not blank. */
const LITERAL = /^[^\s\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff](?:[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff]|[\t\n])*$/u;

function isLiteralSafe(text: string): boolean {
  return text.includes('\n') && LITERAL.test(text) && !/[ \t]\n|[ \t]$/.test(text);
}

function literalText(text: string, indent: string): string {
  // Not by a pattern: one for line ends before the end tries every run of them in the text.
  let bodyEnd = text.length;
  while (text.charAt(bodyEnd - 1) === '\n') bodyEnd--;
  const body = text.slice(0, bodyEnd);
  const endings = text.length - bodyEnd;
  const chomping = endings === 0 ? '-' : endings === 1 ? '' : '+';
  const kept = endings > 1 ? '\n'.repeat(endings - 1) : '';
  const lines = body.split('\n').map((line) => (line === '' ? '' : indent + line));
  return `|${chomping}\n${lines.join('\n')}${kept}`;
}
