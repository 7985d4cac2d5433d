// Objects of built-in types to and from Protobuf, by the schema's field numbers: what clients of the binary media type
// send and get, and what the store keeps. JSON's canonical form (decode.ts) is the form in memory on both sides.
import type { TypeSchema } from '../schema/schema.ts';
import type { Decoded, JsonObject } from './decode.ts';
import { decode } from './decode.ts';
import { openEnvelope, writeEnvelope } from './envelope.ts';
import { readMessage } from './protobuf-read.ts';
import { messageWriter } from './protobuf-write.ts';
import { BackwardWriter } from './wire.ts';

const shared = new BackwardWriter();

/**
 * Encodes an object as the bare message of its type: fields in the order of their numbers, map keys sorted, fields
 * that are empty and not optional left out. Equal objects give equal bytes. `kind` and `apiVersion` are not in it.
 *
 * @param object in canonical form; members that the type does not have are left out.
 * @throws RangeError for a type that has no Protobuf form (tables).
 */
export function encodeProtobuf(object: JsonObject, type: TypeSchema): Buffer {
  return written(() => messageWriter(type)(object, shared));
}

/** Encodes an object in its envelope, ready to be sent or stored. Takes kind and apiVersion from the object. */
export function encodeEnveloped(object: JsonObject, type: TypeSchema): Buffer {
  const write = messageWriter(type);
  return written(() =>
    writeEnvelope(shared, String(object.apiVersion ?? ''), String(object.kind ?? ''), (writer) =>
      write(object, writer),
    ),
  );
}

/** Empties the shared writer whatever happens. */
function written(write: () => void): Buffer {
  try {
    write();
    return shared.take();
  } finally {
    shared.reset();
  }
}

/**
 * Decodes the bare message of a type into an object in canonical form, without kind and apiVersion.
 *
 * @throws DecodeError when the bytes are no such message.
 */
export function decodeProtobuf(bytes: Uint8Array, type: TypeSchema): Decoded {
  return decode(readMessage(bytes, type), type);
}

/**
 * Decodes an object in its envelope, with the kind and apiVersion found there.
 *
 * @param typeOf finds the schema of the kind in the envelope.
 * @throws DecodeError when the bytes are no envelope, the kind is unknown, or the message is broken.
 */
export function decodeEnveloped(bytes: Uint8Array, typeOf: (apiVersion: string, kind: string) => TypeSchema): Decoded {
  const { apiVersion, kind, raw } = openEnvelope(bytes);
  const type = typeOf(apiVersion, kind);
  return decode({ kind, apiVersion, ...readMessage(raw, type) }, type);
}
