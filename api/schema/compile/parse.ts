// Reads the subset of the Protobuf schema language that api/schema/*.proto is written in: proto2 files with messages,
// fields, imports and options. Everything else is an error with file and line. Not needed at run time.

/** An option's value: a text, flag or number, or a structure `{name: value, …}`. */
export type OptionValue = string | number | boolean | OptionStructure | readonly OptionValue[];
export interface OptionStructure {
  readonly [name: string]: OptionValue;
}

/** Options in source order; a repeated option stands several times. */
export type Options = readonly (readonly [name: string, value: OptionValue])[];

export interface ParsedField {
  readonly name: string;
  readonly number: number;
  readonly label: 'optional' | 'repeated' | 'map';
  /** As written: a scalar, a message of the file, or `package.Message`. */
  readonly type: string;
  readonly options: Options;
}

export interface ParsedMessage {
  readonly name: string;
  readonly options: Options;
  readonly fields: readonly ParsedField[];
}

export interface ParsedFile {
  readonly path: string;
  readonly package: string;
  readonly imports: readonly string[];
  readonly options: Options;
  readonly messages: readonly ParsedMessage[];
}

interface Token {
  readonly kind: 'word' | 'text' | 'number' | 'mark' | 'end';
  readonly text: string;
  readonly line: number;
}

const TOKEN = /\s+|\/\/[^\n]*|"((?:[^"\\\n]|\\["\\])*)"|([A-Za-z_][A-Za-z0-9_.]*)|(-?[0-9]+)|([{}()[\]<>=;:,])/y;

function tokensOf(path: string, source: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new SyntaxError(`${path}:${line}: cannot read ${JSON.stringify(source[start])}`);
    const [all, text, word, number, mark] = match;
    if (text !== undefined) tokens.push({ kind: 'text', text: text.replaceAll(/\\(.)/g, '$1'), line });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, line });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, line });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark, line });
    line += all.split('\n').length - 1;
  }
  tokens.push({ kind: 'end', text: 'the end of the file', line });
  return tokens;
}

/**
 * Parses one schema file.
 *
 * @param path names the file in errors.
 * @throws SyntaxError with file and line when the source is not of the subset.
 */
export function parseProto(path: string, source: string): ParsedFile {
  return new Parser(path, tokensOf(path, source)).file();
}

class Parser {
  readonly #path: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(path: string, tokens: readonly Token[]) {
    this.#path = path;
    this.#tokens = tokens;
  }

  file(): ParsedFile {
    let packageName = '';
    const imports: string[] = [];
    const options: [string, OptionValue][] = [];
    const messages: ParsedMessage[] = [];
    const statements: Readonly<Record<string, () => void>> = {
      syntax: () => {
        this.#mark('=');
        if (this.#take('text') !== 'proto2') this.#fail('expected proto2', -1);
        this.#mark(';');
      },
      package: () => {
        packageName = this.#take('word');
        this.#mark(';');
      },
      import: () => {
        imports.push(this.#take('text'));
        this.#mark(';');
      },
      option: () => {
        options.push(this.#optionStatement());
      },
      message: () => {
        messages.push(this.#message());
      },
    };
    while (this.#token().kind !== 'end') {
      const statement = statements[this.#take('word')];
      if (statement === undefined) this.#fail('expected syntax, package, import, option or message', -1);
      statement();
    }
    return { path: this.#path, package: packageName, imports, options, messages };
  }

  #message(): ParsedMessage {
    const name = this.#take('word');
    const options: [string, OptionValue][] = [];
    const fields: ParsedField[] = [];
    this.#mark('{');
    while (!this.#tryMark('}')) {
      const word = this.#take('word');
      if (word === 'option') options.push(this.#optionStatement());
      else fields.push(this.#field(word));
    }
    return { name, options, fields };
  }

  #field(label: string): ParsedField {
    if (label !== 'optional' && label !== 'repeated' && label !== 'map') {
      this.#fail('expected option, optional, repeated or map', -1);
    }
    if (label === 'map') {
      this.#mark('<');
      if (this.#take('word') !== 'string') this.#fail('expected string as the type of map keys', -1);
      this.#mark(',');
    }
    const type = this.#take('word');
    if (label === 'map') this.#mark('>');
    const name = this.#take('word');
    this.#mark('=');
    const number = Number(this.#take('number'));
    const options: [string, OptionValue][] = [];
    if (this.#tryMark('[')) {
      do options.push(this.#option());
      while (this.#tryMark(','));
      this.#mark(']');
    }
    this.#mark(';');
    return { name, number, label, type, options };
  }

  #optionStatement(): [string, OptionValue] {
    const option = this.#option();
    this.#mark(';');
    return option;
  }

  #option(): [string, OptionValue] {
    const custom = this.#tryMark('(');
    const name = this.#take('word');
    if (custom) this.#mark(')');
    this.#mark('=');
    return [name, this.#value()];
  }

  #value(): OptionValue {
    if (this.#tryMark('{')) return this.#structure();
    if (this.#tryMark('[')) {
      const values: OptionValue[] = [];
      if (this.#tryMark(']')) return values;
      do values.push(this.#value());
      while (this.#tryMark(','));
      this.#mark(']');
      return values;
    }
    const { kind, text } = this.#token();
    this.#at += 1;
    if (kind === 'text') return text;
    if (kind === 'number') return Number(text);
    if (text === 'true' || text === 'false') return text === 'true';
    return this.#fail('expected a value', -1);
  }

  #structure(): OptionStructure {
    const structure: Record<string, OptionValue> = {};
    do {
      const name = this.#take('word');
      this.#mark(':');
      structure[name] = this.#value();
    } while (this.#tryMark(','));
    this.#mark('}');
    return structure;
  }

  #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #take(kind: Token['kind']): string {
    const token = this.#token();
    if (token.kind !== kind) this.#fail(`expected a ${kind}`);
    this.#at += 1;
    return token.text;
  }

  #tryMark(text: string): boolean {
    const token = this.#token();
    if (token.kind !== 'mark' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #mark(text: string): void {
    if (!this.#tryMark(text)) this.#fail(`expected ${text}`);
  }

  #fail(expectation: string, offset = 0): never {
    const token = this.#tokens[Math.max(0, this.#at + offset)]!;
    throw new SyntaxError(`${this.#path}:${token.line}: ${expectation}, found ${token.text}`);
  }
}
