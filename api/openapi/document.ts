// The OpenAPI 2.0 document of /openapi/v2: every served resource's operations and the definitions they refer to. Made
// on first request from the registry's rows and the schema; the caller keeps the bytes until the resources change.

import type { ResourceType } from '../resource-type.ts';
import type { Schema, TypeSchema } from '../schema/schema.ts';
import { rootPath } from '../verbs.ts';
import type { GroupVersionKind } from './definitions.ts';
import { Definitions } from './definitions.ts';
import { listMetaDescription, typeMetaDescription } from './descriptions/descriptions.ts';
import type { OperationContext } from './operation-context.ts';
import { capitalized, groupName, operationContext } from './operation-context.ts';
import { ResourceOperations } from './operations.ts';
import type { Extensions, ObjectMembers, SwaggerDocument, SwaggerPath, SwaggerSchema } from './swagger.ts';

type CustomSchema = (type: ResourceType, members: ObjectMembers) => SwaggerSchema | undefined;

export interface DocumentOptions {
  /** The schema of a custom kind's objects, where objects have these members; undefined for one that accepts any object. */
  readonly customSchema?: CustomSchema;
  /** Whether a feature gate is on; subresources of gates that are off are left out. */
  readonly isOn?: (gate: string) => boolean;
}

/**
 * Builds the document.
 *
 * @param types every served resource type, custom ones included.
 */
export function buildDocument(
  types: readonly ResourceType[],
  schema: Schema,
  { customSchema = () => undefined, isOn = () => false }: DocumentOptions = {},
): SwaggerDocument {
  const { dialect } = schema;
  const served = [...new Map(types.map(({ group, version }) => [`${group}/${version}`, { group, version }])).values()];
  const definitions = new Definitions(schema, (type) => kindsOf(type, served));
  const custom = customObjects(types, schema, definitions, customSchema);
  const context = operationContext({
    dialect,
    schema,
    definitions,
    objectSchema: (group, version, kind) => {
      const type = schema.kind(group, version, kind);
      return type === undefined ? (custom.get(`${group}/${version}/${kind}`) ?? {}) : definitions.refer(type);
    },
    isOn,
  });
  const paths = [
    ...types.flatMap((type) => new ResourceOperations(context, type).paths()),
    ...discoveryPaths(context, served),
    ...ISSUER_PATHS.map(([path, facts]): [string, SwaggerPath] => [path, documentPath(facts, { type: 'string' })]),
  ].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    swagger: '2.0',
    info: { title: capitalized(dialect.brand), version: dialect.gitVersion },
    paths: Object.fromEntries(paths),
    definitions: definitions.sorted(),
    securityDefinitions: {
      BearerToken: { type: 'apiKey', name: 'authorization', in: 'header', description: 'Bearer token' },
    },
    security: [{ BearerToken: [] }],
  };
}

type GroupVersion = Omit<GroupVersionKind, 'kind'>;

/** Kinds of the shared group that are written under the core group's version, and those that every group knows. */
const CORE_SHARED_KINDS = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status']);
const SHARED_KINDS = new Set(['DeleteOptions', 'WatchEvent']);

function kindsOf(
  { group, version, kind, name, hasTypeMeta }: TypeSchema,
  served: readonly GroupVersion[],
): GroupVersionKind[] {
  if (name.startsWith('meta/')) {
    if (SHARED_KINDS.has(kind)) return served.map((one) => ({ ...one, kind }));
    return CORE_SHARED_KINDS.has(kind) ? [{ group: '', version: 'v1', kind }] : [];
  }
  return hasTypeMeta ? [{ group, version, kind }] : [];
}

/**
 * `widgets` of group example.com → definitions `com.example.v1.Widget` and its list, by `<group>/<version>/<kind>`. A group may spell
 * the name of a built-in type when it is turned around, which stays that type's: clients check Pods and metadata by it.
 */
