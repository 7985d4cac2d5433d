// The writing half of protobuf.ts: one compiled writer a type, made when the type is first written.

import { parseDuration } from '../../values/duration.ts';
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';
import type { JsonObject } from './decode.ts';
import { parseInstant } from './timestamp.ts';
import type { BackwardWriter } from './wire.ts';
import { INT64_BOUND, tagOf, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT } from './wire.ts';

/** Writes a message's fields, without its length. */
export type MessageWriter = (object: JsonObject, writer: BackwardWriter) => void;
/** Writes one value with its tag. */
type ValueWriter = (value: unknown, writer: BackwardWriter) => void;

const writers = new WeakMap<TypeSchema, MessageWriter>();

/** @throws RangeError for a type without a Protobuf form. */
export function messageWriter(type: TypeSchema): MessageWriter {
  let writer = writers.get(type);
  if (writer === undefined) {
    if (type.jsonOnly) throw new RangeError(`${type.name} has no Protobuf form`);
    const layout = new WriteLayout(type);
    writer = (object, target) => layout.write(object, target);
    writers.set(type, writer);
  }
  return writer;
}

interface WireMember {
  /** Place in the order of numbers. */
  readonly rank: number;
  readonly name: string;
  readonly isInline: boolean;
  /** Writes the member's value; an inline one is given the object itself. */
  readonly write: ValueWriter;
}

/** Stack of the ranks of the members met so far, of every object being written. */
const ranks: number[] = [];
let ranksTop = 0;

class WriteLayout {
  readonly #members: readonly WireMember[];
  readonly #byName: ReadonlyMap<string, WireMember>;

  constructor(type: TypeSchema) {
    const fields = type.wireFields.toSorted((a, b) => a.number - b.number);
    this.#members = fields.map((field, rank) => ({
      rank,
      name: field.name,
      isInline: field.inline,
      write: fieldWriter(field),
    }));
    const byName = new Map<string, WireMember>();
    for (const [rank, field] of fields.entries()) {
      const names = field.inline ? field.type!.fields.map((lifted) => lifted.name) : [field.name];
      for (const name of names) byName.set(name, this.#members[rank]!);
    }
    this.#byName = byName;
  }

  write(object: JsonObject, writer: BackwardWriter): void {
    const base = ranksTop;
    for (const name in object) {
      const member = this.#byName.get(name);
      if (member === undefined || object[name] === undefined || object[name] === null) continue;
      insertRank(base, member.rank);
    }
    const top = ranksTop;
    try {
      for (let i = top - 1; i >= base; i--) {
        const member = this.#members[ranks[i]!]!;
        member.write(member.isInline ? object : object[member.name], writer);
      }
    } finally {
      ranksTop = base;
    }
  }
}

/** Inserts a rank into the sorted stack above base, once. */
function insertRank(base: number, rank: number): void {
  let at = ranksTop;
  while (at > base && ranks[at - 1]! > rank) at -= 1;
  if (at > base && ranks[at - 1] === rank) return;
  for (let i = ranksTop; i > at; i--) ranks[i] = ranks[i - 1]!;
  ranks[at] = rank;
  ranksTop += 1;
}

function fieldWriter(field: FieldSchema): ValueWriter {
  const write = valueWriter(field, field.number);
  if (field.cardinality === 'list') {
    return (value, writer) => {
      const list = value as readonly unknown[];
      for (let i = list.length - 1; i >= 0; i--) write(list[i], writer);
    };
  }
  if (field.cardinality === 'map') return mapWriter(field);
  if (field.optional || field.kind === 'message') return write;
  return (value, writer) => {
    if (value !== '' && value !== 0 && value !== false) write(value, writer);
  };
}

const MAP_KEY = 1;
const MAP_VALUE = 2;

function mapWriter(field: FieldSchema): ValueWriter {
  const write = valueWriter(field, MAP_VALUE);
  const keyTag = tagOf(MAP_KEY, WIRE_BYTES);
  const tag = tagOf(field.number, WIRE_BYTES);
  return (value, writer) => {
    const map = value as JsonObject;
    const keys = Object.keys(map).sort();
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i]!;
      const from = writer.size;
      write(map[key], writer);
      const keyFrom = writer.size;
      writer.text(key);
      writer.lengthSince(keyFrom, keyTag);
      writer.lengthSince(from, tag);
    }
  };
}

/** Writes `tag length body` around what `body` writes. */
function framed(number: number, body: ValueWriter): ValueWriter {
  const tag = tagOf(number, WIRE_BYTES);
  return (value, writer) => {
    const from = writer.size;
    body(value, writer);
    writer.lengthSince(from, tag);
  };
}

