// A list as Protobuf: the list's message in its envelope, its items encoded once and kept (rendering/protobuf-records.ts).
// The envelope says first how long the list is, so items are gone through twice: once for their lengths, which encodes
// those that are not kept, once for their bytes. Long lists are made in slices between which the thread serves others;
// what is held at a time is a piece, however long the list is.
import { EnvelopePieces } from '../../../api/codec/envelope.ts';
import { encodeProtobuf } from '../../../api/codec/protobuf.ts';
import { putVarint, tagOf, varintBytes, WIRE_BYTES } from '../../../api/codec/wire.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { apiVersionOf } from '../../../api/resources/resource-table.ts';
import type { Schema } from '../../../api/schema/schema.ts';
import type { KeptEncoding } from '../../../rendering/encoding-cache.ts';
import { decodedItem, type ListEnvelope, type ListItems, listMetadata } from '../../../rendering/list.ts';
import type { ProtobufRecords, RecordMessages } from '../../../rendering/protobuf-records.ts';
import type { Rendering } from '../../../rendering/rendering.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { headersFor } from './answers.ts';
import { pacedWriter } from './paced-writer.ts';
import { PIECE_BYTES, withRoom } from './piece-room.ts';
import type { Representation } from './representation.ts';

/** Items encoded in one turn, and bytes that they come to: whichever is first, about two milliseconds of work. */
const SLICE_ENCODED = 64;
const SLICE_ENCODED_BYTES = 128 * 1024;
/** Items looked at in one turn when all of them are kept. */
const SLICE_ITEMS = 8192;

/** Sends the list. `pause` lets the thread do other work; the items must lie still until this resolves. */
export async function sendProtobufList(
  exchange: Exchange,
  envelope: ListEnvelope,
  items: ListItems,
  { contentType, rendering }: Representation,
  records: ProtobufRecords,
  pause: () => Promise<void>,
): Promise<void> {
  const list = new ProtobufList(envelope, items, rendering, records);
  while (list.measure()) await pause();
  const headers = headersFor(contentType);
  // Up to a piece a list is one write.
  const isWhole = list.bytes <= PIECE_BYTES;
  await withRoom((room) =>
    isWhole
      ? answerWhole(exchange, headers, list, { pause, room })
      : answerInPieces(exchange, headers, list, { pause, room }),
  );
}

interface Sending {
  /** Lets the thread do other work. */
  readonly pause: () => Promise<void>;
  readonly room: Buffer;
}

async function answerWhole(
  exchange: Exchange,
  headers: HeaderList,
  list: ProtobufList,
  { pause, room }: Sending,
): Promise<void> {
  const body = room.subarray(0, list.bytes);
  let at = list.fill(body);
  while (!list.done) {
    await pause();
    at += list.fill(body.subarray(at));
  }
  exchange.answer(200, headers, body);
}

async function answerInPieces(
  exchange: Exchange,
  headers: HeaderList,
  list: ProtobufList,
  { pause, room }: Sending,
): Promise<void> {
  const { response } = exchange;
  exchange.start(200, headers);
  const write = pacedWriter(exchange);
  const isLarge = list.largestBytes > PIECE_BYTES;
  const piece = isLarge ? Buffer.allocUnsafeSlow(list.largestBytes) : room.subarray(0, PIECE_BYTES);
  while (!list.done && !response.aborted) {
    await write(piece.subarray(0, list.fill(piece)));
    if (!list.done) await pause();
  }
  if (!response.aborted) response.end();
}

/** A list on its way out: how long it is, then its bytes piece by piece. */
class ProtobufList {
  readonly #items: ListItems;
  readonly #messages: RecordMessages;
  readonly #pieces: EnvelopePieces;
  readonly #itemTag: number;
  /** The list's own metadata as a field. */
  readonly #metadata: Buffer;
  readonly #kept: KeptEncoding[] = [];
  #itemBytes = 0;
  #largestItemBytes = 0;
  #next = -1;

  constructor(envelope: ListEnvelope, items: ListItems, rendering: Rendering, records: ProtobufRecords) {
    const { apiVersion, kind, layout } = layoutOf(envelope, rendering, records.schema);
    this.#items = items;
    this.#messages = records.of(rendering);
    this.#pieces = new EnvelopePieces(apiVersion, kind);
    this.#itemTag = tagOf(layout.items, WIRE_BYTES);
    const metadata = encodeProtobuf(listMetadata(envelope) as JsonObject, records.schema.type('meta/v1.ListMeta'));
    const field = Buffer.alloc(1 + varintBytes(metadata.length) + metadata.length);
    field[0] = tagOf(layout.metadata, WIRE_BYTES);
    field.set(metadata, putVarint(field, 1, metadata.length));
    this.#metadata = field;
  }

