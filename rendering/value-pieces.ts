// One large object that does not go out as the bytes it is stored as, written piece by piece as the lists of
// list-pieces.ts are. What JSON.parse and the conversion of one object take is not cut up: some ten milliseconds for the
// largest that can be stored.

import { parseExact } from '../api/json/exact-json.ts';
import type { JsonObject } from '../api/json/json-value.ts';
import { decodeStored } from '../storage/forms/stored-json.ts';
import { YamlText } from '../transport/yaml/write.ts';
import { IndentedJson } from './pretty-json.ts';
import type { Renderer } from './renderer.ts';
import { keepsStoredValue } from './rendering.ts';

const PIECE_BYTES = 128 * 1024;
const YAML_PIECE_CHARACTERS = 32 * 1024;

/**
 * The bytes of an answer in JSON or YAML.
 *
 * @param json the object: as it is stored, or (`isRendered`) already of the version and shape that are asked for.
 */
export function* valuePieces(json: Buffer, renderer: Renderer, isRendered: boolean): Generator<Uint8Array> {
  const { rendering } = renderer;
  const rendered = (): object => (isRendered ? decodeStored(json) : renderer.stored(decodeStored(json)));
  if (rendering.encoding === 'yaml') {
    const text = new YamlText(rendered());
    while (!text.done) yield Buffer.from(text.next(YAML_PIECE_CHARACTERS));
    return;
  }
  const body = isRendered || keepsStoredValue(rendering) ? json : Buffer.from(JSON.stringify(rendered()));
  if (!rendering.pretty) {
    for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
    yield NEWLINE;
    return;
  }
  const text = new IndentedJson(body);
  while (!text.done) yield text.next(PIECE_BYTES);
}

const NEWLINE = Buffer.from('\n');

/** A list that was put together of objects of the version asked for, and is no record. */
export interface ValueList {
  readonly metadata: object;
  /** The JSON of its items, of some in each: read, all of them may come to a hundred times as much, which is held until they are out. */
  readonly items: readonly Uint8Array[];
}

/** Some items of such a list. */
export function itemsText(items: readonly JsonObject[]): Uint8Array {
  return Buffer.from(items.map((item) => JSON.stringify(item)).join());
}

/** All of its items, read. */
export function itemsOf({ items }: ValueList): readonly JsonObject[] {
  return parseExact(`[${items.map((some) => Buffer.from(some).toString()).join()}]`) as JsonObject[];
}

/** Its bytes in compact JSON, the items last. */
export function* valueListPieces({ items, ...members }: ValueList): Generator<Uint8Array> {
  let next = Buffer.from(JSON.stringify({ ...members, items: [] }).slice(0, -']}'.length));
  for (const [index, some] of items.entries()) {
    next = Buffer.concat(index > 0 ? [next, COMMA, some] : [next, some]);
    if (next.length < PIECE_BYTES) continue;
    for (let at = 0; at < next.length; at += PIECE_BYTES) yield next.subarray(at, at + PIECE_BYTES);
    next = NOTHING;
  }
  yield Buffer.concat([next, LIST_END]);
}

const COMMA = Buffer.from(',');
const LIST_END = Buffer.from(']}\n');
const NOTHING = Buffer.alloc(0);
