// One value at a time: checks a JSON value against a scalar or one of the special forms and returns it in canonical
// spelling. What a container does with it (null, zero, order) is decode.ts.

import { formatDuration, parseDuration } from '../../values/duration.ts';
import { canonicalQuantity } from '../../values/quantity.ts';
import { asDouble } from '../json/exact-json.ts';
import type { FieldKind, Form } from '../schema/schema.ts';
import { DecodeError, malformed, mismatch } from './decode-error.ts';
import { canonicalMicroTime, canonicalTime } from './timestamp.ts';
import { INT64_BOUND } from './wire.ts';

/** Returns the canonical value for one that is not null. @throws DecodeError */
export type ValueReader = (value: unknown) => unknown;

/** Containers inside one another, ours or a client's, beyond which a value is refused. */
export const DEPTH_MAX = 512;

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

function readString(value: unknown): string {
  if (typeof value !== 'string') throw mismatch(value, 'string');
  return value;
}

function readBool(value: unknown): boolean {
  if (typeof value !== 'boolean') throw mismatch(value, 'bool');
  return value;
}

function readInt32(given: unknown): number {
  const value = asDouble(given);
  if (typeof value !== 'number') throw mismatch(value, 'int32');
  if (!Number.isInteger(value) || value < INT32_MIN || value > INT32_MAX) throw malformed(String(value), 'int32');
  return value + 0;
}

/** Beyond 2^53 it is kept where a double is written with the very digits that were given, and refused rather than stored as another number. */
function readInt64(given: unknown): number {
  const value = asDouble(given);
  if (typeof value !== 'number') throw mismatch(value, 'int64');
  if (typeof given === 'bigint' && String(value) !== String(given))
    throw new DecodeError(`${given} is an integer beyond 2^53 that cannot be kept to its last digit`);
  // The digits that a double has at either bound lie beyond it.
  if (!Number.isInteger(value) || Math.abs(value) >= INT64_BOUND) throw malformed(String(value), 'int64');
  return value + 0;
}

function readDouble(given: unknown): number {
  const value = asDouble(given);
  if (typeof value !== 'number') throw mismatch(value, 'double');
  return value;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Four characters whose padding leaves bits over: the only place where one value has several spellings. */
const PADDED_END = /=$/;

/** Says nothing of the text: bytes are what secrets are made of. */
const BYTES_COMPLAINT = 'illegal base64 data';

function readBytes(value: unknown): string {
  if (typeof value !== 'string') throw mismatch(value, 'bytes');
  const text = /[\r\n]/.test(value) ? value.replaceAll(/[\r\n]/g, '') : value;
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new DecodeError(BYTES_COMPLAINT);
  if (!PADDED_END.test(text)) return text;
  const end = text.slice(-4);
  return text.slice(0, -4) + Buffer.from(end, 'base64').toString('base64');
}

function readQuantity(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
    throw mismatch(value, 'Quantity');
  const text = String(value).trim();
  const canonical = canonicalQuantity(text);
  if (canonical === undefined) throw malformed(text, 'Quantity');
  return canonical;
}

function readIntOrString(value: unknown): string | number {
  return typeof value === 'string' ? value : readInt32(value);
}

/** Null for the zero time. */
function readTime(value: unknown): string | null {
  const time = canonicalTime(readString(value));
  if (time === undefined) throw malformed(value as string, 'Time');
  return time;
}

function readMicroTime(value: unknown): string | null {
  const time = canonicalMicroTime(readString(value));
  if (time === undefined) throw malformed(value as string, 'MicroTime');
  return time;
}

function readDuration(value: unknown): string {
  const nanos = parseDuration(readString(value));
  if (nanos === undefined) throw malformed(value as string, 'Duration');
  return formatDuration(nanos);
}

function checkDepth(value: unknown, left: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (left === 0) throw new DecodeError(`nested deeper than ${DEPTH_MAX} levels`);
  if (Array.isArray(value)) for (const item of value) checkDepth(item, left - 1);
  else for (const key in value) checkDepth((value as Record<string, unknown>)[key], left - 1);
}

/** Any JSON, kept as it is. */
function readAny(value: unknown): unknown {
  checkDepth(value, DEPTH_MAX);
  return value;
}

function readObject(value: unknown): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(value, 'object');
  return readAny(value);
}

function readStringList(value: unknown): unknown {
  if (!Array.isArray(value)) throw mismatch(value, 'list of string');
  return value.map((item) => (item === null ? '' : readString(item)));
}

export const SCALAR_READERS: Readonly<Record<Exclude<FieldKind, 'message'>, ValueReader>> = {
  string: readString,
  bool: readBool,
  int32: readInt32,
  int64: readInt64,
  double: readDouble,
  bytes: readBytes,
};

/** The forms that hold no message of the schema; the others are read by decode.ts. */
export const FORM_READERS: Readonly<Partial<Record<Form, ValueReader>>> = {
  quantity: readQuantity,
  intOrString: readIntOrString,
  time: readTime,
  microTime: readMicroTime,
  duration: readDuration,
  rawExtension: readAny,
  fieldsV1: readObject,
  json: readAny,
  any: readAny,
  stringList: readStringList,
};

/** What a value that is not set stands for; `undefined` for a message, whose zero value has members of its own. */
export const SCALAR_ZEROS: Readonly<Record<Exclude<FieldKind, 'message'>, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: null,
};

export const FORM_ZEROS: Readonly<Partial<Record<Form, unknown>>> = {
  quantity: '0',
  intOrString: 0,
  time: null,
  microTime: null,
  duration: '0s',
  rawExtension: null,
  fieldsV1: null,
  json: null,
  any: null,
  stringList: null,
  schemaOrBool: false,
  schemaOrArray: null,
  schemaOrStringArray: null,
};
