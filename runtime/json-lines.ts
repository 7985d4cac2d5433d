// Strict JSON (RFC 8259) that remembers on which line every value stands, so that a refusal of a file can name the line.
// Refuses duplicate keys, which JSON.parse would swallow. For operators' files: small, and read once.

export type JsonNode =
  | { readonly kind: 'object'; readonly line: number; readonly members: ReadonlyMap<string, JsonMember> }
  | { readonly kind: 'array'; readonly line: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'scalar'; readonly line: number; readonly value: string | number | boolean | null };

export interface JsonMember {
  /** The line of the key. */
  readonly line: number;
  readonly node: JsonNode;
}

/** Why a text is not JSON, and on which line. */
export class JsonLineError extends Error {
  readonly line: number;

  constructor(line: number, reason: string) {
    super(reason);
    this.name = 'JsonLineError';
    this.line = line;
  }
}

const DEPTH_MAX = 32;
const BLANKS = /[ \t\r\n]*/y;
const SCALAR = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null/y;

/** Reads a whole text. Throws a JsonLineError. */
export function readJsonLines(text: string): JsonNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.end();
  return node;
}

class Reader {
  private readonly text: string;
  private at = 0;
  private line = 1;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): JsonNode {
    if (depth > DEPTH_MAX) throw this.error(`nested deeper than ${DEPTH_MAX}`);
    const next = this.peek();
    if (next === '{') return this.object(depth);
    if (next === '[') return this.array(depth);
    const line = this.line;
    return { kind: 'scalar', line, value: this.scalar() };
  }

  end(): void {
    if (this.peek() !== '') throw this.error(`unexpected ${this.seen()} after the end`);
  }

  private object(depth: number): JsonNode {
    const line = this.line;
    const members = new Map<string, JsonMember>();
    this.list('{', '}', () => {
      const opening = this.peek();
      const keyLine = this.line;
      if (opening !== '"') throw this.error(`a key is expected, not ${this.seen()}`);
      const key = this.scalar() as string;
      if (members.has(key)) throw new JsonLineError(keyLine, `${JSON.stringify(key)} appears twice`);
      this.expect(':');
      members.set(key, { line: keyLine, node: this.value(depth + 1) });
    });
    return { kind: 'object', line, members };
  }

  private array(depth: number): JsonNode {
    const line = this.line;
    const items: JsonNode[] = [];
    this.list('[', ']', () => items.push(this.value(depth + 1)));
    return { kind: 'array', line, items };
  }

  private list(open: string, close: string, item: () => void): void {
    this.expect(open);
    if (this.peek() === close) {
      this.at++;
      return;
    }
    for (;;) {
      item();
      if (this.peek() === close) break;
      this.expect(',');
    }
    this.at++;
  }

  private scalar(): string | number | boolean | null {
    this.peek();
    SCALAR.lastIndex = this.at;
    const matched = SCALAR.exec(this.text)?.[0];
    if (matched === undefined) throw this.error(`a value is expected, not ${this.seen()}`);
    try {
      const value = JSON.parse(matched) as string | number | boolean | null;
      this.at += matched.length;
      return value;
    } catch {
      throw this.error(`${matched} is not a JSON value`);
    }
  }

  private expect(character: string): void {
    if (this.peek() !== character) throw this.error(`${character} is expected, not ${this.seen()}`);
    this.at++;
  }

  /** The next character that is not blank; empty at the end. */
  private peek(): string {
    BLANKS.lastIndex = this.at;
    for (const character of BLANKS.exec(this.text)![0]) if (character === '\n') this.line++;
    this.at = BLANKS.lastIndex;
    return this.text.charAt(this.at);
  }

  private seen(): string {
    return this.peek() === '' ? 'the end of the file' : JSON.stringify(this.peek());
  }

  private error(reason: string): JsonLineError {
    return new JsonLineError(this.line, reason);
  }
}
