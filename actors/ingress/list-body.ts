// A list as bytes: an envelope around the stored items, each copied once from shared memory. Small lists are one write;
// large ones go out in pieces as the socket takes them. No item is parsed.
import { itemOffset, type Slab, valueLength, valueStart } from '../../storage/slab-record.ts';
import type { HttpResponse } from '../../transport/exchange.ts';

/** Up to this a list is built and written at once. */
const WHOLE_BYTES_MAX = 256 * 1024;
/** Bytes of one piece of a larger list. */
const PIECE_BYTES = 256 * 1024;
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

/** Everything before the first item (SPEC.md "List envelope"). */
export function listOpening(envelope: ListEnvelope): Buffer {
  const metadata: Record<string, unknown> = { resourceVersion: String(envelope.revision) };
  if (envelope.continueToken !== '') metadata.continue = envelope.continueToken;
  if (envelope.continueToken !== '' && envelope.remaining !== undefined)
    metadata.remainingItemCount = envelope.remaining;
  const { listKind, apiVersion } = envelope;
  return Buffer.from(
    `{"kind":${JSON.stringify(listKind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[`,
  );
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
  let resume = (): void => {};
  response.onDrained(() => resume());
  response.onAborted(() => resume());
  const write = async (piece: Uint8Array): Promise<void> => {
    if (!response.write(piece) && !response.aborted) {
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
    }
  };
  let pending = listOpening(envelope);
  for (let i = 0; i < items.places.length && !response.aborted; ) {
    const from = i;
    let bytes = pending.length;
    while (i < items.places.length && (bytes < PIECE_BYTES || i === from)) {
      bytes += itemBytes(items, i);
      i += 2;
    }
    const piece = Buffer.allocUnsafeSlow(bytes);
    let at = pending.copy(piece, 0);
    pending = Buffer.alloc(0);
    for (let j = from; j < i; j += 2) at = copyItem(items, j, piece, at);
    await write(piece);
  }
  if (response.aborted) return;
  await write(pending.length > 0 ? Buffer.concat([pending, CLOSING]) : CLOSING);
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
