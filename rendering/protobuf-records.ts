// Stored records as Protobuf messages, of the version a rendering asks for: made when first asked for and kept for a
// while, so that lists, reads and watches of this thread share them. Knows how a message lies inside the envelope of one
// object; lists and streams around them are made where they are sent.
import { EnvelopePieces } from '../api/codec/envelope.ts';
import { encodeProtobuf } from '../api/codec/protobuf.ts';
import type { JsonObject } from '../api/json/json-value.ts';
import { apiVersionOf } from '../api/resources/resource-table.ts';
import { type Schema, schemaOf, type TypeSchema } from '../api/schema/schema.ts';
import type { RowType } from '../api/table/table.ts';
import type { Dialect } from '../config/dialect.ts';
import { decodeRecord } from '../storage/records/record-reading.ts';
import { recordRevision, type Slab } from '../storage/records/slab-record.ts';
import { EncodingCache, type EncodingSet, KeptEncoding } from './encoding-cache.ts';
import { protobufTypeOf } from './protobuf-value.ts';
import { Renderer } from './renderer.ts';
import type { Rendering } from './rendering.ts';

/** Bytes of encodings kept on one thread when the operator does not say. */
const KEPT_BYTES_DEFAULT = 64 * 1024 * 1024;

/** The messages of one type in one version, whole or their metadata alone. */
export class RecordMessages {
  /** Around a single object. */
  readonly envelope: EnvelopePieces;
  readonly #renderer: Renderer;
  readonly #type: TypeSchema;
  readonly #cache: EncodingCache;
  readonly #set: EncodingSet;
  readonly #isPartial: boolean;
  #encodedCount = 0;
  #encodedBytes = 0;

  constructor(rendering: Rendering, type: TypeSchema, cache: EncodingCache, set: EncodingSet) {
    const { group, version, kind } = answeredAs(rendering);
    this.envelope = new EnvelopePieces(apiVersionOf(group, version), kind);
    this.#renderer = new Renderer(rendering, 0);
    this.#type = type;
    this.#cache = cache;
    this.#set = set;
    this.#isPartial = rendering.shape !== undefined;
  }

  /** How many records were encoded for this: what long work is cut into slices by, as it is by their bytes. */
  get encodedCount(): number {
    return this.#encodedCount;
  }

  get encodedBytes(): number {
    return this.#encodedBytes;
  }

  /** The record's encoding, of which `lengthOf` says how much belongs to the message. */
  of(slab: Slab, offset: number): KeptEncoding {
    const kept = this.#set.find(slab, offset);
    if (kept !== undefined) return kept;
    const bytes = this.#encode(slab, offset, undefined);
    return this.#cache.keep(this.#set, slab, offset, bytes) ?? loose(bytes, recordRevision(slab, offset));
  }

  /** The encoding of an object that is in the version asked for already, which no record is. Nobody else keeps it. */
  ofConverted(object: JsonObject): KeptEncoding {
    return loose(this.#counted(encodeProtobuf(object, this.#type)), 0);
  }

  /** The message's bytes, with another resourceVersion than the record's where one is given. They stay as they are. */
  bytes(slab: Slab, offset: number, shownRevision?: number): Buffer {
    const encoding =
      shownRevision === undefined
        ? this.of(slab, offset)
        : loose(this.#encode(slab, offset, shownRevision), shownRevision);
    return encoding.view(this.lengthOf(encoding));
  }

  /**
   * Bytes of the message. Every stored object's first field is its metadata, and so is partial metadata's only one: the
   * beginning of the one is the other.
   */
  lengthOf(encoding: KeptEncoding): number {
    return this.#isPartial ? encoding.firstFieldBytes : encoding.length;
  }

  #encode(slab: Slab, offset: number, shownRevision: number | undefined): Buffer {
    const object = this.#renderer.converted(decodeRecord(slab, offset));
    return this.#counted(
      encodeProtobuf(shownRevision === undefined ? object : shownAs(object, shownRevision), this.#type),
    );
  }

  #counted(bytes: Buffer): Buffer {
    this.#encodedCount++;
    this.#encodedBytes += bytes.length;
    return bytes;
  }
}

/** All messages of a thread's records. */
export class ProtobufRecords {
  readonly #dialect: Dialect;
  readonly #cache: EncodingCache;
  /** `<group>/<version>/<kind>` → the encodings of that target. */
  readonly #sets = new Map<string, EncodingSet>();
  readonly #messages = new WeakMap<Rendering, RecordMessages>();

  /** `keptBytesMax`: encodings kept on this thread. */
  constructor(dialect: Dialect, keptBytesMax = KEPT_BYTES_DEFAULT) {
    this.#dialect = dialect;
    this.#cache = new EncodingCache(keptBytesMax);
  }

  /** Bytes of the encodings kept. */
  get keptBytes(): number {
    return this.#cache.bytes;
  }

  get schema(): Schema {
    return schemaOf(this.#dialect);
  }

  /**
   * The messages of a rendering. Of a type that has none there are those of metadata alone.
   *
   * @throws RangeError for other messages of such a type, and for Tables.
   */
  of(rendering: Rendering): RecordMessages {
    let messages = this.#messages.get(rendering);
    if (messages === undefined) {
      messages = this.#make(rendering);
      this.#messages.set(rendering, messages);
    }
    return messages;
  }

  #make(rendering: Rendering): RecordMessages {
    const { target, shape } = rendering;
    // Encodings of whole objects are kept for their metadata too, so it is asked for last.
    const type = protobufTypeOf(this.schema, target) ?? (shape && protobufTypeOf(this.schema, answeredAs(rendering)));
    if (type === undefined || shape?.kind === 'Table') throw new RangeError(`${target.kind} has no Protobuf form`);
    const key = `${target.group}/${target.version}/${target.kind}`;
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = this.#cache.set();
      this.#sets.set(key, set);
    }
    return new RecordMessages(rendering, type, this.#cache, set);
  }

  /** A record was moved to this place. */
  forget(slab: Slab, offset: number): void {
    this.#cache.forget(slab, offset);
  }

  /** The store was read anew. */
  clear(): void {
    this.#cache.clear();
  }
}

/** The kind that one object of a rendering says it is. */
function answeredAs({ target, shape }: Rendering): RowType {
  return shape === undefined
    ? target
    : { group: shape.metaGroup, version: shape.version, kind: 'PartialObjectMetadata' };
}

function shownAs(object: JsonObject, revision: number): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: String(revision) } };
}

/** An encoding that nothing else keeps. */
function loose(bytes: Buffer, revision: number): KeptEncoding {
  return new KeptEncoding(bytes, 0, bytes.length, revision);
}
