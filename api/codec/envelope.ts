// The frame around an object in Protobuf (SPEC.md "Protobuf envelope"): a prefix of four bytes, then the message
// Unknown with apiVersion, kind and the encoded object. Knows no schema.
import { DecodeError } from './decode-error.ts';
import { BackwardWriter, putVarint, tagOf, varintBytes, WIRE_BYTES, WireReader } from './wire.ts';

const PREFIX = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

const TYPE_META = 1;
const RAW = 2;
const CONTENT_ENCODING = 3;
const CONTENT_TYPE = 4;
const API_VERSION = 1;
const KIND = 2;

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The encoded object; a view of the bytes given. */
  readonly raw: Buffer;
}

/** Whether bytes start with the envelope's prefix. */
export function hasEnvelope(bytes: Uint8Array): boolean {
  return bytes.length >= PREFIX.length && PREFIX.every((byte, i) => bytes[i] === byte);
}

/**
 * Opens an envelope. What it says of the encoding and the type of its object is passed over, as in 1.21.
 *
 * @throws DecodeError when the prefix is not there or the message is broken.
 */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!hasEnvelope(bytes)) throw new DecodeError('the body does not start with the prefix of the Protobuf encoding');
  if (bytes.length === PREFIX.length) throw new DecodeError('the body has nothing behind the prefix');
  const reader = new WireReader(bytes.subarray(PREFIX.length));
  let apiVersion = '';
  let kind = '';
  let raw: Buffer = Buffer.alloc(0);
  while (reader.at < reader.end) {
    const tag = reader.varint();
    if (tag === tagOf(TYPE_META, WIRE_BYTES)) {
      const end = reader.enter();
      while (reader.at < reader.end) {
        const inner = reader.varint();
        if (inner === tagOf(API_VERSION, WIRE_BYTES)) apiVersion = reader.text();
        else if (inner === tagOf(KIND, WIRE_BYTES)) kind = reader.text();
        else reader.skip(inner & 7);
      }
      reader.leave(end);
    } else if (tag === tagOf(RAW, WIRE_BYTES)) raw = reader.bytes();
    else reader.skip(tag & 7);
  }
  return { apiVersion, kind, raw };
}

function writeText(writer: BackwardWriter, number: number, text: string): void {
  const from = writer.size;
  writer.text(text);
  writer.lengthSince(from, tagOf(number, WIRE_BYTES));
}

/**
 * Completes an envelope in a writer.
 *
 * @param writeRaw writes the encoded object.
 */
export function writeEnvelope(
  writer: BackwardWriter,
  apiVersion: string,
  kind: string,
  writeRaw: (writer: BackwardWriter) => void,
): void {
  writeText(writer, CONTENT_TYPE, '');
  writeText(writer, CONTENT_ENCODING, '');
  const rawFrom = writer.size;
  writeRaw(writer);
  writer.lengthSince(rawFrom, tagOf(RAW, WIRE_BYTES));
  const metaFrom = writer.size;
  writeText(writer, KIND, kind);
  writeText(writer, API_VERSION, apiVersion);
  writer.lengthSince(metaFrom, tagOf(TYPE_META, WIRE_BYTES));
  writer.bytes(PREFIX);
}

const shared = new BackwardWriter();

/** Puts an encoded object into an envelope. */
export function sealEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  writeEnvelope(shared, apiVersion, kind, (writer) => writer.bytes(raw));
  return shared.take();
}

/**
 * The envelope of one kind in pieces, for whoever has the encoded object and copies it only once: the opening, the length
 * of the object as a varint, the object, the closing.
 */
export class EnvelopePieces {
  readonly opening: Buffer;
  readonly closing: Buffer;

  constructor(apiVersion: string, kind: string) {
    const whole = sealEnvelope(apiVersion, kind, NOTHING);
    const rawLengthAt = whole.length - CLOSING_BYTES - 1;
    this.opening = whole.subarray(0, rawLengthAt);
    this.closing = whole.subarray(rawLengthAt + 1);
  }

  /** Bytes of the envelope around an object of `rawBytes`. */
  bytesAround(rawBytes: number): number {
    return this.opening.length + varintBytes(rawBytes) + rawBytes + this.closing.length;
  }

  /** Puts what comes before an object of `rawBytes`; returns where the object goes. */
  open(target: Buffer, at: number, rawBytes: number): number {
    return putVarint(target, at + this.opening.copy(target, at), rawBytes);
  }

  /** Puts what comes behind the object; returns where the envelope ends. */
  close(target: Buffer, at: number): number {
    return at + this.closing.copy(target, at);
  }
}

const NOTHING = new Uint8Array();
/** Two empty texts: contentEncoding and contentType. */
const CLOSING_BYTES = 4;

/**
 * Opens a message WatchEvent, without the four bytes of length that go before it in a stream. `object` is a view of the bytes given.
 *
 * @throws DecodeError when the message is broken.
 */
export function openWatchEvent(bytes: Uint8Array): { readonly type: string; readonly object: Buffer } {
  const reader = new WireReader(bytes);
  let type = '';
  let object: Buffer = Buffer.alloc(0);
  while (reader.at < reader.end) {
    const tag = reader.varint();
    if (tag === tagOf(1, WIRE_BYTES)) type = reader.text();
    else if (tag === tagOf(2, WIRE_BYTES)) {
      const end = reader.enter();
      while (reader.at < reader.end) {
        const inner = reader.varint();
        if (inner === tagOf(1, WIRE_BYTES)) object = reader.bytes();
        else reader.skip(inner & 7);
      }
      reader.leave(end);
    } else reader.skip(tag & 7);
  }
  return { type, object };
}

/**
 * The message WatchEvent, without the four bytes of length that go before it in a stream.
 *
 * @param type such as `ADDED`.
 * @param object an envelope, or the JSON text of the object.
 */
export function encodeWatchEvent(type: string, object: Uint8Array): Buffer {
  const from = shared.size;
  shared.bytes(object);
  shared.lengthSince(from, tagOf(1, WIRE_BYTES));
  shared.lengthSince(from, tagOf(2, WIRE_BYTES));
  writeText(shared, 1, type);
  return shared.take();
}