function customObjects(
  types: readonly ResourceType[],
  schema: Schema,
  definitions: Definitions,
  customSchema: CustomSchema,
): ReadonlyMap<string, SwaggerSchema> {
  const objects = new Map<string, SwaggerSchema>();
  const extension = `${schema.dialect.openapiExtensionPrefix}group-version-kind` as keyof Extensions;
  const text = (name: 'apiVersion' | 'kind'): SwaggerSchema => ({
    type: 'string',
    description: typeMetaDescription(name),
  });
  const meta = (kind: 'ObjectMeta' | 'ListMeta', description: string): SwaggerSchema => ({
    ...definitions.refer(schema.type(`meta/v1.${kind}`)),
    description,
  });
  for (const type of types) {
    const { group, version, kind, listKind } = type;
    if (schema.kind(group, version, kind) !== undefined) continue;
    const prefix = `${group.split('.').reverse().join('.')}.${version}`;
    const metadata = meta('ObjectMeta', typeMetaDescription('metadata'));
    const own = { apiVersion: text('apiVersion'), kind: text('kind'), metadata };
    const published = customSchema(type, own);
    const object = definitions.addCustom(`${prefix}.${kind}`, {
      ...(published === undefined
        ? { type: 'object' }
        : { ...published, properties: { ...published.properties, ...own } }),
      [extension]: [{ group, version, kind }],
    });
    const list = definitions.addCustom(`${prefix}.${listKind}`, {
      description: `A list of ${kind} objects.`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: text('apiVersion'),
        items: { type: 'array', items: object, description: 'The objects of the list.' },
        kind: text('kind'),
        metadata: meta('ListMeta', listMetaDescription()),
      },
      [extension]: [{ group, version, kind: listKind }],
    });
    objects.set(`${group}/${version}/${kind}`, object).set(`${group}/${version}/${listKind}`, list);
  }
  return objects;
}

const VERSIONS = 'Lists the versions that are served.';

interface DocumentFacts {
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly types: readonly string[];
  /** Nothing is said of what it takes. */
  readonly takesNothing?: boolean;
}

/** A path of a document of its own. */
function documentPath(
  { id, tag, description, types, takesNothing }: DocumentFacts,
  answer: SwaggerSchema,
): SwaggerPath {
  const responses = { 200: { description: 'OK', schema: answer }, 401: { description: 'Unauthorized' } };
  const get = {
    description,
    operationId: id,
    tags: [tag],
    schemes: ['https'],
    ...(takesNothing === true ? {} : { consumes: types }),
    produces: types,
    responses,
  };
  return { get };
}

/** The paths of what others need to verify the tokens of service accounts. */
const ISSUER_PATHS: readonly [string, DocumentFacts][] = [
  [
    '/.well-known/openid-configuration/',
    {
      id: 'getServiceAccountIssuerOpenIDConfiguration',
      tag: 'WellKnown',
      description: 'Tells who issues the tokens of service accounts.',
      types: ['application/json'],
      takesNothing: true,
    },
  ],
  [
    '/openid/v1/jwks/',
    {
      id: 'getServiceAccountIssuerOpenIDKeyset',
      tag: 'openid',
      description: 'Lists the public keys that tokens of service accounts are verified with.',
      types: ['application/jwk-set+json'],
      takesNothing: true,
    },
  ],
];

/** The paths of discovery and of the version. */
function discoveryPaths(context: OperationContext, served: readonly GroupVersion[]): [string, SwaggerPath][] {
  const { dialect, schema, definitions } = context;
  const media = ['application/json', 'application/yaml', dialect.protobufMediaType];
  const path = (
    id: string,
    tag: string,
    typeName: string,
    description: string,
    types: readonly string[] = media,
  ): SwaggerPath => documentPath({ id, tag, description, types }, definitions.refer(schema.type(typeName)));
  const lower = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);
  const groups = [...new Set(served.map(({ group }) => group))];
  return [
    [
      '/version/',
      path('getCodeVersion', 'version', 'version.Info', 'Tells what the server was built from.', ['application/json']),
    ],
    ['/apis/', path('getAPIVersions', 'apis', 'meta/v1.APIGroupList', 'Lists the groups that are served.')],
    ...groups.map((group): [string, SwaggerPath] => {
      const name = groupName(group, dialect);
      if (group === '') return ['/api/', path('getCoreAPIVersions', 'core', 'meta/v1.APIVersions', VERSIONS)];
      return [`/apis/${group}/`, path(`get${name}APIGroup`, lower(name), 'meta/v1.APIGroup', VERSIONS)];
    }),
    ...served.map(({ group, version }): [string, SwaggerPath] => {
      const name = groupName(group, dialect);
      const id = `get${name}${capitalized(version)}APIResources`;
      return [
        `${rootPath(group, version)}/`,
        path(id, `${lower(name)}_${version}`, 'meta/v1.APIResourceList', 'Lists the resources that are served.'),
      ];
    }),
  ];
}
