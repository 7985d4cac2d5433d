// A list as bytes: an envelope around the stored items, each copied once from shared memory. Small lists are one write;
// large ones go out in pieces as the socket takes them. Nothing is parsed unless another representation asks for it.
import type { JsonObject } from '../../../api/json-value.ts';
import type { Renderer } from '../../../rendering/renderer.ts';
import { itemOffset, type Slab, valueLength, valueStart, valueView } from '../../../storage/slab-record.ts';
import { decodeStored } from '../../../storage/stored-json.ts';
import type { HttpResponse } from '../../../transport/http.ts';
import { pacedWriter } from './paced-writer.ts';

/** Up to this a list is built and written at once. */
const WHOLE_BYTES_MAX = 256 * 1024;
/** Bytes of one piece of a larger list. */
const PIECE_BYTES = 256 * 1024;
/** Room for a piece, and for what comes before the first item. */
const BUFFER_BYTES = PIECE_BYTES + 16 * 1024;
const OPEN_BRACE = 0x7b;
const COMMA = 0x2c;
const CLOSING = Buffer.from(']}\n');

export interface ListEnvelope {
  readonly apiVersion: string;
  readonly listKind: string;
  readonly revision: number;
  readonly continueToken: string;
  readonly remaining: number | undefined;
}

/** The records of a list, and the slabs as they were when it was gathered. */
export interface ListItems {
  readonly places: Uint32Array;
  readonly slabs: readonly (Slab | undefined)[];
}

/** What a list says of itself (SPEC.md "List envelope"). */
export function listMetadata({ revision, continueToken, remaining }: ListEnvelope): object {
  const metadata: Record<string, unknown> = { resourceVersion: String(revision) };
  if (continueToken !== '') metadata.continue = continueToken;
  if (continueToken !== '' && remaining !== undefined) metadata.remainingItemCount = remaining;
  return metadata;
}

/** Everything before the first item. */
export function listOpening(envelope: ListEnvelope): Buffer {
  const { listKind, apiVersion } = envelope;
  const metadata = JSON.stringify(listMetadata(envelope));
  return Buffer.from(
    `{"kind":${JSON.stringify(listKind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${metadata},"items":[`,
  );
}

/** The item at an index, decoded, as it is stored. */
export function decodedItem({ places, slabs }: ListItems, index: number): JsonObject {
  return decodeStored(valueView(slabs[places[index * 2]!]!, places[index * 2 + 1]!));
}

/** A stored object as an item of a list: without what the list says of all of them. */
export function convertedItem(renderer: Renderer, stored: JsonObject): JsonObject {
  const { kind: _kind, apiVersion: _apiVersion, ...item } = renderer.converted(stored);
  return item;
}

/** A list as objects, for representations that are not its stored bytes. */
export function decodedList(envelope: ListEnvelope, items: ListItems, renderer: Renderer): object {
  const objects: JsonObject[] = [];
  for (let i = 0; i < items.places.length >>> 1; i++) {
    objects.push(convertedItem(renderer, decodedItem(items, i)));
  }
  return {
    kind: envelope.listKind,
    apiVersion: envelope.apiVersion,
    metadata: listMetadata(envelope),
    items: objects,
  };
}

/** The whole list, when it is small enough for one write. */
export function wholeList(envelope: ListEnvelope, items: ListItems): Buffer | undefined {
  const opening = listOpening(envelope);
  const bytes = opening.length + itemsBytes(items, WHOLE_BYTES_MAX) + CLOSING.length;
  if (bytes > WHOLE_BYTES_MAX) return undefined;
  const body = Buffer.allocUnsafe(bytes);
  let at = opening.copy(body, 0);
  for (let i = 0; i < items.places.length; i += 2) at = copyItem(items, i, body, at);
  CLOSING.copy(body, at);
  return body;
}

/** Writes the list piece by piece; resolves when it is out, or when the client is gone. The response was started. */
export async function streamList(envelope: ListEnvelope, items: ListItems, response: HttpResponse): Promise<void> {
  const write = pacedWriter(response);
  // One buffer for all pieces: a new one for each would be mapped and faulted in anew.
  let buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let at = listOpening(envelope).copy(buffer, 0);
  for (let i = 0; i < items.places.length && !response.aborted; i += 2) {
    const bytes = itemBytes(items, i);
    if (at > 0 && at + bytes > PIECE_BYTES) {
      await write(buffer.subarray(0, at));
      at = 0;
    }
    if (at + bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(bytes);
    at = copyItem(items, i, buffer, at);
  }
  if (response.aborted) return;
  if (at > 0) await write(buffer.subarray(0, at));
  await write(CLOSING);
  response.end();
}

function itemsBytes(items: ListItems, bytesMax: number): number {
  let bytes = 0;
  for (let i = 0; i < items.places.length && bytes <= bytesMax; i += 2) bytes += itemBytes(items, i);
  return bytes;
}

/** `,{` (the first item has no comma) and what follows kind and apiVersion. */
function itemBytes({ places, slabs }: ListItems, index: number): number {
  const slab = slabs[places[index]!]!;
  const offset = places[index + 1]!;
  return valueLength(slab, offset) - itemOffset(slab, offset) + (index === 0 ? 1 : 2);
}

function copyItem({ places, slabs }: ListItems, index: number, target: Buffer, at: number): number {
  const slab = slabs[places[index]!]!;
  const offset = places[index + 1]!;
  const start = valueStart(slab, offset);
  let end = at;
  if (index > 0) target[end++] = COMMA;
  target[end++] = OPEN_BRACE;
  return end + slab.bytes.copy(target, end, start + itemOffset(slab, offset), start + valueLength(slab, offset));
}
