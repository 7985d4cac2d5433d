// A value as the bytes of an answer, in each of the encodings that answers come in. Says nothing of what the value holds.

import type { Schema } from '../api/schema/schema.ts';
import { yamlText } from '../transport/yaml/write.ts';
import { prettyJson } from './pretty-json.ts';
import { protobufValue } from './protobuf-value.ts';
import type { Encoding } from './rendering.ts';

/** Writes a whole value. Throws RangeError where the encoding has no form for it (Protobuf for Tables). */
export type EncodeValue = (value: object) => Uint8Array | string;

const compact: EncodeValue = (value) => `${JSON.stringify(value)}\n`;
const indented: EncodeValue = (value) => prettyJson(Buffer.from(JSON.stringify(value)));

/** The writer of an encoding. `schema` is asked for when something is first written as Protobuf. */
export function valueEncoder(encoding: Encoding, pretty: boolean, schema: () => Schema): EncodeValue {
  switch (encoding) {
    case 'json':
      return pretty ? indented : compact;
    case 'yaml':
      return yamlText;
    case 'protobuf':
      return (value) => protobufValue(value, schema());
  }
}
