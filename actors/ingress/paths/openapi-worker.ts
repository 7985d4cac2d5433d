// Builds OpenAPI documents in the pool's thread, with what is sent of them: it takes some hundred milliseconds, which
// would hold up every request of an ingress.
import { buildDocument } from '../../../api/openapi/document.ts';
import { encodeDocument } from '../../../api/openapi/gnostic.ts';
import { openApi3Documents } from '../../../api/openapi/version3.ts';
import { createRegistry, type RegistryOptions } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS, type DialectName } from '../../../config/dialect.ts';
import { type Documents, documentOf, jsonDocument } from './openapi-document.ts';

/** What tells one server's documents from another's. Plain data. */
export interface ServedApi extends Required<RegistryOptions> {
  readonly dialect: DialectName;
}

export type OpenApiVersion = 2 | 3;

export interface DocumentRequest extends ServedApi {
  readonly openapi: OpenApiVersion;
}

export function buildDocuments({ dialect, openapi, ...options }: DocumentRequest): Documents {
  const words = DIALECTS[dialect];
  const registry = createRegistry(words, options);
  const { featureGates } = options;
  const document = buildDocument(registry.all(), schemaOf(words), { isOn: (gate) => featureGates[gate] === true });
  if (openapi === 2) {
    return new Map([
      ['json', jsonDocument(document)],
      ['protobuf', documentOf(encodeDocument(document))],
    ]);
  }
  return new Map([...openApi3Documents(document)].map(([path, one]) => [path, jsonDocument(one)]));
}