  get #count(): number {
    return this.#items.places.length >>> 1;
  }

  get #rawBytes(): number {
    return this.#metadata.length + this.#itemBytes;
  }

  /** Bytes of the whole answer, once it is measured. */
  get bytes(): number {
    return this.#pieces.bytesAround(this.#rawBytes);
  }

  /** The most that one item, or everything before the first or behind the last, may take. */
  get largestBytes(): number {
    return this.#largestItemBytes + this.bytes - this.#itemBytes;
  }

  get done(): boolean {
    return this.#next > this.#count;
  }

  /** Adds up a turn's worth of items; true when there are more. */
  measure(): boolean {
    const { places, slabs, converted } = this.#items;
    const messages = this.#messages;
    const mayGoOn = sliceOf(messages);
    const end = Math.min(this.#count, this.#kept.length + SLICE_ITEMS);
    for (let i = this.#kept.length; i < end && mayGoOn(); i++) {
      const kept =
        converted === undefined
          ? messages.of(slabs[places[i * 2]!]!, places[i * 2 + 1]!)
          : messages.ofConverted(decodedItem(this.#items, i));
      this.#kept.push(kept);
      const length = messages.lengthOf(kept);
      const bytes = 1 + varintBytes(length) + length;
      this.#itemBytes += bytes;
      if (bytes > this.#largestItemBytes) this.#largestItemBytes = bytes;
    }
    return this.#kept.length < this.#count;
  }

  /**
   * Puts what fits and comes next; returns how many bytes that is. Nothing is left when `done`. Throws where an item is
   * larger than the target, as one that changed since it was measured would be.
   */
  fill(target: Buffer): number {
    let at = 0;
    if (this.#next < 0) {
      at = this.#pieces.open(target, 0, this.#rawBytes);
      at += this.#metadata.copy(target, at);
      this.#next = 0;
    }
    const messages = this.#messages;
    const mayGoOn = sliceOf(messages);
    for (; this.#next < this.#count && mayGoOn(); this.#next++) {
      const end = this.#putItem(target, at);
      if (end < 0) return progress(at);
      at = end;
    }
    if (this.#next < this.#count) return at;
    if (at + this.#pieces.closing.length > target.length) return progress(at);
    this.#next++;
    return this.#pieces.close(target, at);
  }

  /** Puts one item; returns where it ends, or -1 when it does not fit. */
  #putItem(target: Buffer, at: number): number {
    const index = this.#next;
    let kept = this.#kept[index]!;
    if (!kept.isKept) {
      const { places, slabs } = this.#items;
      kept = this.#messages.of(slabs[places[index * 2]!]!, places[index * 2 + 1]!);
    }
    const length = this.#messages.lengthOf(kept);
    if (at + 1 + varintBytes(length) + length > target.length) return -1;
    target[at] = this.#itemTag;
    return kept.copy(target, putVarint(target, at + 1, length), length);
  }
}

/** Whether a turn that begins now may go on, of which there is time for no more than a slice. */
function sliceOf(messages: RecordMessages): () => boolean {
  const countMax = messages.encodedCount + SLICE_ENCODED;
  const bytesMax = messages.encodedBytes + SLICE_ENCODED_BYTES;
  return () => messages.encodedCount < countMax && messages.encodedBytes < bytesMax;
}

function progress(bytes: number): number {
  if (bytes === 0) throw new RangeError('an item of a list is longer than it was measured');
  return bytes;
}

/** What the list says it is, and the numbers of its two fields. */
function layoutOf(
  { apiVersion, listKind }: ListEnvelope,
  { shape }: Rendering,
  schema: Schema,
): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly layout: { readonly metadata: number; readonly items: number };
} {
  if (shape === undefined) return { apiVersion, kind: listKind, layout: { metadata: 1, items: 2 } };
  const type = schema.kind(schema.dialect.metaGroup, shape.version, shape.kind)!;
  const layout = { metadata: type.field('metadata')!.number, items: type.field('items')!.number };
  return { apiVersion: apiVersionOf(shape.metaGroup, shape.version), kind: shape.kind, layout };
}
