// A list whose items do not go out as the bytes they are stored as: indented, as YAML, in a shape or version of their own.
// It is made piece by piece, each of about two milliseconds of work, so that whoever sends it can serve others, or look
// whether anybody still wants it, in between. Works alike on an actor's thread and in the pool.
import type { JsonObject } from '../api/json/json-value.ts';
import { YamlText, yamlText } from '../transport/yaml/write.ts';
import {
  decodedItem,
  emptyList,
  isItemAsAsked,
  itemCount,
  type ListEnvelope,
  type ListItems,
  listMetadata,
  storedItem,
  storedItemBytes,
} from './list.ts';
import { IndentedJson, prettyJson } from './pretty-json.ts';
import type { Renderer } from './renderer.ts';

/** Items, and bytes of what is stored, that are made in one go: whichever comes first. */
const SLICE_ITEMS = 64;
const SLICE_BYTES = 128 * 1024;
/** YAML takes longer to write. */
const YAML_SLICE_BYTES = 32 * 1024;
/** An item so large is written in several pieces itself. */
const LARGE_ITEM_BYTES = SLICE_BYTES;
const NOTHING: Uint8Array = new Uint8Array();

/**
 * The list's bytes. A piece may be empty: there was work, and nothing to show yet. The records must lie still until the last
 * one is taken.
 */
export function* listPieces(envelope: ListEnvelope, items: ListItems, renderer: Renderer): Generator<Uint8Array> {
  const { shape } = renderer.rendering;
  const empty = shape === undefined ? emptyList(envelope, items) : renderer.shapedList([], listMetadata(envelope));
  const count = itemCount(items);
  const text = listText(renderer, empty);
  if (count === 0) {
    yield text.empty();
    return;
  }
  const order = renderer.reorders ? yield* ordered(items, renderer) : undefined;
  let opening = text.opening();
  const sliceBytes = renderer.rendering.encoding === 'yaml' ? YAML_SLICE_BYTES : SLICE_BYTES;
  for (let from = 0; from < count; ) {
    let to = from;
    for (let bytes = 0; to < count && to - from < SLICE_ITEMS && bytes < sliceBytes; to++) {
      bytes += storedItemBytes(items, to);
    }
    for (const piece of text.items(items, from, to, order)) {
      yield opening.length === 0 ? piece : Buffer.concat([opening, piece]);
      opening = NOTHING;
    }
    from = to;
  }
  yield text.closing();
}

/** The indexes of items in the order of their kind. */
function* ordered(items: ListItems, renderer: Renderer): Generator<Uint8Array, readonly number[]> {
  const objects: JsonObject[] = [];
  for (let i = 0; i < itemCount(items); i++) {
    if (i > 0 && i % SLICE_ITEMS === 0) yield NOTHING;
    objects.push(convertedItem(renderer, items, i));
  }
  return renderer.orderOf(objects);
}

/** How a list is written in one encoding. */
interface ListText {
  empty(): Uint8Array;
  opening(): Uint8Array;
  /** Items from one index up to another, those at `order` of them where that is given. */
  items(items: ListItems, from: number, to: number, order: readonly number[] | undefined): Generator<Uint8Array>;
  closing(): Uint8Array;
}

function listText(renderer: Renderer, empty: object): ListText {
  const { encoding, pretty } = renderer.rendering;
  if (encoding === 'yaml') return new YamlList(renderer, empty);
  return pretty ? new IndentedList(renderer, empty) : new CompactList(renderer, empty);
}

/** What follows the items of a JSON list: its array's end, and its own. */
const ARRAY_OPEN_END = '[]}';

class CompactList implements ListText {
  readonly #renderer: Renderer;
  readonly #text: string;

  constructor(renderer: Renderer, empty: object) {
    this.#renderer = renderer;
    this.#text = JSON.stringify(empty);
  }

  empty(): Uint8Array {
    return Buffer.from(`${this.#text}\n`);
  }

