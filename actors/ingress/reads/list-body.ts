// A list as bytes: an envelope around the stored items, each copied once from shared memory. Small lists are one write;
// large ones go out in pieces as the socket takes them. Nothing is parsed; lists that are rendered are rendered-list.ts.
import { emptyList, type ListEnvelope, type ListItems } from '../../../rendering/list.ts';
import { copyItem, copyValue, itemLength } from '../../../storage/records/record-reading.ts';
import { valueLength } from '../../../storage/records/slab-record.ts';
import { type Answered, pacedWriter } from './paced-writer.ts';
import { PIECE_BYTES, roomOfThisTurn, withRoom } from './piece-room.ts';

/** Up to this a list is built and written at once. */
const WHOLE_BYTES_MAX = PIECE_BYTES;
const OPEN_BRACE = 0x7b;
const COMMA = 0x2c;
const CLOSING = Buffer.from(']}\n');

/** Everything before the first item. */
function listOpening(envelope: ListEnvelope, items: ListItems): Buffer {
  return Buffer.from(JSON.stringify(emptyList(envelope, items)).slice(0, -']}'.length));
}

/** The whole list, when it is small enough for one write: to be sent in this turn, since the next list takes its place. */
export function wholeList(envelope: ListEnvelope, items: ListItems): Buffer | undefined {
  const opening = listOpening(envelope, items);
  const bytes = opening.length + itemsBytes(items, WHOLE_BYTES_MAX) + CLOSING.length;
  if (bytes > WHOLE_BYTES_MAX) return undefined;
  const body = roomOfThisTurn().subarray(0, bytes);
  let at = opening.copy(body, 0);
  for (let i = 0; i < items.places.length; i += 2) at = putItem(items, i, body, at);
  CLOSING.copy(body, at);
  return body;
}

/** Of all lists together, between two turns of others: sockets of clients that are near take megabytes at once. */
const TURN_BYTES = 4 * 1024 * 1024;
/** Lists of this thread that are under way. */
let underWay = 0;

/**
 * Writes the list piece by piece; resolves when it is out, or when the client is gone. The response was started.
 *
 * @param pause lets the thread serve others.
 */
export async function streamList(
  envelope: ListEnvelope,
  items: ListItems,
  answered: Answered,
  pause: () => Promise<void>,
): Promise<void> {
  underWay += 1;
  try {
    await withRoom((room) => writeList(envelope, items, answered, { pause, room }));
  } finally {
    underWay -= 1;
  }
}

async function writeList(
  envelope: ListEnvelope,
  items: ListItems,
  answered: Answered,
  { pause, room }: { readonly pause: () => Promise<void>; readonly room: Buffer },
): Promise<void> {
  const { response } = answered;
  const paced = pacedWriter(answered);
  let written = 0;
  const write = async (piece: Uint8Array): Promise<void> => {
    await paced(piece);
    written += piece.byteLength;
    if (written * underWay < TURN_BYTES) return;
    written = 0;
    await pause();
  };
  let buffer = room;
  let at = listOpening(envelope, items).copy(buffer, 0);
  for (let i = 0; i < items.places.length && !response.aborted; i += 2) {
    const bytes = itemBytes(items, i);
    if (at > 0 && at + bytes > PIECE_BYTES) {
      await write(buffer.subarray(0, at));
      at = 0;
    }
    if (at + bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(bytes);
    at = putItem(items, i, buffer, at);
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

/** `,{` (the first item has no comma) and what follows kind and apiVersion, or the whole. */
function itemBytes({ places, slabs, areWhole }: ListItems, index: number): number {
  const slab = slabs[places[index]!]!;
  const offset = places[index + 1]!;
  if (areWhole === true) return valueLength(slab, offset) + (index === 0 ? 0 : 1);
  return itemLength(slab, offset) + (index === 0 ? 1 : 2);
}

function putItem({ places, slabs, areWhole }: ListItems, index: number, target: Buffer, at: number): number {
  const slab = slabs[places[index]!]!;
  const offset = places[index + 1]!;
  let end = at;
  if (index > 0) target[end++] = COMMA;
  if (areWhole === true) return copyValue(slab, offset, target, end);
  target[end++] = OPEN_BRACE;
  return copyItem(slab, offset, target, end);
}
