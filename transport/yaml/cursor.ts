// A position in a YAML text, and the steps over characters that have no meaning of their own: blanks, comments, line
// ends, indentation. Every step is linear in what it passes.

export const CODE = {
  tab: 0x09,
  newline: 0x0a,
  space: 0x20,
  hash: 0x23,
  quote: 0x22,
  apostrophe: 0x27,
  comma: 0x2c,
  dash: 0x2d,
  dot: 0x2e,
  colon: 0x3a,
  question: 0x3f,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  pipe: 0x7c,
  closeBrace: 0x7d,
  greater: 0x3e,
  ampersand: 0x26,
  asterisk: 0x2a,
  exclamation: 0x21,
  percent: 0x25,
  at: 0x40,
  backtick: 0x60,
} as const;

/** Past the end of the text. */
export const END = -1;

export class YamlCursor {
  readonly text: string;
  position = 0;

  constructor(text: string) {
    // One kind of line end keeps every other step simple; a mark at the start says nothing that UTF-8 does not.
    const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
    this.text = unmarked.includes('\r') ? unmarked.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : unmarked;
  }

  /** The character code at the position, or `offset` after it; END past the end. */
  peek(offset = 0): number {
    const at = this.position + offset;
    return at < this.text.length ? this.text.charCodeAt(at) : END;
  }

  /** The column of the position, from 0. */
  get column(): number {
    return this.position === 0 ? 0 : this.position - 1 - this.text.lastIndexOf('\n', this.position - 1);
  }

  fail(message: string): never {
    let line = 1;
    for (let at = this.text.indexOf('\n'); at >= 0 && at < this.position; at = this.text.indexOf('\n', at + 1)) line++;
    throw new Error(`line ${line}: ${message}`);
  }

  /** True where a blank, a line end or the end stands `offset` after the position. */
  isBlankAt(offset: number): boolean {
    const code = this.peek(offset);
    return code === CODE.space || code === CODE.tab || code === CODE.newline || code === END;
  }

  get atLineEnd(): boolean {
    const code = this.peek();
    return code === CODE.newline || code === END;
  }

  skipBlanks(): void {
    let code = this.peek();
    while (code === CODE.space || code === CODE.tab) {
      this.position++;
      code = this.peek();
    }
  }

  /** Passes blanks and a comment up to the line end. A comment needs a blank, or the line's start, before it. */
  skipToLineEnd(): void {
    const start = this.position;
    this.skipBlanks();
    if (this.peek() !== CODE.hash) return;
    if (start === this.position && start > 0 && this.text.charCodeAt(start - 1) !== CODE.newline) {
      const before = this.text.charCodeAt(start - 1);
      if (before !== CODE.space && before !== CODE.tab) return;
    }
    const end = this.text.indexOf('\n', this.position);
    this.position = end < 0 ? this.text.length : end;
  }

  /** Passes the rest of the line and all lines without content. Answers the next content's column, or -1 at the end. */
  skipToContent(): number {
    this.skipToLineEnd();
    while (this.peek() === CODE.newline) {
      this.position++;
      const lineStart = this.position;
      while (this.peek() === CODE.space) this.position++;
      const isTab = this.peek() === CODE.tab;
      const indent = this.position - lineStart;
      this.skipToLineEnd();
      if (this.atLineEnd) continue;
      if (isTab) this.fail('a tab cannot indent');
      return indent;
    }
    return this.peek() === END ? -1 : this.column;
  }

  /** True at a line that starts with `---` or `...`. */
  get atDocumentMarker(): boolean {
    const code = this.peek();
    if (code !== CODE.dash && code !== CODE.dot) return false;
    if (this.peek(1) !== code || this.peek(2) !== code || !this.isBlankAt(3)) return false;
    return this.position === 0 || this.text.charCodeAt(this.position - 1) === CODE.newline;
  }
}
