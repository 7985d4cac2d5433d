// Builds the OpenAPI document in a pool thread: it takes some 150 ms, which would hold up every request of an ingress.
import { buildDocument } from '../../api/openapi/document.ts';
import { encodeDocument } from '../../api/openapi/gnostic.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { DIALECTS, type DialectName } from '../../config/dialect.ts';

/** What tells one server's document from another's. Plain data. */
export interface DocumentRequest {
  readonly dialect: DialectName;
  readonly runtimeConfig: readonly string[];
  /** Gates that are on. */
  readonly featureGates: Readonly<Record<string, boolean>>;
}

/** Both encodings of the document. */
export interface DocumentBytes {
  readonly json: Uint8Array;
  readonly protobuf: Uint8Array;
}

export default function documentBytes({ dialect, runtimeConfig, featureGates }: DocumentRequest): DocumentBytes {
  const words = DIALECTS[dialect];
  const registry = createRegistry(words, { runtimeConfig, featureGates });
  const document = buildDocument(registry.all(), schemaOf(words), { isOn: (gate) => featureGates[gate] === true });
  return { json: Buffer.from(`${JSON.stringify(document)}\n`), protobuf: encodeDocument(document) };
}
