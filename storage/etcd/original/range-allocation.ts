// The value in which the original notes what is given out of a range: a RangeAllocation, whose data is one number, big-endian and
// without leading zeros, in which bit n stands for the n-th of the range.
import { decode } from '../../../api/codec/decode.ts';
import { hasEnvelope } from '../../../api/codec/envelope.ts';
import { decodeEnveloped, encodeEnveloped } from '../../../api/codec/protobuf.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { type Schema, schemaOf, type TypeSchema } from '../../../api/schema/schema.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { StorageMedia } from '../../forms/stored-value.ts';

const KIND = 'RangeAllocation';

export interface RangeBits {
  /** `10.96.0.0/12`, `30000-32767`; empty: of a value that is none. */
  readonly spec: string;
  readonly bits: ReadonlySet<number>;
  /** The object it is of, whose other members stay; undefined: a new one. */
  readonly whole: JsonObject | undefined;
}

const NOTHING: RangeBits = { spec: '', bits: new Set(), whole: undefined };

export class RangeAllocations {
  readonly #schema: Schema;
  readonly #type: TypeSchema;
  readonly #media: StorageMedia;

  constructor(dialect: Dialect, media: StorageMedia) {
    this.#schema = schemaOf(dialect);
    this.#type = this.#schema.kind('', 'v1', KIND)!;
    this.#media = media;
  }

  /** What is none says nothing, as one of another spec: what is given out is what services have then. */
  read(bytes: Uint8Array): RangeBits {
    try {
      return this.#read(bytes);
    } catch {
      return NOTHING;
    }
  }

  #read(bytes: Uint8Array): RangeBits {
    const typeOf = (apiVersion: string, kind: string): TypeSchema => {
      if (kind !== KIND || apiVersion !== 'v1') throw new Error(`it is a ${kind} of ${apiVersion}`);
      return this.#type;
    };
    const object = hasEnvelope(bytes)
      ? decodeEnveloped(bytes, typeOf).object
      : decode(JSON.parse(Buffer.from(bytes).toString()), typeOf('v1', KIND)).object;
    return {
      spec: String(object.range),
      bits: bitsOf(Buffer.from(String(object.data ?? ''), 'base64')),
      whole: object,
    };
  }

  write({ spec, bits, whole }: RangeBits): Uint8Array {
    const data = bytesOf(bits).toString('base64');
    const object = { metadata: {}, ...whole, kind: KIND, apiVersion: 'v1', range: spec, data };
    if (this.#media === 'json') return Buffer.from(JSON.stringify(object));
    return encodeEnveloped(decode(object, this.#type).object, this.#type);
  }
}

function bitsOf(data: Uint8Array): Set<number> {
  const bits = new Set<number>();
  for (let at = data.length - 1, first = 0; at >= 0; at--, first += 8) {
    const byte = data[at]!;
    for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) bits.add(first + bit);
  }
  return bits;
}

function bytesOf(bits: ReadonlySet<number>): Buffer {
  let highest = -1;
  for (const bit of bits) highest = Math.max(highest, bit);
  const data = Buffer.alloc(Math.floor(highest / 8) + 1);
  for (const bit of bits) data[data.length - 1 - (bit >> 3)]! |= 1 << (bit & 7);
  return data;
}
