// One object as it is asked for: as the bytes it is stored as whenever that is what the client takes, else rendered. A large
// one is rendered in pieces, in the pool when the pool takes it, so that it holds up nobody else's request.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { JOB_BYTES_MIN, VALUE_JOB } from '../../../rendering/jobs.ts';
import { prettyJson } from '../../../rendering/pretty-json.ts';
import { keepsStoredBytes, keepsStoredValue } from '../../../rendering/rendering.ts';
import { itemsOf, type ValueList, valueListPieces, valuePieces } from '../../../rendering/value-pieces.ts';
import type { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import { copyOfBody, decodeRecord, withBody } from '../../../storage/records/record-reading.ts';
import { type Slab, valueLength } from '../../../storage/records/slab-record.ts';
import { heapBytesOfBody } from '../../../transport/heap-of-body.ts';
import type { HeaderList } from '../../../transport/http.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { headersFor, JSON_TYPE, sendValue } from './answers.ts';
import { type LongWork, PieceAnswer } from './piece-answer.ts';
import { type Representation, unconverted } from './representation.ts';

/** Up to this an object is rendered in one go: about a millisecond of work. */
const WHOLE_BYTES_MAX = 16 * 1024;

/** A stored object, as its record has it in this turn. What is not sent by the end of the call is when the promise resolves. */
export function sendStored(
  exchange: Exchange,
  code: number,
  slab: Slab,
  offset: number,
  representation: Representation,
  work: LongWork,
  warnings?: readonly string[],
): Promise<void> | undefined {
  const { contentType, rendering, renderer } = representation;
  const headers = headersFor(contentType, warnings);
  if (keepsStoredBytes(rendering)) {
    withBody(slab, offset, answerBody, exchange, code, headers);
  } else if (valueLength(slab, offset) >= WHOLE_BYTES_MAX) {
    return sendLarge(exchange, code, headers, copyOfBody(slab, offset), representation, false, work);
  } else if (keepsStoredValue(rendering)) {
    withBody(slab, offset, answerIndented, exchange, code, headers);
  } else sendValue(exchange, code, renderer.stored(decodeRecord(slab, offset)), representation, warnings);
  return undefined;
}

function answerBody(body: Buffer, exchange: Exchange, code: number, headers: HeaderList): void {
  exchange.answer(code, headers, body);
}

function answerIndented(body: Buffer, exchange: Exchange, code: number, headers: HeaderList): void {
  exchange.answer(code, headers, prettyJson(body));
}

/** An object of the version asked for, shaped and encoded for this answer alone. What it resolves is as of `sendStored`. */
export function sendRenderedObject(
  exchange: Exchange,
  code: number,
  object: object,
  representation: Representation,
  work: LongWork,
  warnings?: readonly string[],
): Promise<void> | undefined {
  const rendered = representation.renderer.object(object as JsonObject);
  return sendRendered(exchange, code, rendered, representation, work, warnings);
}

/** The same of a list of such objects. */
export function sendListValue(
  exchange: Exchange,
  list: ValueList,
  representation: Representation,
  work: LongWork,
  warnings?: readonly string[],
): Promise<void> | undefined {
  const { renderer } = unconverted(representation);
  const { encoding, pretty, shape } = renderer.rendering;
  const isLong = lengthOf(list) > WHOLE_BYTES_MAX;
  if (encoding === 'protobuf' || shape !== undefined || !isLong) {
    const items = itemsOf(list);
    const rendered = shape === undefined ? { ...list, items } : renderer.shapedList(items, list.metadata);
    return sendRendered(exchange, 200, rendered, representation, work, warnings);
  }
  const headers = headersFor(representation.contentType, warnings);
  if (encoding === 'json' && !pretty)
    return new PieceAnswer(exchange, 200, headers).inSlices(valueListPieces(list), work.pause);
  const json = Buffer.concat([...valueListPieces(list)]).subarray(0, -NEWLINE_BYTES);
  return sendLarge(exchange, 200, headers, json, representation, true, work);
}

/** Behind compact JSON. */
const NEWLINE_BYTES = 1;

/** Of its items, in bytes of JSON. */
function lengthOf({ items }: ValueList): number {
  return items.reduce((sum, { length }) => sum + length, 0);
}

function sendRendered(
  exchange: Exchange,
  code: number,
  rendered: object,
  representation: Representation,
  work: LongWork,
  warnings: readonly string[] | undefined,
): Promise<void> | undefined {
  const { contentType, encoding, pretty } = representation;
  if (encoding === 'yaml' || (encoding === 'json' && pretty)) {
    const json = Buffer.from(JSON.stringify(rendered));
    if (json.length > WHOLE_BYTES_MAX) {
      return sendLarge(exchange, code, headersFor(contentType, warnings), json, representation, true, work);
    }
  }
  sendValue(exchange, code, rendered, representation, warnings);
  return undefined;
}

function sendLarge(
  exchange: Exchange,
  code: number,
  headers: HeaderList,
  json: Buffer,
  { renderer }: Representation,
  isRendered: boolean,
  work: LongWork,
): Promise<void> {
  const answer = new PieceAnswer(exchange, code, headers);
  const here = (): Iterable<Uint8Array> => valuePieces(json, renderer, isRendered);
  if (json.length < JOB_BYTES_MIN) return answer.inSlices(here(), work.pause);
  return inRoom(work.heapRoom, exchange, heapBytesOfBody(json, JSON_TYPE), () => {
    if (!work.jobs.hasRoom) return answer.inSlices(here(), work.pause);
    const { rendering, nowMs } = renderer;
    const input = { json, rendering, nowMs, isRendered };
    return answer.fromJob(work, { job: VALUE_JOB, input, moved: [json.buffer as ArrayBuffer], here });
  });
}

/**
 * Sends what is held parsed until it has gone out, here or in the pool's thread, when others leave room for it on the heap: forty answers
 * of one object that is mostly empty objects would fill it.
 */
async function inRoom(
  room: HeapRoom,
  { response }: Exchange,
  heapBytes: number,
  send: () => Promise<void>,
): Promise<void> {
  await room.take(heapBytes, false);
  try {
    if (!response.aborted) await send();
  } finally {
    room.giveBack(heapBytes);
  }
}