function valueWriter(field: FieldSchema, number: number): ValueWriter {
  switch (field.kind) {
    case 'string':
      return framed(number, (value, writer) => writer.text(value as string));
    case 'bytes':
      return framed(number, (value, writer) => {
        if (value !== null) writer.bytes(Buffer.from(value as string, 'base64'));
      });
    case 'int32':
    case 'int64':
      return varintWriter(number);
    case 'bool': {
      const tag = tagOf(number, WIRE_VARINT);
      return (value, writer) => {
        writer.byte(value === true ? 1 : 0);
        writer.varint(tag);
      };
    }
    case 'double': {
      const tag = tagOf(number, WIRE_FIXED64);
      return (value, writer) => {
        writer.double(value as number);
        writer.varint(tag);
      };
    }
    case 'message':
      return framed(number, bodyWriter(field.type!));
  }
}

function varintWriter(number: number): ValueWriter {
  const tag = tagOf(number, WIRE_VARINT);
  return (value, writer) => {
    const large = largeInteger(value);
    if (large === undefined) writer.varint(value as number);
    else writer.int64(large);
    writer.varint(tag);
  };
}

/** An integer beyond 2^53 as JSON shows it, which the double may be a neighbour of; undefined for any other value. */
function largeInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return undefined;
  return Math.abs(value as number) < INT64_BOUND ? BigInt(String(value)) : undefined;
}

const FIRST = 1;
const SECOND = 2;
const THIRD = 3;
const writeFirstText = framed(FIRST, (value, writer) => writer.text(value as string));
const writeFirstNumber = varintWriter(FIRST);
const writeSecondNumber = varintWriter(SECOND);
const writeThirdText = framed(THIRD, (value, writer) => writer.text(value as string));

const INT_TYPE = 0;
const STRING_TYPE = 1;

function writeIntOrString(value: unknown, writer: BackwardWriter): void {
  const isText = typeof value === 'string';
  writeThirdText(isText ? value : '', writer);
  writeSecondNumber(isText ? 0 : value, writer);
  writeFirstNumber(isText ? STRING_TYPE : INT_TYPE, writer);
}

/** Both parts are written even when zero: a message without them is the zero time. */
function instantWriter(unitNanos: number): ValueWriter {
  return (value, writer) => {
    if (value === null) return;
    const instant = parseInstant(value as string);
    if (instant === undefined) throw new RangeError(`not a timestamp: ${value}`);
    writeSecondNumber(instant.nanos - (instant.nanos % unitNanos), writer);
    writeFirstNumber(instant.seconds, writer);
  };
}

function writeDuration(value: unknown, writer: BackwardWriter): void {
  writer.int64(parseDuration(value as string) ?? 0n);
  writer.varint(tagOf(FIRST, WIRE_VARINT));
}

/** A raw value is the text of its JSON. */
const writeRaw: ValueWriter = (value, writer) => {
  if (value !== null) writeFirstText(JSON.stringify(value), writer);
};

const writeStringList: ValueWriter = (value, writer) => {
  const list = (value ?? []) as readonly string[];
  for (let i = list.length - 1; i >= 0; i--) writeFirstText(list[i], writer);
};

const SECOND_UNIT_NANOS = 1_000_000_000;
const MICROSECOND_NANOS = 1000;

/** Writes what is inside the message of a type. */
function bodyWriter(type: TypeSchema): ValueWriter {
  switch (type.form) {
    case 'quantity':
      return writeFirstText;
    case 'intOrString':
      return writeIntOrString;
    case 'time':
      return instantWriter(SECOND_UNIT_NANOS);
    case 'microTime':
      return instantWriter(MICROSECOND_NANOS);
    case 'duration':
      return writeDuration;
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
    case 'any':
      return writeRaw;
    case 'stringList':
      return writeStringList;
    case 'schemaOrBool':
    case 'schemaOrArray':
    case 'schemaOrStringArray':
      return alternativesWriter(type);
    case 'message': {
      let write: MessageWriter | undefined;
      return (value, writer) => {
        write ??= messageWriter(type);
        if (value !== null) write(value as JsonObject, writer);
      };
    }
  }
}

/** A schema, or else a flag, a list of schemas, or a list of names. */
function alternativesWriter(type: TypeSchema): ValueWriter {
  const schemaField = type.wireFields.find((field) => field.name === 'schema')!;
  const otherField = type.wireFields.find((field) => field.name !== 'schema')!;
  const writeSchema = valueWriter(schemaField, schemaField.number);
  const writeOther = fieldWriter(otherField);
  const isFlagged = type.form === 'schemaOrBool';
  return (value, writer) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      writeSchema(value, writer);
      if (isFlagged) writeOther(true, writer);
    } else if (value !== null) writeOther(value, writer);
  };
}
