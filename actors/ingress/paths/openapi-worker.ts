// Builds OpenAPI documents in the pool's thread, with what is sent of them: it takes some hundred milliseconds, which
// would hold up every request of an ingress.

import { knownTypesOf } from '../../../api/catalog/known-types.ts';
import type { CustomType } from '../../../api/custom/definitions/custom-type.ts';
import type { Definition } from '../../../api/custom/definitions/definition.ts';
import { publishedSchema } from '../../../api/custom/definitions/published-schema.ts';
import { buildDocument } from '../../../api/openapi/document.ts';
import { encodeDocument } from '../../../api/openapi/gnostic.ts';
import { type RemoteDocument, withRemoteDocuments } from '../../../api/openapi/merge.ts';
import { openApi3Documents } from '../../../api/openapi/version3.ts';
import type { ResourceType } from '../../../api/resource-type.ts';
import { withCustomTypes } from '../../../api/resources/custom-registry.ts';
import { createRegistry, type RegistryOptions } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS, type DialectName } from '../../../config/dialect.ts';
import { type Documents, documentOf, jsonDocument } from './openapi-document.ts';

/** What tells one server's documents from another's. Plain data. */
export interface ServedApi extends Required<RegistryOptions> {
  readonly dialect: DialectName;
}

/** What of a server's documents may change while it runs. Plain data. */
export interface PresentApi {
  /** Tells it from what was before. */
  readonly edition: number;
  /** Of the custom types. */
  readonly definitions: readonly Definition[];
}

export type OpenApiVersion = 2 | 3;

export interface DocumentRequest extends ServedApi, PresentApi {
  readonly openapi: OpenApiVersion;
  /** Of extension servers. */
  readonly remotes: readonly RemoteDocument[];
}

/** A job: the documents of a version of OpenAPI. */
export function buildDocuments(request: DocumentRequest): Documents {
  const { dialect, openapi, edition, definitions, remotes, ...options } = request;
  const words = DIALECTS[dialect];
  const schema = schemaOf(words);
  const schemaWords = { prefix: words.openapiExtensionPrefix, metadata: schema.type('meta/v1.ObjectMeta') };
  const custom = definitions.flatMap((definition) => knownTypesOf(definition, schemaWords));
  const registry = withCustomTypes(createRegistry(words, options), custom, edition);
  const { featureGates } = options;
  const own = buildDocument(registry.all(), schema, {
    isOn: (gate) => featureGates[gate] === true,
    customSchema: ({ custom: kind }: ResourceType & { readonly custom?: CustomType | undefined }, embedded) =>
      kind && publishedSchema(kind, { prefix: words.openapiExtensionPrefix, openapi, embedded }),
  });
  const document = withRemoteDocuments(own, remotes, (part) => {
    encodeDocument(part);
    openApi3Documents(part);
  });
  if (openapi === 2) {
    return new Map([
      ['json', jsonDocument(document)],
      ['protobuf', documentOf(encodeDocument(document))],
    ]);
  }
  return new Map([...openApi3Documents(document)].map(([path, one]) => [path, jsonDocument(one)]));
}
