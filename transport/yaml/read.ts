// A YAML document as a plain value, read in one pass and linear time: what a client sends may neither hang the process
// nor overflow its stack, which is why no general parser stands here. The language is YAML 1.1 as Kubernetes manifests
// use it; keys that are no scalars and an application's own tags are refused.
import { CODE, END, YamlCursor } from './cursor.ts';
import { type Key, type Mapping, MappingBuilder, type Properties, YamlNodes } from './nodes.ts';
import {
  isFlowPunctuation,
  plainEnd,
  readBlockScalar,
  readPlainBlock,
  readPlainFlow,
  readQuoted,
} from './text-scalars.ts';

const DIRECTIVE = /^%(?:YAML[ \t]+1\.[0-9]|TAG[ \t]+!\S*[ \t]+\S+)[ \t]*(?:#.*)?$/;
/** So much of a line is looked at for a directive. */
const DIRECTIVE_LENGTH_MAX = 256;

/** Where a node begins: at the start of a line, behind `-` or an explicit key's `:`, or behind `:` where no block collection can follow. */
type Place = 'line' | 'dash' | 'colon';

/**
 * The value of a text that holds one document; an empty text is null. Throws an Error that names the line: syntax,
 * several documents, unknown tags or anchors, aliases that multiply, nesting deeper than `depthMax`, a `__proto__` key.
 *
 * @param repeated gets the names that a mapping holds more than once, of which the last counts.
 */
export function parseYaml(text: string, depthMax: number, repeated?: string[]): unknown {
  return new YamlReader(text, depthMax, repeated).document();
}

class YamlReader {
  readonly #cursor: YamlCursor;
  readonly #nodes: YamlNodes;

  constructor(text: string, depthMax: number, repeated: string[] | undefined) {
    this.#cursor = new YamlCursor(text);
    this.#nodes = new YamlNodes(this.#cursor, depthMax, repeated);
  }

  document(): unknown {
    const cursor = this.#cursor;
    this.#skipToFirst();
    const hasDirectives = this.#skipDirectives();
    const isMarked = cursor.atDocumentMarker && cursor.peek() === CODE.dash;
    if (isMarked) cursor.position += 3;
    else if (hasDirectives) cursor.fail('a directive needs --- behind it');
    const isEmpty = cursor.peek() === END || (!isMarked && cursor.atDocumentMarker);
    const value = isEmpty ? null : this.#node(-1, isMarked ? 'colon' : 'line');
    this.#expectEnd();
    return value;
  }

  /** Passes lines that say how to read the document; true when there are any. */
  #skipDirectives(): boolean {
    const cursor = this.#cursor;
    let some = false;
    while (cursor.peek() === CODE.percent && cursor.column === 0) {
      const lineEnd = cursor.text.indexOf('\n', cursor.position);
      const end = lineEnd < 0 ? cursor.text.length : lineEnd;
      const line = cursor.text.slice(cursor.position, Math.min(end, cursor.position + DIRECTIVE_LENGTH_MAX));
      if (!DIRECTIVE.test(line)) cursor.fail('a directive is %YAML 1.1 or %TAG');
      some = true;
      cursor.position = end;
      cursor.skipToContent();
    }
    return some;
  }

  #skipToFirst(): void {
    const cursor = this.#cursor;
    while (cursor.peek() === CODE.space) cursor.position++;
    cursor.skipToLineEnd();
    if (cursor.atLineEnd) cursor.skipToContent();
  }

  /** Only markers without content may follow. */
  #expectEnd(): void {
    const cursor = this.#cursor;
    while (cursor.skipToContent() >= 0) {
      if (!cursor.atDocumentMarker) cursor.fail('unexpected text, or its indentation is wrong');
      cursor.position += 3;
      if (cursor.skipToContent() >= 0 && !cursor.atDocumentMarker) cursor.fail('only one document can be sent');
    }
  }

  #node(parentIndent: number, place: Place): unknown {
    const cursor = this.#cursor;
    this.#nodes.enter();
    if (place !== 'line') cursor.skipBlanks();
    const properties = this.#nodes.properties();
    let mayHoldBlock = place !== 'colon';
    cursor.skipToLineEnd();
    let value: unknown;
    if (cursor.atLineEnd) {
      const indent = cursor.skipToContent();
      const indentMin = place === 'colon' && this.#atEntry() ? Math.max(parentIndent, 0) : parentIndent + 1;
      if (indent < indentMin || cursor.atDocumentMarker) {
        return this.#nodes.leave(properties, this.#nodes.scalar('', properties.tag, true));
      }
      mayHoldBlock = true;
      value = this.#lateProperties(parentIndent, properties);
    } else {
      const isKeyed = properties.tag !== undefined || properties.anchor !== undefined;
      value = this.#content(parentIndent, mayHoldBlock, properties, isKeyed);
    }
    return this.#nodes.leave(properties, value);
  }

  /** Content that begins on a line of its own, where its properties may stand too. */
  #lateProperties(parentIndent: number, outer: Properties): unknown {
    const code = this.#cursor.peek();
    const hasOuter = outer.tag !== undefined || outer.anchor !== undefined;
    if (hasOuter || (code !== CODE.ampersand && code !== CODE.exclamation)) {
      return this.#content(parentIndent, true, outer, false);
    }
    return this.#node(parentIndent, 'line');
  }

  #content(parentIndent: number, mayHoldBlock: boolean, { tag }: Properties, hasPropertiesBefore: boolean): unknown {
    const cursor = this.#cursor;
    const code = cursor.peek();
    if (this.#atEntry()) {
      if (!mayHoldBlock || hasPropertiesBefore) cursor.fail('a sequence cannot start here');
      return this.#nodes.collection(tag, 'seq', this.#sequence(cursor.column));
    }
    if (mayHoldBlock) {
      const column = cursor.column;
      const key = this.#key();
      if (key !== undefined) {
        if (hasPropertiesBefore) cursor.fail('an anchor or a tag cannot stand before a key');
        return this.#nodes.collection(tag, 'map', this.#mapping(column, key));
      }
    }
    if (code === CODE.pipe || code === CODE.greater)
      return this.#nodes.scalar(readBlockScalar(cursor, parentIndent), tag, false);
    if (code === CODE.openBracket || code === CODE.openBrace || code === CODE.asterisk) {
      const value = this.#flowContent(tag);
      cursor.skipBlanks();
      if (cursor.peek() === CODE.colon) cursor.fail('a key must be a plain or quoted text');
      return value;
    }
    if (code === CODE.quote || code === CODE.apostrophe) return this.#nodes.scalar(readQuoted(cursor), tag, false);
    this.#expectPlainStart(false);
    return this.#nodes.scalar(readPlainBlock(cursor, parentIndent), tag, true);
  }

  #sequence(column: number): unknown[] {
    const cursor = this.#cursor;
    const items: unknown[] = [];
    do {
      cursor.position++;
      items.push(this.#node(column, 'dash'));
    } while (this.#continues(column) && this.#atEntry());
    return items;
  }

  #mapping(column: number, firstKey: Key): Mapping {
    const cursor = this.#cursor;
    const entries = new MappingBuilder();
    let key: Key | undefined = firstKey;
    do {
      this.#nodes.set(entries, key, this.#node(column, key.isExplicit ? 'dash' : 'colon'));
      if (!this.#continues(column)) break;
      key = this.#key();
      if (key === undefined) cursor.fail('a key with a colon and a blank behind it is missing');
    } while (key !== undefined);
    return entries.finish();
  }

  /** A key behind a question mark, as libraries write those of more than 128 characters, and the colon on the next line. */
  #explicitKey(): Key {
    const cursor = this.#cursor;
    const { column } = cursor;
    cursor.position++;
    cursor.skipBlanks();
    const key = this.#explicitName(column);
    cursor.skipToLineEnd();
    if (!cursor.atLineEnd) cursor.fail('a key behind a question mark must be a plain or quoted text');
    if (cursor.skipToContent() !== column || cursor.peek() !== CODE.colon || !cursor.isBlankAt(1)) {
      cursor.fail('a key behind a question mark has no colon below it');
    }
    cursor.position++;
    return { ...key, isExplicit: true };
  }

  #explicitName(column: number): Key {
    const cursor = this.#cursor;
    const code = cursor.peek();
    if (code === CODE.quote || code === CODE.apostrophe) return { name: readQuoted(cursor), isMerge: false };
    if (!this.#isPlainStart(false)) cursor.fail('a key behind a question mark must be a plain or quoted text');
    return this.#nodes.plainKey(readPlainBlock(cursor, column));
  }

  /** Goes to the next content. True when it belongs to the collection at `column`. */
  #continues(column: number): boolean {
    const cursor = this.#cursor;
    const indent = cursor.skipToContent();
    if (indent > column) cursor.fail('unexpected text, or its indentation is wrong');
    return indent === column && !cursor.atDocumentMarker;
  }

  /** Reads a key and its colon; moves nowhere when there is none on this line. */
  #key(): Key | undefined {
    const cursor = this.#cursor;
    const start = cursor.position;
    const code = cursor.peek();
    if (code === CODE.question && cursor.isBlankAt(1)) return this.#explicitKey();
    let key: Key;
    if (code === CODE.quote || code === CODE.apostrophe) {
      key = { name: readQuoted(cursor), isMerge: false };
      const lineEnd = cursor.text.indexOf('\n', start);
      if (lineEnd >= 0 && lineEnd < cursor.position) {
        cursor.position = start;
        return undefined;
      }
    } else {
      if (!this.#isPlainStart(false)) return undefined;
      const text = cursor.text.slice(start, plainEnd(cursor, false));
      cursor.position += text.length;
      if (this.#passColon()) return this.#nodes.plainKey(text);
      cursor.position = start;
      return undefined;
    }
    if (this.#passColon()) return key;
    cursor.position = start;
    return undefined;
  }

  #passColon(): boolean {
    const cursor = this.#cursor;
    cursor.skipBlanks();
    if (cursor.peek() !== CODE.colon || !cursor.isBlankAt(1)) return false;
    cursor.position++;
    return true;
  }

  /** A node inside a flow collection. */
  #flowNode(): unknown {
    this.#nodes.enter();
    this.#skipFlowBlanks();
    const properties = this.#nodes.properties();
    this.#skipFlowBlanks();
    const value = this.#flowContent(properties.tag);
    return this.#nodes.leave(properties, value);
  }

  #flowContent(tag: string | undefined): unknown {
    const cursor = this.#cursor;
    switch (cursor.peek()) {
      case CODE.openBracket:
        return this.#nodes.collection(tag, 'seq', this.#flowSequence());
      case CODE.openBrace:
        return this.#nodes.collection(tag, 'map', this.#flowMapping());
      case CODE.asterisk:
        return this.#nodes.alias();
      case CODE.quote:
      case CODE.apostrophe:
        return this.#nodes.scalar(readQuoted(cursor), tag, false);
      default:
        if (this.#isPlainStart(true)) return this.#nodes.scalar(readPlainFlow(cursor), tag, true);
        return this.#nodes.scalar('', tag, true);
    }
  }

  #flowSequence(): unknown[] {
    const items: unknown[] = [];
    while (this.#flowEntry(CODE.closeBracket, items.length === 0)) {
      const entry = this.#flowNode();
      this.#skipFlowBlanks();
      if (this.#cursor.peek() === CODE.colon) this.#cursor.fail('a key cannot stand in a sequence');
      items.push(entry);
    }
    return items;
  }

  #flowMapping(): Mapping {
    const cursor = this.#cursor;
    const entries = new MappingBuilder();
    let isFirst = true;
    while (this.#flowEntry(CODE.closeBrace, isFirst)) {
      isFirst = false;
      const key = this.#flowKey();
      this.#skipFlowBlanks();
      let value: unknown = null;
      if (cursor.peek() === CODE.colon) {
        cursor.position++;
        value = this.#flowNode();
      }
      this.#nodes.set(entries, key, value);
    }
    return entries.finish();
  }

  #flowKey(): Key {
    const cursor = this.#cursor;
    if (cursor.peek() === CODE.question && cursor.isBlankAt(1)) {
      cursor.position++;
      this.#skipFlowBlanks();
    }
    const code = cursor.peek();
    if (code === CODE.quote || code === CODE.apostrophe) return { name: readQuoted(cursor), isMerge: false };
    if (!this.#isPlainStart(true)) cursor.fail('a key must be a plain or quoted text');
    return this.#nodes.plainKey(readPlainFlow(cursor));
  }

  /** Passes the bracket or comma before an entry. False when the collection ends here, behind its closing bracket. */
  #flowEntry(closing: number, isFirst: boolean): boolean {
    const cursor = this.#cursor;
    if (isFirst) cursor.position++;
    this.#skipFlowBlanks();
    if (!isFirst && cursor.peek() === CODE.comma) {
      cursor.position++;
      this.#skipFlowBlanks();
    } else if (!isFirst && cursor.peek() !== closing) cursor.fail('a comma or a closing bracket is missing');
    if (cursor.peek() === CODE.comma) cursor.fail('a value is missing before the comma');
    if (cursor.peek() !== closing) return true;
    cursor.position++;
    return false;
  }

  #skipFlowBlanks(): void {
    const cursor = this.#cursor;
    cursor.skipToLineEnd();
    while (cursor.peek() === CODE.newline) {
      cursor.position++;
      if (cursor.atDocumentMarker) cursor.fail('a bracket is not closed');
      cursor.skipToLineEnd();
    }
  }

  #atEntry(): boolean {
    return this.#cursor.peek() === CODE.dash && this.#cursor.isBlankAt(1);
  }

  #expectPlainStart(inFlow: boolean): void {
    if (!this.#isPlainStart(inFlow)) this.#cursor.fail('unexpected character');
  }

  #isPlainStart(inFlow: boolean): boolean {
    const code = this.#cursor.peek();
    if (code === END || NEVER_PLAIN.has(code) || isFlowPunctuation(code)) return false;
    if (code !== CODE.dash && code !== CODE.question && code !== CODE.colon) return true;
    return !this.#cursor.isBlankAt(1) && !(inFlow && isFlowPunctuation(this.#cursor.peek(1)));
  }
}

const NEVER_PLAIN: ReadonlySet<number> = new Set([
  CODE.newline,
  CODE.hash,
  CODE.ampersand,
  CODE.asterisk,
  CODE.exclamation,
  CODE.pipe,
  CODE.greater,
  CODE.quote,
  CODE.apostrophe,
  CODE.percent,
  CODE.at,
  CODE.backtick,
]);
