// The Protobuf envelope (SPEC.md "Protobuf envelope") around a stored object: the 4-byte prefix and one Unknown message
// whose contentType says what its raw bytes are.
import { putVarint } from '../../api/codec/wire.ts';
import { copyBytes } from '../../values/copy-bytes.ts';
import { holdsAt } from './holds-at.ts';

const PREFIX = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const TYPE_META = 0x0a;
const RAW = 0x12;
const CONTENT_TYPE = 0x22;
const JSON_TYPE = Buffer.from('application/json');
/** Of 32 bits. */
const VARINT_BYTES_MAX = 5;
const JSON_TRAILER = Buffer.concat([Buffer.from([CONTENT_TYPE, JSON_TYPE.length]), JSON_TYPE]);

/** The encoded typeMeta field by the text that opens the JSON; as many as there are kinds. */
const typeMetaFields = new Map<string, Buffer>();
const TYPE_META_FIELDS_MAX = 10_000;

/** The most bytes an envelope adds to a JSON object: the type meta is shorter than the text it is made from. */
export function envelopeBytesMax(itemOffset: number): number {
  return PREFIX.length + itemOffset + 6 + JSON_TRAILER.length;
}

/**
 * Writes the envelope of a JSON object whose kind and apiVersion are the first `itemOffset` bytes of `json`.
 * Returns where it ends in `target`.
 */
export function wrapEnvelope(target: Buffer, at: number, json: Uint8Array, itemOffset: number): number {
  let end = at;
  end += PREFIX.copy(target, end);
  end += typeMetaField(json, itemOffset).copy(target, end);
  target[end++] = RAW;
  end = putVarint(target, end, json.byteLength);
  end = copyBytes(target, end, json);
  return end + JSON_TRAILER.copy(target, end);
}

/** The raw JSON inside an envelope; undefined when it is none or holds another content type. */
export function unwrapEnvelope(envelope: Buffer): Buffer | undefined {
  if (!holdsAt(envelope, 0, PREFIX)) return undefined;
  let at = PREFIX.length;
  let raw: Buffer | undefined;
  let isJson = false;
  while (at < envelope.length) {
    const tag = envelope[at++]!;
    const start = varintEnd(envelope, at);
    const length = varintBefore(envelope, at, start);
    const end = start + length;
    if (end > envelope.length) return undefined;
    if (tag === RAW) raw = envelope.subarray(start, end);
    else if (tag === CONTENT_TYPE) isJson = length === JSON_TYPE.length && holdsAt(envelope, start, JSON_TYPE);
    else if (tag !== TYPE_META) return undefined;
    at = end;
  }
  return isJson ? raw : undefined;
}

function typeMetaField(json: Uint8Array, itemOffset: number): Buffer {
  const bytes = Buffer.from(json.buffer, json.byteOffset, itemOffset);
  const opening = bytes.toString('latin1');
  let field = typeMetaFields.get(opening);
  if (field === undefined) {
    const text = bytes.toString('utf8', 0, itemOffset - 1);
    const { apiVersion, kind } = JSON.parse(`${text}}`) as { apiVersion: string; kind: string };
    const message = Buffer.concat([stringField(0x0a, apiVersion), stringField(0x12, kind)]);
    field = Buffer.concat([Buffer.from([TYPE_META]), varint(message.length), message]);
    if (typeMetaFields.size < TYPE_META_FIELDS_MAX) typeMetaFields.set(opening, field);
  }
  return field;
}

function stringField(tag: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([tag]), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  return bytes.subarray(0, putVarint(bytes, 0, value));
}

/** Where the varint ends that begins at a place. */
function varintEnd(source: Buffer, at: number): number {
  let end = at;
  while (end < at + VARINT_BYTES_MAX && source[end]! >= 0x80) end++;
  return end + 1;
}

/** The varint between two places. */
function varintBefore(source: Buffer, at: number, end: number): number {
  let value = 0;
  for (let place = end - 1; place >= at; place--) value = value * 0x80 + ((source[place] ?? 0) & 0x7f);
  return value;
}