  opening(): Uint8Array {
    return Buffer.from(this.#text.slice(0, 1 - ARRAY_OPEN_END.length));
  }

  *items(items: ListItems, from: number, to: number, order: readonly number[] | undefined): Generator<Uint8Array> {
    const texts: string[] = [];
    const isWritten = areWritten(this.#renderer, items);
    for (let i = from; i < to; i++) {
      const index = order?.[i] ?? i;
      texts.push(
        isWritten ? storedItem(items, index).toString() : JSON.stringify(itemAt(this.#renderer, items, index)),
      );
    }
    yield Buffer.from(`${from === 0 ? '' : ','}${texts.join(',')}`);
  }

  closing(): Uint8Array {
    return Buffer.from(']}\n');
  }
}

/** Levels that an item of an indented list stands in. */
const ITEM_DEPTH = 2;

class IndentedList implements ListText {
  readonly #renderer: Renderer;
  readonly #text: Buffer;

  constructor(renderer: Renderer, empty: object) {
    this.#renderer = renderer;
    this.#text = Buffer.from(prettyJson(Buffer.from(JSON.stringify(empty))));
  }

  empty(): Uint8Array {
    return this.#text;
  }

  opening(): Uint8Array {
    return this.#text.subarray(0, -']\n}'.length);
  }

  *items(items: ListItems, from: number, to: number, order: readonly number[] | undefined): Generator<Uint8Array> {
    const pieces: Uint8Array[] = [];
    const isWritten = this.#renderer.keepsStoredItems || areWritten(this.#renderer, items);
    for (let i = from; i < to; i++) {
      pieces.push(i === 0 ? FIRST_ITEM : NEXT_ITEM);
      const index = order?.[i] ?? i;
      const json = isWritten
        ? storedItem(items, index)
        : Buffer.from(JSON.stringify(itemAt(this.#renderer, items, index)));
      if (json.length < LARGE_ITEM_BYTES) pieces.push(prettyJson(json, ITEM_DEPTH));
      else {
        yield Buffer.concat(pieces.splice(0));
        const item = new IndentedJson(json, ITEM_DEPTH);
        while (!item.done) yield item.next(SLICE_BYTES);
      }
    }
    yield Buffer.concat(pieces);
  }

  closing(): Uint8Array {
    return Buffer.from('\n  ]\n}');
  }
}

const FIRST_ITEM = Buffer.from('\n    ');
const NEXT_ITEM = Buffer.from(',\n    ');

class YamlList implements ListText {
  readonly #renderer: Renderer;
  /** The member that holds the items, and what stands before and behind it: YAML has its names in their own order. */
  readonly #name: string;
  readonly #before: string;
  readonly #behind: string;

  constructor(renderer: Renderer, empty: object) {
    this.#renderer = renderer;
    const members = Object.entries(empty);
    const name = members.at(-1)![0];
    this.#name = name;
    this.#before = mappingText(members.filter(([other]) => other < name));
    this.#behind = mappingText(members.filter(([other]) => other > name));
  }

  empty(): Uint8Array {
    return Buffer.from(`${this.#before}${this.#name}: []\n${this.#behind}`);
  }

  opening(): Uint8Array {
    return Buffer.from(`${this.#before}${this.#name}:\n`);
  }

  *items(items: ListItems, from: number, to: number, order: readonly number[] | undefined): Generator<Uint8Array> {
    const objects: object[] = [];
    for (let i = from; i < to; i++) objects.push(itemAt(this.#renderer, items, order?.[i] ?? i));
    const text = new YamlText(objects);
    while (!text.done) yield Buffer.from(text.next(YAML_SLICE_BYTES));
  }

  closing(): Uint8Array {
    return Buffer.from(this.#behind);
  }
}

function mappingText(members: readonly (readonly [name: string, member: unknown])[]): string {
  return members.length === 0 ? '' : yamlText(Object.fromEntries(members));
}

/** A stored object as an item or row of the list. */
function itemAt(renderer: Renderer, items: ListItems, index: number): object {
  const object = convertedItem(renderer, items, index);
  if (renderer.rendering.shape !== undefined) return renderer.shapedItem(object);
  if (items.areWhole === true) return object;
  // The list says of all of them what kind they are.
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  return item;
}

/** True where what a webhook has converted goes out as it is: read and written again, a large one holds the thread each time. */
function areWritten({ rendering }: Renderer, { converted, areWhole }: ListItems): boolean {
  return converted !== undefined && areWhole === true && rendering.shape === undefined;
}

/** In the version asked for; what lies in it is not converted. */
function convertedItem(renderer: Renderer, items: ListItems, index: number): JsonObject {
  const stored = decodedItem(items, index);
  return isItemAsAsked(renderer.rendering, items, index) ? stored : renderer.converted(stored);
}
