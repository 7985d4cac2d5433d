// A plain value as YAML text in the layout of Kubernetes clients: keys sorted, two blanks an indent, sequences as deep
// as their key, texts of several lines as literal blocks. Whatever reads YAML 1.1 or 1.2 reads the same value back. Long
// texts are written a piece at a time, so that whoever sends them can do other work in between.
import { resolvePlain } from './scalars.ts';

/** Deeper levels are written as JSON on one line: indented, what a client nests a thousandfold would grow as much. */
const BLOCK_INDENT_MAX = 64;

/** The text, with a line end. `value` is plain JSON data, nested no deeper than a body may be. */
export function yamlText(value: unknown): string {
  return new YamlText(value).next(Number.POSITIVE_INFINITY);
}

/** A collection that is being written. */
interface OpenCollection {
  readonly members: readonly unknown[] | readonly (readonly [name: string, member: unknown])[];
  readonly isMapping: boolean;
  /** What stands before the first member: `- ` behind the dash of the sequence around it, or the indent. */
  readonly firstLead: string;
  readonly indent: string;
  next: number;
}

/** A text on its way out: the pieces together are what `yamlText` makes, each of whole lines. */
export class YamlText {
  readonly #open: OpenCollection[] = [];
  #lines: string[] = [];
  #characters = 0;

  constructor(value: unknown) {
    this.#node(value, '', '');
  }

  get done(): boolean {
    return this.#open.length === 0 && this.#lines.length === 0;
  }

  /** The next piece: at least so many characters, unless the text ends before, and at most a line more. */
  next(charactersMin: number): string {
    const open = this.#open;
    while (open.length > 0 && this.#characters < charactersMin) {
      const collection = open[open.length - 1]!;
      if (collection.next === collection.members.length) open.pop();
      else this.#member(collection);
    }
    const text = `${this.#lines.join('\n')}\n`;
    this.#lines = [];
    this.#characters = 0;
    // What is left are ends, which write nothing.
    while (open.length > 0 && open[open.length - 1]!.next === open[open.length - 1]!.members.length) open.pop();
    return text;
  }

  #member(collection: OpenCollection): void {
    const { members, isMapping, firstLead, indent } = collection;
    const index = collection.next++;
    const before = index === 0 ? firstLead : indent;
    if (!isMapping) {
      this.#node(members[index], `${before}-`, `${indent}  `);
      return;
    }
    const [name, member] = members[index] as readonly [name: string, member: unknown];
    this.#node(member, `${before}${keyText(name)}:`, Array.isArray(member) ? indent : `${indent}  `);
  }

  /** Begins a value: its first line stands behind `lead` (`key:`, `-` or nothing), the others at `indent`. */
  #node(value: unknown, lead: string, indent: string): void {
    if (typeof value !== 'object' || value === null) {
      this.#scalar(scalarText(value, indent === '' ? '  ' : indent), lead);
      return;
    }
    if (indent.length > BLOCK_INDENT_MAX) {
      this.#line(`${lead} ${JSON.stringify(value)}`);
      return;
    }
    const isMapping = !Array.isArray(value);
    const members = isMapping ? sortedEntries(value) : value;
    if (members.length === 0) {
      this.#scalar(isMapping ? '{}' : '[]', lead);
      return;
    }
    if (lead.endsWith(':')) this.#line(lead);
    const firstLead = lead.endsWith('-') ? `${lead} ` : indent;
    this.#open.push({ members, isMapping, firstLead, indent, next: 0 });
  }

  #scalar(text: string, lead: string): void {
    this.#line(lead === '' ? text : `${lead} ${text}`);
  }

  #line(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length + 1;
  }
}

function sortedEntries(value: object): readonly (readonly [name: string, member: unknown])[] {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function keyText(name: string): string {
  return isPlainSafe(name) ? name : quotedText(name);
}

function scalarText(value: unknown, blockIndent: string): string {
  if (typeof value !== 'string') return value === undefined ? 'null' : JSON.stringify(value);
  if (isPlainSafe(value)) return value;
  return isLiteralSafe(value) ? literalText(value, blockIndent) : quotedText(value);
}

/** What JSON leaves as it is, and YAML does not allow, takes for the end of a line or leaves out. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

function quotedText(text: string): string {
  return JSON.stringify(text).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const PLAIN = /^[A-Za-z0-9_./$(<][^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff\ufffe\uffff]*$/u;

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
const LITERAL =
  /^[^\s\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff\ufffe\uffff](?:[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufeff\ufffe\uffff]|[\t\n])*$/u;

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
