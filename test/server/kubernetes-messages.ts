// Protobuf by an independent route: protobufjs over messages written by hand (test/fixtures/kubernetes.proto), and the few
// forms in which JSON and messages differ. Nothing of ours is used.
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';

const root = protobuf.parse(readFileSync('test/fixtures/kubernetes.proto', 'utf8'), { keepCase: true }).root;
root.resolveAll();

type Json = Record<string, unknown>;

/** Messages whose members stand in their parent's JSON. */
const INLINE: ReadonlySet<string> = new Set(['volumeSource', 'localObjectReference', 'handler']);
const PREFIX = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const NANOS_PER_MS = 1_000_000;

/** The message of a JSON object, as bytes. */
export function toWire(typeName: string, json: object): Buffer {
  const type = root.lookupType(`kubernetes.${typeName}`);
  return Buffer.from(type.encode(toMessage(type, json as Json)).finish());
}

/** The JSON object of a message. Fields that the hand-written messages lack are not seen. */
export function fromWire(typeName: string, bytes: Uint8Array): Json {
  const type = root.lookupType(`kubernetes.${typeName}`);
  return fromMessage(type, type.decode(bytes) as unknown as Json) as Json;
}

export interface Opened {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer;
}

/** Opens the envelope of a Protobuf answer. */
export function openWire(bytes: Uint8Array): Opened {
  const buffer = Buffer.from(bytes);
  if (!buffer.subarray(0, 4).equals(PREFIX)) throw new Error(`no prefix: ${buffer.toString('latin1', 0, 200)}`);
  const type = root.lookupType('kubernetes.Unknown');
  const { typeMeta, raw } = type.decode(buffer.subarray(4)) as unknown as {
    typeMeta: { apiVersion: string; kind: string };
    raw: Uint8Array;
  };
  return { apiVersion: typeMeta.apiVersion, kind: typeMeta.kind, raw: Buffer.from(raw) };
}

/** The object in an envelope, with its kind and apiVersion. */
export function readWire(bytes: Uint8Array, typeName?: string): Json {
  const { apiVersion, kind, raw } = openWire(bytes);
  return { kind, apiVersion, ...fromWire(typeName ?? kind, raw) };
}

/** An object in its envelope, as clients send it. */
export function sealWire(apiVersion: string, kind: string, json: object): Buffer {
  const type = root.lookupType('kubernetes.Unknown');
  const unknown = { typeMeta: { apiVersion, kind }, raw: toWire(kind, json) };
  return Buffer.concat([PREFIX, Buffer.from(type.encode(unknown).finish())]);
}

/** The whole watch events at the beginning of a stream, each behind four bytes of length, and what is left. */
export function readEvents(stream: Buffer): { readonly events: readonly Json[]; readonly rest: Buffer } {
  const events: Json[] = [];
  let at = 0;
  while (stream.length - at >= 4 && stream.length - at - 4 >= stream.readUInt32BE(at)) {
    const length = stream.readUInt32BE(at);
    events.push(readEvent(stream.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return { events, rest: stream.subarray(at) };
}

/** One watch event, without its length. */
export function readEvent(bytes: Uint8Array): Json {
  const event = root.lookupType('kubernetes.WatchEvent').decode(bytes) as unknown as {
    type: string;
    object: { raw: Uint8Array };
  };
  return { type: event.type, object: readWire(event.object.raw) };
}

function toMessage(type: protobuf.Type, value: unknown): Json {
  const special = TO_MESSAGE[type.name];
  if (special !== undefined) return special(value, type);
  const message: Json = {};
  const json = value as Json;
  for (const field of type.fieldsArray) {
    const inner = field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
    if (INLINE.has(field.name) && inner !== undefined) {
      const lifted = toMessage(inner, json);
      if (Object.keys(lifted).length > 0) message[field.name] = lifted;
      continue;
    }
    const given = json[field.name];
    if (given === undefined || given === null) continue;
    const one = (item: unknown): unknown => (inner === undefined ? scalar(field, item) : toMessage(inner, item));
    if (field.map) {
      const entries = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1));
      message[field.name] = Object.fromEntries(entries.map(([key, item]) => [key, one(item)]));
    } else message[field.name] = field.repeated ? (given as unknown[]).map(one) : one(given);
  }
  return message;
}

function scalar(field: protobuf.Field, value: unknown): unknown {
  return field.type === 'bytes' ? Buffer.from(value as string, 'base64') : value;
}

const TO_MESSAGE: Readonly<Record<string, (value: unknown, type: protobuf.Type) => Json>> = {
  Time: (value) => instant(value as string),
  MicroTime: (value) => instant(value as string),
  Quantity: (value) => ({ string: value }),
  IntOrString: (value) =>
    typeof value === 'string' ? { type: 1, intVal: 0, strVal: value } : { type: 0, intVal: value, strVal: '' },
  FieldsV1: (value) => ({ Raw: Buffer.from(JSON.stringify(value)) }),
  JSON: (value) => ({ raw: Buffer.from(JSON.stringify(value)) }),
  Verbs: (value) => ({ items: value }),
  JSONSchemaPropsOrArray: (value, type) => ({ schema: toMessage(schemaProps(type), value) }),
  JSONSchemaPropsOrBool: (value, type) =>
    typeof value === 'boolean' ? { allows: value } : { allows: true, schema: toMessage(schemaProps(type), value) },
};

function schemaProps(type: protobuf.Type): protobuf.Type {
  return type.lookupType('JSONSchemaProps');
}

function instant(text: string): Json {
  const wholeSecond = Date.parse(`${text.slice(0, 19)}Z`) / 1000;
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? '';
  return { seconds: wholeSecond, nanos: Number(fraction.padEnd(9, '0')) };
}

function fromMessage(type: protobuf.Type, message: Json): unknown {
  const special = FROM_MESSAGE[type.name];
  if (special !== undefined) return special(message);
  const json: Json = {};
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const inner = field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
    const value = message[field.name];
    // The reader makes empty ones of those that are not there.
    if ((field.map || field.repeated) && Object.keys(value as object).length === 0) continue;
    const one = (item: unknown): unknown => (inner === undefined ? plain(item) : fromMessage(inner, item as Json));
    if (INLINE.has(field.name)) Object.assign(json, one(value));
    else if (field.map) {
      json[field.name] = Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, one(item)]));
    } else json[field.name] = field.repeated ? (value as unknown[]).map(one) : one(value);
  }
  return json;
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  // 64-bit integers may come as objects of a library that is not always there.
  return typeof value === 'object' ? Number(value) : value;
}

const FROM_MESSAGE: Readonly<Record<string, (message: Json) => unknown>> = {
  Time: ({ seconds, nanos }) => time(seconds, nanos).replace(/\.\d+Z$/, 'Z'),
  MicroTime: ({ seconds, nanos }) => time(seconds, nanos),
  Quantity: (message) => message.string,
  IntOrString: (message) => (Number(message.type) === 1 ? message.strVal : message.intVal),
  FieldsV1: (message) => JSON.parse(Buffer.from(message.Raw as Uint8Array).toString()) as unknown,
  JSON: (message) => JSON.parse(Buffer.from(message.raw as Uint8Array).toString()) as unknown,
  Verbs: (message) => message.items,
};

function time(seconds: unknown, nanos: unknown): string {
  return new Date(Number(seconds) * 1000 + Number(nanos) / NANOS_PER_MS).toISOString();
}
