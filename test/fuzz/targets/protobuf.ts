// Protobuf bodies: valid encodings with broken bytes, lengths, wire types and nesting. What is taken is written and read
// again as the same object.

import { decode } from '../../../api/codec/decode.ts';
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { sealEnvelope } from '../../../api/codec/envelope.ts';
import { decodeEnveloped, encodeEnveloped } from '../../../api/codec/protobuf.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import type { TypeSchema } from '../../../api/schema/schema.ts';
import type { Dice } from '../generate/dice.ts';
import { DOCUMENTS, KINDS, SCHEMA } from '../generate/documents.ts';
import { mutatedBytes } from '../generate/mutate-text.ts';
import type { Input } from '../input.ts';
import { accepted, requireSame, type Target, withoutNulls } from '../target.ts';

const WIRE_KINDS = KINDS.filter(({ jsonOnly }) => !jsonOnly);
/** Tags, lengths and numbers that readers stumble over, as Latin-1. */
const PIECES: readonly string[] = [
  ...[
    '\x00',
    '\x07',
    '\x08',
    '\x0a',
    '\x12',
    '\x1a',
    '\x0b',
    '\x0c',
    '\x0d\x00\x00\x00\x00',
    '\x09\x00\x00\x00\x00\x00\x00\xf0\x7f',
  ],
  ...[
    '\xff',
    '\xff\xff\xff\xff\x0f',
    '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01',
    '\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01',
  ],
  ...['\x0a\xff\xff\xff\x7f', '\x0a\x02\x0a\x00', '\x80\x00', '\x0a\x80\x80\x80\x80\x10', 'k8s\x00'],
];

/** Encoded bytes by the JSON text they are of: encoding costs more than breaking. */
const encodings = new Map<string, Buffer>();

function encodingOf(type: TypeSchema, dice: Dice): Buffer {
  const text = DOCUMENTS.valid(type, dice);
  const known = text === undefined ? undefined : encodings.get(text);
  if (known !== undefined) return known;
  const object = text === undefined ? DOCUMENTS.plausible(type, dice) : JSON.parse(text);
  const canonical = accepted(() => decode(object, type).object) ?? {};
  const bytes = accepted(() => encodeEnveloped(canonical, type)) ?? Buffer.alloc(0);
  if (text !== undefined) encodings.set(text, bytes);
  return bytes;
}

function generate(dice: Dice): Input {
  const type = dice.pick(WIRE_KINDS);
  const { apiVersion, kind } = {
    apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
    kind: type.kind,
  };
  if (dice.oneIn(200)) return { text: {}, body: sealEnvelope(apiVersion, kind, nestedMessage(dice)) };
  if (dice.oneIn(10)) return { text: {}, body: sealEnvelope(apiVersion, kind, dice.bytes(dice.small(80))) };
  const bytes = encodingOf(type, dice);
  return { text: {}, body: dice.oneIn(20) ? bytes : brokenBytes(bytes, dice) };
}

function brokenBytes(bytes: Buffer, dice: Dice): Buffer {
  if (dice.oneIn(2)) return mutatedBytes(bytes, dice, ['\x00', '\x0a', '\x12']);
  // Inside the message, so that the envelope stays whole.
  const at = dice.between(Math.min(40, bytes.length), bytes.length);
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(dice.pick(PIECES), 'latin1'),
    bytes.subarray(at + dice.small(3)),
  ]);
}

/** One field inside itself, as deep as its lengths allow. */
function nestedMessage(dice: Dice): Buffer {
  const tag = dice.pick([0x0a, 0x12, 0x1a, 0x22]);
  const parts: Buffer[] = [];
  let length = 0;
  for (let level = dice.below(3000); level > 0; level--) {
    const head = Buffer.from([tag, ...varint(length)]);
    parts.push(head);
    length += head.length;
  }
  return Buffer.concat(parts.reverse());
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

let typeRead: TypeSchema | undefined;

function typeOf(apiVersion: string, kind: string): TypeSchema {
  const { group, version } = splitApiVersion(apiVersion);
  typeRead = SCHEMA.kind(group, version, kind);
  if (typeRead === undefined || typeRead.jsonOnly) throw new DecodeError('no such kind');
  return typeRead;
}

function run({ body }: Input): void {
  const decoded = accepted(() => decodeEnveloped(body, typeOf));
  if (decoded === undefined) return;
  const text = JSON.stringify(decoded.object);
  const bytes = encodeEnveloped(decoded.object, typeRead!);
  const again = JSON.stringify(decodeEnveloped(bytes, typeOf).object);
  requireSame(withoutNulls(again), withoutNulls(text), 'the object encoded and decoded');
}

export const protobuf: Target = { name: 'protobuf', weight: 5, generate, run };
