// The reading half of protobuf.ts: turns a message into the JSON members it stands for. The result is not canonical
// yet: decode.ts checks spellings, drops what is empty and puts members in order.
import { parseExact } from '../json/exact-json.ts';
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';
import { schemaOf } from '../schema/schema.ts';
import type { JsonObject } from './decode.ts';
import { DecodeError, indexPart } from './decode-error.ts';
import { hasEnvelope, openEnvelope } from './envelope.ts';
import type { ValueReader } from './protobuf-read-forms.ts';
import {
  FIRST,
  finite,
  instantReader,
  readDuration,
  readIntOrString,
  readParts,
  readQuantity,
  readStringList,
} from './protobuf-read-forms.ts';
import { DEPTH_MAX } from './scalar-forms.ts';
import { formatMicroTime, formatTime } from './timestamp.ts';
import { WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, WireReader } from './wire.ts';

/** Reads the message in the reader's range into the object. */
type MessageReader = (reader: WireReader, object: JsonObject) => void;

/**
 * Reads the bare message of a type.
 *
 * @throws DecodeError when the bytes are no such message, RangeError for a type without a Protobuf form.
 */
export function readMessage(bytes: Uint8Array, type: TypeSchema): JsonObject {
  depth = 0;
  const object: JsonObject = {};
  messageReader(type)(new WireReader(bytes), object);
  return object;
}

/** Messages that are open: the reader does not call itself across objects. */
let depth = 0;

const readers = new WeakMap<TypeSchema, MessageReader>();

function messageReader(type: TypeSchema): MessageReader {
  let reader = readers.get(type);
  if (reader === undefined) {
    if (type.jsonOnly) throw new RangeError(`${type.name} has no Protobuf form`);
    const layout = new ReadLayout(type);
    reader = (wire, object) => layout.read(wire, object);
    readers.set(type, reader);
  }
  return reader;
}

interface WireMember {
  readonly name: string;
  readonly wireType: number;
  /** Takes the value that follows into the object. */
  readonly read: (reader: WireReader, object: JsonObject) => void;
}

class ReadLayout {
  readonly #byNumber: readonly (WireMember | undefined)[];

  constructor(type: TypeSchema) {
    const byNumber: (WireMember | undefined)[] = [];
    for (const field of type.wireFields) byNumber[field.number] = memberOf(field);
    this.#byNumber = byNumber;
  }

  read(reader: WireReader, object: JsonObject): void {
    if (depth === DEPTH_MAX) throw new DecodeError(`nested deeper than ${DEPTH_MAX} levels`);
    depth += 1;
    while (reader.at < reader.end) {
      const tag = reader.varint();
      const wireType = tag & 7;
      const member = this.#byNumber[tag >>> 3];
      if (member === undefined) {
        if (tag < 8) throw new DecodeError('a field has the number 0');
        reader.skip(wireType);
        continue;
      }
      try {
        if (wireType === member.wireType) member.read(reader, object);
        else if (wireType === WIRE_BYTES) readPacked(reader, object, member);
        else throw new DecodeError(`has the wire type ${wireType}, not ${member.wireType}`);
      } catch (error) {
        throw error instanceof DecodeError ? error.within(member.name) : error;
      }
    }
    depth -= 1;
  }
}

/** Numbers one after the other in one field, which old Protobuf schemas may read as well. */
function readPacked(reader: WireReader, object: JsonObject, member: WireMember): void {
  const end = reader.enter();
  while (reader.at < reader.end) member.read(reader, object);
  reader.leave(end);
}

function wireTypeOf(field: FieldSchema): number {
  if (field.cardinality === 'map') return WIRE_BYTES;
  if (field.kind === 'double') return WIRE_FIXED64;
  return field.kind === 'bool' || field.kind === 'int32' || field.kind === 'int64' ? WIRE_VARINT : WIRE_BYTES;
}

function memberOf(field: FieldSchema): WireMember {
  const { name } = field;
  const wireType = wireTypeOf(field);
  if (field.inline) return { name, wireType, read: inlineReader(field.type!) };
  if (field.cardinality === 'one' && field.type?.form === 'message')
    return { name, wireType, read: partReader(name, field.type) };
  const read = valueReader(field);
  if (field.cardinality === 'list') {
    const append = (reader: WireReader, object: JsonObject) => {
      const list = object[name] as unknown[] | undefined;
      const value = read(reader);
      if (list === undefined) object[name] = [value];
      else list.push(value);
    };
    return { name, wireType, read: append };
  }
  if (field.cardinality === 'map') return { name, wireType, read: mapReader(field, read) };
  const set = (reader: WireReader, object: JsonObject) => {
    object[name] = read(reader);
  };
  return { name, wireType, read: set };
}

