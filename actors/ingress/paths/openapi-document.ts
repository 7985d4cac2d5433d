// An OpenAPI document as it is sent: its bytes, the same compressed, and its hash.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** From so many bytes on a document is compressed, as the original has it. */
const COMPRESSED_FROM_BYTES = 1400;

/** One document as it is sent. Plain data. */
export interface Document {
  readonly body: Uint8Array;
  /** Compressed; undefined for one that is too short for it. */
  readonly gzip: Uint8Array | undefined;
  /** Of the body, in hexadecimal. */
  readonly hash: string;
}

/** Documents by name: of version 2 `json` and `protobuf`, of version 3 the path each describes (`apis/apps/v1`). */
export type Documents = ReadonlyMap<string, Document>;

/** An object as the document that is sent. */
export function jsonDocument(object: object): Document {
  return documentOf(Buffer.from(`${JSON.stringify(object)}\n`));
}

export function documentOf(body: Uint8Array): Document {
  const gzip = body.length < COMPRESSED_FROM_BYTES ? undefined : gzipSync(body);
  return { body, gzip, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}
