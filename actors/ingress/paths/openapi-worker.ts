// Builds OpenAPI documents in a pool thread: it takes some 150 ms, which would hold up every request of an ingress.
import { buildDocument } from '../../../api/openapi/document.ts';
import { encodeDocument } from '../../../api/openapi/gnostic.ts';
import { openApi3Documents } from '../../../api/openapi/version3.ts';
import { createRegistry, type RegistryOptions } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS, type DialectName } from '../../../config/dialect.ts';

/** What tells one server's documents from another's. Plain data. */
export interface ServedApi extends Required<RegistryOptions> {
  readonly dialect: DialectName;
}

export type OpenApiVersion = 2 | 3;

export interface DocumentRequest extends ServedApi {
  readonly openapi: OpenApiVersion;
}

/** Documents by name: of version 2 `json` and `protobuf`, of version 3 the path each describes (`apis/apps/v1`). */
export type DocumentBytes = ReadonlyMap<string, Uint8Array>;

export function documentBytes({ dialect, openapi, ...options }: DocumentRequest): DocumentBytes {
  const words = DIALECTS[dialect];
  const registry = createRegistry(words, options);
  const { featureGates } = options;
  const document = buildDocument(registry.all(), schemaOf(words), { isOn: (gate) => featureGates[gate] === true });
  if (openapi === 2) {
    return new Map([
      ['json', jsonBytes(document)],
      ['protobuf', encodeDocument(document)],
    ]);
  }
  return new Map([...openApi3Documents(document)].map(([path, one]) => [path, jsonBytes(one)]));
}

function jsonBytes(document: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(document)}\n`);
}
