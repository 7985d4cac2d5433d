// Request bodies as plain values: JSON and YAML, with limits on what a client can make of them. Protobuf bodies are
// decoded where the schema is; kinds and fields are nobody's business here.

import { isAscii, isUtf8 } from 'node:buffer';
import { parseExact } from '../api/json/exact-json.ts';
import { unknownFormat } from '../api/status/failures.ts';
import { messageOf } from '../runtime/errors.ts';
import { duplicateFields } from './duplicate-fields.ts';
import { bareMediaType } from './media-type.ts';
import { parseYaml } from './yaml/read.ts';

/** A body that cannot be used: 400 when it cannot be decoded, 415 when its media type is not one of these. */
export class BodyError extends Error {
  readonly code: 400 | 415;

  constructor(code: 400 | 415, message: string) {
    super(message);
    this.name = 'BodyError';
    this.code = code;
  }
}

/** Levels of nesting in JSON; a recursive copy of anything deeper could exhaust the stack. */
export const DEPTH_MAX = 1000;

/** Levels of nesting in YAML, which is read by recursive descent. */
const YAML_DEPTH_MAX = 300;

const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  '': decodeJson,
  'application/json': decodeJson,
  'application/yaml': decodeYaml,
};

/**
 * The value of a body by its Content-Type header; without one it is JSON. Throws a BodyError, which for another media type
 * names those that are known, here or (`elsewhere`) to the caller. The value holds no
 * property named `__proto__`, so that copying it cannot change a prototype.
 */
export function decodeBody(bytes: Uint8Array, contentType: string, elsewhere: readonly string[] = []): unknown {
  const type = Object.hasOwn(DECODERS, contentType) ? contentType : bareMediaType(contentType);
  const decode = Object.hasOwn(DECODERS, type) ? DECODERS[type] : undefined;
  if (decode === undefined) {
    const known = [...Object.keys(DECODERS).filter((name) => name !== ''), ...elsewhere];
    throw new BodyError(415, unknownFormat(known));
  }
  return decode(bytes);
}

/**
 * The value of a JSON text (RFC 8259). Escaped halves of a character become U+FFFD, as they would once the value is sent in
 * any other form. Throws a BodyError.
 */
export function decodeJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (isTooDeep(bytes)) {
    throw new BodyError(400, `the body nests deeper than ${DEPTH_MAX} levels`);
  }
  try {
    return valueOfJson(text);
  } catch (error) {
    if (error instanceof BodyError) throw error;
    throw new BodyError(400, `the body is not valid JSON: ${messageOf(error)}`);
  }
}

/**
 * The value of a JSON text that does not nest too deep, of which the same holds. Throws a SyntaxError where it is no JSON, and a BodyError
 * for a field that no object may have.
 */
export function valueOfJson(text: string): unknown {
  let value = parseExact(text);
  // Looked for by a search, which takes a tenth of what an expression does: most texts have neither.
  const isEscaped = text.includes('\\u');
  if (isEscaped && MAY_HALVE_A_CHARACTER.test(text)) value = parseExact(wellFormed(JSON.stringify(value)));
  if (text.includes('__proto__') || (isEscaped && MAY_SPELL_PROTO.test(text))) rejectProtoKeys(value);
  return value;
}

/** Whether a JSON text nests deeper than what is made of it can be copied. */
export function isTooDeep(bytes: Uint8Array): boolean {
  return mayOpen(bytes, DEPTH_MAX) && !isNestedWithin(bytes, DEPTH_MAX);
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** A body without the blanks that JSON allows at its end; a view. */
export function withoutBlanks(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && BLANKS.has(bytes[end - 1]!)) end -= 1;
  return bytes.subarray(0, end);
}

/**
 * The value of what a JSON text begins with, once `closing` ends what is open there; undefined where the two are no JSON. What it says
 * is what the whole text says of it only if no member of the value comes again in the rest.
 */
export function decodeBeginning(bytes: Uint8Array, closing: Uint8Array): unknown {
  try {
    return decodeJson(Buffer.concat([bytes, closing]));
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}

/**
 * The value of a YAML text, as a Kubernetes client's parser reads it: one document, YAML 1.1 words for true and false,
 * keys as strings. Throws a BodyError.
 */
export function decodeYaml(bytes: Uint8Array): unknown {
  // Clients that apply send JSON under the name of YAML, which it is; the JSON parser is ten times as fast.
  if (bytes[0] === 0x7b && bytes[bytes.length - 1] === 0x7d) {
    try {
      return decodeJson(bytes);
    } catch {
      // A flow mapping, or an error that the YAML reader names by its line.
    }
  }
  const text = decodeUtf8(bytes);
  try {
    return parseYaml(text, YAML_DEPTH_MAX);
  } catch (error) {
    throw new BodyError(400, `the body is not valid YAML: ${messageOf(error)}`);
  }
}

/**
 * The fields that a body, decoded before, names more than once: paths in JSON, bare names in YAML. The decoders keep the
 * last of them.
 */
export function repeatedFields(bytes: Uint8Array): readonly string[] {
  const text = decodeUtf8(bytes);
  try {
    JSON.parse(text);
  } catch {
    const repeated: string[] = [];
    parseYaml(text, YAML_DEPTH_MAX, repeated);
    return [...new Set(repeated)];
  }
  return duplicateFields(text);
}

/** An escape that could be part of the name. */
const MAY_SPELL_PROTO = /\\u00/;

/** An escape that could be one half of a surrogate pair. */
const MAY_HALVE_A_CHARACTER = /\\u[dD][89a-fA-F]/;
/** In text that JSON.stringify has made, which escapes lone surrogates and no others. */
const ESCAPES = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

function wellFormed(json: string): string {
  return json.replace(ESCAPES, (escaped) => (escaped.length > 2 ? '\ufffd' : escaped));
}

function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (!isUtf8(buffer)) throw new BodyError(400, 'the body is not valid UTF-8');
  return buffer.toString('utf8');
}

const ONE_IN_EACH = 0x01010101;
const TOP_OF_EACH = 0x80808080;
/** What tells brackets from braces. */
const CASE_OF_EACH = 0x20202020;
const BRACE_IN_EACH = 0x7b7b7b7b;

/**
 * False where a text has at most so many opening braces and brackets, each with its closing one, and nests no deeper: four bytes at
 * a time, in a fifth of the time that it takes to follow the nesting. What is no opening bracket may be counted with one beside it.
 */
function mayOpen(bytes: Uint8Array, count: number): boolean {
  if (bytes.length <= 2 * count) return false;
  const start = bytes.byteOffset + (-bytes.byteOffset & 3);
  const words = new Uint32Array(bytes.buffer, start, (bytes.byteOffset + bytes.length - start) >>> 2);
  // Those before the first word and behind the last.
  let opened = 6;
  for (let i = 0; i < words.length; i++) {
    const other = (words[i]! | CASE_OF_EACH) ^ BRACE_IN_EACH;
    const found = (other - ONE_IN_EACH) & ~other & TOP_OF_EACH;
    if (found !== 0) opened += Math.imul(found >>> 7, ONE_IN_EACH) >>> 24;
  }
  return opened > count;
}

function isNestedWithin(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > depthMax) return false;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return true;
}

function rejectProtoKeys(value: unknown): void {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) throw new BodyError(400, 'the body has a field named "__proto__"');
    // One by one: as arguments of one call, the elements of a long list would exhaust the stack.
    for (const member of Object.values(next)) waiting.push(member);
  }
}
