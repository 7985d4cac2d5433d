// The nodes of one YAML document while it is read: tags, anchors and aliases, keys, and the limits on all of them.
// Reads the marks that stand before a node; the nodes' own text is read elsewhere.
import { isInteger } from '../../api/json/exact-json.ts';
import { messageOf } from '../../runtime/errors.ts';
import { CODE, type YamlCursor } from './cursor.ts';
import { binaryText, resolvePlain, type Scalar } from './scalars.ts';
import { isFlowPunctuation } from './text-scalars.ts';

/** Nodes that aliases may add to one document. */
const ALIASED_NODES_MAX = 10_000;

/** Repeated names that are told of one document. */
const REPEATED_MAX = 100;

const STANDARD_TAG = /^!(?:!|<tag:yaml\.org,2002:)(str|int|float|bool|null|map|seq|binary)>?$/;

/** A tag or name is quoted in an error up to this length. */
const QUOTED_MAX = 64;

/** The marks before a node. */
export interface Properties {
  readonly tag: string | undefined;
  readonly anchor: string | undefined;
}

/** The name of an entry of a mapping. */
export interface Key {
  readonly name: string;
  /** An unquoted `<<`: the value's entries are added to the mapping. */
  readonly isMerge: boolean;
  /** Behind a question mark: a collection may follow its colon on the same line. */
  readonly isExplicit?: true;
}

export type Mapping = Record<string, unknown>;

export class YamlNodes {
  readonly #cursor: YamlCursor;
  readonly #depthMax: number;
  /** Gets the names of entries that come again, where somebody asks. */
  readonly #repeated: string[] | undefined;
  readonly #anchors = new Map<string, unknown>();
  #depth = 0;
  #aliasedNodes = 0;

  constructor(cursor: YamlCursor, depthMax: number, repeated: string[] | undefined) {
    this.#cursor = cursor;
    this.#depthMax = depthMax;
    this.#repeated = repeated;
  }

  /** To be called before each node. */
  enter(): void {
    if (++this.#depth > this.#depthMax) this.#failDeep();
  }

  /** To be called after each node. Answers its value, which is remembered where it has an anchor. */
  leave(properties: Properties, value: unknown): unknown {
    this.#depth--;
    if (properties.anchor !== undefined) this.#anchors.set(properties.anchor, value);
    return value;
  }

  /** Reads a tag and an anchor, in either order, and the blanks behind them. */
  properties(): Properties {
    const cursor = this.#cursor;
    let tag: string | undefined;
    let anchor: string | undefined;
    for (;;) {
      const code = cursor.peek();
      if (code === CODE.exclamation && tag === undefined) tag = this.#tag();
      else if (code === CODE.ampersand && anchor === undefined) anchor = this.#name('an anchor');
      else return { tag, anchor };
      cursor.skipBlanks();
    }
  }

  #tag(): string {
    const word = this.#word();
    if (word === '!') return 'str';
    const tag = STANDARD_TAG.exec(word)?.[1];
    return tag ?? this.#cursor.fail(`the tag ${word.slice(0, QUOTED_MAX)} is not supported`);
  }

  #name(what: string): string {
    const name = this.#word().slice(1);
    return name === '' ? this.#cursor.fail(`${what} has no name`) : name;
  }

  /** The characters up to a blank or flow punctuation. */
  #word(): string {
    const cursor = this.#cursor;
    const start = cursor.position;
    while (!cursor.isBlankAt(0) && !isFlowPunctuation(cursor.peek())) cursor.position++;
    return cursor.text.slice(start, cursor.position);
  }

  /** Reads an alias. Answers a copy: no two places of a value are one object. */
  alias(): unknown {
    const name = this.#name('an alias');
    if (!this.#anchors.has(name)) this.#cursor.fail(`the anchor ${name.slice(0, QUOTED_MAX)} is not known`);
    return this.#copy(this.#anchors.get(name), this.#depth);
  }

  #copy(value: unknown, depth: number): unknown {
    if (++this.#aliasedNodes > ALIASED_NODES_MAX) this.#cursor.fail(`aliases add more than ${ALIASED_NODES_MAX} nodes`);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= this.#depthMax) this.#failDeep();
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    const copy: Mapping = {};
    for (const [name, member] of Object.entries(value)) copy[name] = this.#copy(member, depth + 1);
    return copy;
  }

  /** What a scalar's text means under its tag, which must agree with it. */
  scalar(text: string, tag: string | undefined, isPlain: boolean): Scalar {
    if (tag === 'str' || (tag === undefined && !isPlain)) return text;
    if (tag === 'binary') return binaryText(text) ?? this.#cursor.fail('the text is no base64');
    let value: Scalar;
    try {
      value = resolvePlain(text);
    } catch (error) {
      this.#cursor.fail(messageOf(error));
    }
    if (tag === undefined || TAG_TESTS[tag]?.(value) === true) return value;
    return this.#cursor.fail(`the text is no ${tag}`);
  }

  /** The collection itself, if its tag allows it to be one. */
  collection<T>(tag: string | undefined, kind: 'map' | 'seq', value: T): T {
    return tag === undefined || tag === kind ? value : this.#cursor.fail(`a collection is no ${tag}`);
  }

  /** The entry name that an unquoted text stands for: numbers and truth values in their JSON spelling. */
  plainKey(text: string): Key {
    if (text === '<<') return { name: text, isMerge: true };
    const value = this.scalar(text, undefined, true);
    if (value === null) this.#cursor.fail('a key cannot be null');
    return { name: String(value), isMerge: false };
  }

  /** Adds an entry to a mapping. */
  set(entries: MappingBuilder, key: Key, value: unknown): void {
    if (key.name === '__proto__') this.#cursor.fail('a key named "__proto__" is not allowed');
    if (this.#repeated !== undefined && entries.has(key.name) && this.#repeated.length < REPEATED_MAX) {
      this.#repeated.push(key.name);
    }
    if (!key.isMerge) entries.set(key.name, value);
    else if (!entries.merge(value)) this.#cursor.fail('only mappings can be merged by <<');
  }

  #failDeep(): never {
    this.#cursor.fail(`nested deeper than ${this.#depthMax} levels`);
  }
}

const TAG_TESTS: Readonly<Record<string, (value: Scalar) => boolean>> = {
  int: isInteger,
  float: (value) => typeof value === 'number' || typeof value === 'bigint',
  bool: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

/** Gathers a mapping's entries: the last of two with one name holds, and merged ones give way to the mapping's own. */
export class MappingBuilder {
  readonly #own: Mapping = {};
  readonly #merged: Mapping[] = [];

  has(name: string): boolean {
    return Object.hasOwn(this.#own, name);
  }

  set(name: string, value: unknown): void {
    this.#own[name] = value;
  }

  /** False when `value` is neither a mapping nor a sequence of mappings. */
  merge(value: unknown): boolean {
    const sources: unknown[] = Array.isArray(value) ? value : [value];
    for (const source of sources) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) return false;
      this.#merged.push(source as Mapping);
    }
    return true;
  }

  finish(): Mapping {
    for (const source of this.#merged) {
      for (const [name, value] of Object.entries(source)) {
        if (!Object.hasOwn(this.#own, name)) this.#own[name] = value;
      }
    }
    return this.#own;
  }
}
