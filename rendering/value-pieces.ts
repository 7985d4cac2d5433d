// One large object that does not go out as the bytes it is stored as, written piece by piece as the lists of
// list-pieces.ts are. What JSON.parse and the conversion of one object take is not cut up: some ten milliseconds for the
// largest that can be stored.

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
  /** The objects as compact JSON, one or several with commas between them: parsed, they may take a hundred times as much. */
  readonly items: readonly Uint8Array[];
}

/** Its bytes in compact JSON, the items last: each piece holds those that came together. */
export function* valueListPieces({ items, ...members }: ValueList): Generator<Uint8Array> {
  let before = JSON.stringify({ ...members, items: [] }).slice(0, -']}'.length);
  for (const some of items) {
    yield Buffer.concat([Buffer.from(before), some]);
    before = ',';
  }
  yield Buffer.from(items.length === 0 ? `${before}]}\n` : ']}\n');
}

/** The objects themselves. */
export function valueListItems({ items }: ValueList): JsonObject[] {
  return items.flatMap((some) => {
    const list = decodeStored(Buffer.concat([Buffer.from('{"items":['), some, Buffer.from(']}')]));
    return list.items as JsonObject[];
  });
}