/** A message may come in parts, which are one together. */
function partReader(name: string, type: TypeSchema): MessageReader {
  let read: MessageReader | undefined;
  return (reader, object) => {
    read ??= messageReader(type);
    const end = reader.enter();
    object[name] ??= {};
    read(reader, object[name] as JsonObject);
    reader.leave(end);
  };
}

function inlineReader(type: TypeSchema): MessageReader {
  return (reader, object) => {
    const end = reader.enter();
    messageReader(type)(reader, object);
    reader.leave(end);
  };
}

const KEY_TAG = 0x0a;
const VALUE_NUMBER = 2;

function mapReader(field: FieldSchema, read: ValueReader): MessageReader {
  const { name } = field;
  const zero = field.kind === 'string' || field.kind === 'bytes' ? '' : null;
  return (reader, object) => {
    object[name] ??= {};
    let key = '';
    let value: unknown = zero;
    const end = reader.enter();
    while (reader.at < reader.end) {
      const tag = reader.varint();
      if (tag === KEY_TAG) key = reader.text();
      else if (tag >>> 3 === VALUE_NUMBER) value = readMapValue(read, reader, key);
      else reader.skip(tag & 7);
    }
    reader.leave(end);
    // A client chose the key: as a plain assignment `__proto__` would not become a member.
    const own = { value, enumerable: true, configurable: true, writable: true };
    if (key === '__proto__') Object.defineProperty(object[name], key, own);
    else (object[name] as JsonObject)[key] = value;
  };
}

function readMapValue(read: ValueReader, reader: WireReader, key: string): unknown {
  try {
    return read(reader);
  } catch (error) {
    throw error instanceof DecodeError ? error.within(indexPart(key)) : error;
  }
}

function valueReader(field: FieldSchema): ValueReader {
  switch (field.kind) {
    case 'string':
      return (reader) => reader.text();
    case 'bytes':
      return (reader) => reader.base64();
    case 'int32':
      return (reader) => reader.integer() | 0;
    case 'int64':
      return (reader) => reader.exactInteger();
    case 'bool':
      return (reader) => reader.varint() !== 0;
    case 'double':
      return (reader) => finite(reader.double());
    case 'message': {
      const read = bodyReader(field.type!);
      return (reader) => {
        const end = reader.enter();
        const value = read(reader);
        reader.leave(end);
        return value;
      };
    }
  }
}

/** A raw value holds JSON text, or an object in an envelope, which becomes JSON. */
function rawReader(type: TypeSchema): ValueReader {
  return (reader) => {
    let raw: Buffer | undefined;
    readParts(reader, {
      [FIRST]: () => {
        raw = reader.bytes();
      },
    });
    if (raw === undefined || raw.length === 0) return null;
    if (hasEnvelope(raw)) return readEnveloped(raw, type);
    try {
      return parseExact(raw.toString('utf8'));
    } catch {
      throw new DecodeError('holds neither JSON nor an enveloped object');
    }
  };
}

function readEnveloped(bytes: Buffer, holder: TypeSchema): JsonObject {
  const { apiVersion, kind, raw } = openEnvelope(bytes);
  const slash = apiVersion.indexOf('/');
  const group = apiVersion.slice(0, Math.max(0, slash));
  const type = schemaOf(holder.dialect).kind(group, apiVersion.slice(slash + 1), kind);
  if (type === undefined || type.jsonOnly)
    throw new DecodeError(`holds an object of the unknown kind ${kind.slice(0, 64)}`);
  const object: JsonObject = { kind, apiVersion };
  messageReader(type)(new WireReader(raw), object);
  return object;
}

/** Reads what is inside the message of a type. */
function bodyReader(type: TypeSchema): ValueReader {
  switch (type.form) {
    case 'quantity':
      return readQuantity;
    case 'intOrString':
      return readIntOrString;
    case 'time':
      return instantReader(formatTime);
    case 'microTime':
      return instantReader(formatMicroTime);
    case 'duration':
      return readDuration;
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
    case 'any':
      return rawReader(type);
    case 'stringList':
      return readStringList;
    case 'schemaOrBool':
    case 'schemaOrArray':
    case 'schemaOrStringArray':
      return alternativesReader(type);
    case 'message': {
      let read: MessageReader | undefined;
      return (reader) => {
        read ??= messageReader(type);
        const object: JsonObject = {};
        read(reader, object);
        return object;
      };
    }
  }
}

function alternativesReader(type: TypeSchema): ValueReader {
  let layout: ReadLayout | undefined;
  return (reader) => {
    layout ??= new ReadLayout(type);
    const parts: JsonObject = {};
    layout.read(reader, parts);
    if (parts.schema !== undefined) return parts.schema;
    if (type.form === 'schemaOrBool') return parts.allows === true;
    return parts.jSONSchemas ?? parts.property ?? [];
  };
}
