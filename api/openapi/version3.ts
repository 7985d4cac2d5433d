// The OpenAPI 3.0 documents of /openapi/v3: one for each group and version and for each path of discovery, rewritten from
// the 2.0 document so that both always say the same. Pure; hashes, bytes and caching are the caller's.
import type {
  Extensions,
  Method,
  SwaggerDocument,
  SwaggerOperation,
  SwaggerParameter,
  SwaggerSchema,
} from './swagger.ts';

/** A schema of 3.0 that this server publishes; as in 2.0, but for where references point and what may stand beside them. */
type Schema3 = Omit<SwaggerSchema, 'items' | 'properties' | 'additionalProperties' | 'allOf'> & {
  items?: Schema3;
  properties?: Record<string, Schema3>;
  additionalProperties?: Schema3 | boolean;
  allOf?: readonly Schema3[];
};

interface Parameter3 extends Extensions {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: object;
}

type Content = Readonly<Record<string, { readonly schema: Schema3 }>>;

interface Operation3 extends Extensions {
  description: string;
  tags?: readonly string[];
  operationId: string;
  parameters?: readonly Parameter3[];
  requestBody?: { readonly content: Content; readonly required?: boolean };
  responses: Record<string, { readonly description: string; readonly content?: Content }>;
}

type Path3 = { parameters?: readonly Parameter3[] } & { [method in Method]?: Operation3 };

/** One document. */
export interface OpenApi3Document {
  readonly openapi: '3.0.0';
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Path3>>;
  readonly components: {
    readonly schemas?: Readonly<Record<string, Schema3>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
  readonly security: readonly object[];
}

const DEFINITION_PREFIX = '#/definitions/';
const SCHEMA_PREFIX = '#/components/schemas/';
/** What an operation of an extension server takes and answers that does not say it. */
const JSON_ALONE: readonly string[] = ['application/json'];
const METHODS: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** The documents by the path they describe, without slashes around: `api/v1`, `apis/apps/v1`, `apis/apps`, `version`. */
export function openApi3Documents(document: SwaggerDocument): ReadonlyMap<string, OpenApi3Document> {
  const pathsByRoot = new Map<string, Record<string, Path3>>();
  const used = new Map<string, Set<string>>();
  for (const [path, { parameters, ...methods }] of Object.entries(document.paths)) {
    const root = rootOf(path);
    const paths = pathsByRoot.get(root) ?? {};
    const names = used.get(root) ?? new Set<string>();
    paths[path] = rewritten(parameters, methods, names);
    pathsByRoot.set(root, paths);
    used.set(root, names);
  }
  const documents = new Map<string, OpenApi3Document>();
  for (const [root, paths] of pathsByRoot) {
    const schemas = reachable(document.definitions, used.get(root)!);
    documents.set(root, {
      openapi: '3.0.0',
      info: document.info,
      paths,
      components: {
        ...(Object.keys(schemas).length === 0 ? {} : { schemas }),
        securitySchemes: document.securityDefinitions,
      },
      security: document.security,
    });
  }
  return documents;
}

/** `/apis/apps/v1/namespaces/…` → `apis/apps/v1`; `/api/v1/…` → `api/v1`; others are documents of their own (`openid/v1/jwks`). */
function rootOf(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  const depth = segments[0] === 'apis' || segments[0] === 'openid' ? 3 : 2;
  return segments.slice(0, depth).join('/');
}

function rewritten(
  parameters: readonly SwaggerParameter[] | undefined,
  methods: { readonly [method in Method]?: SwaggerOperation },
  used: Set<string>,
): Path3 {
  const path: Path3 = {};
  if (parameters !== undefined && parameters.length > 0) path.parameters = parameters.map(parameter3);
  for (const method of METHODS) {
    const operation = methods[method];
    if (operation !== undefined) path[method] = operation3(operation, used);
  }
  return path;
}

function operation3(operation: SwaggerOperation, used: Set<string>): Operation3 {
  const {
    consumes = JSON_ALONE,
    produces = JSON_ALONE,
    parameters = [],
    responses = {},
    schemes: _,
    tags,
    operationId,
    description,
    ...extensions
  } = operation;
  const content = (types: readonly string[], schema: SwaggerSchema): Content => {
    const translated = schema3(schema, used);
    return Object.fromEntries(types.map((type) => [type, { schema: translated }]));
  };
  const body = parameters.find((parameter) => parameter.in === 'body');
  const others = parameters.filter((parameter) => parameter !== body);
  const answers = Object.entries(responses).map(([code, { description, schema }]) => [
    code,
    schema === undefined ? { description } : { description, content: content(produces, schema) },
  ]);
  return {
    ...extensions,
    description,
    ...(tags === undefined ? {} : { tags }),
    operationId,
    ...(others.length === 0 ? {} : { parameters: others.map(parameter3) }),
    ...(body?.schema === undefined
      ? {}
      : {
          requestBody: {
            content: content(consumes, body.schema),
            ...(body.required === true ? { required: true } : {}),
          },
        }),
    responses: Object.fromEntries(answers),
  };
}

function parameter3({ name, in: place, description, required, ...schema }: SwaggerParameter): Parameter3 {
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(required === true ? { required } : {}),
    schema,
  };
}

/** A schema with its references turned; notes what it refers to. What stands beside a reference is lost on readers of 3.0. */
function schema3(schema: SwaggerSchema, used: Set<string>): Schema3 {
  const { $ref, items, properties, additionalProperties, allOf, ...rest } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice(DEFINITION_PREFIX.length);
    used.add(name);
    const reference = { $ref: `${SCHEMA_PREFIX}${name}` };
    return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
  }
  return {
    ...rest,
    ...(allOf === undefined ? {} : { allOf: allOf.map((part) => schema3(part, used)) }),
    ...(items === undefined ? {} : { items: schema3(items, used) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, schema3(property, used)]),
          ),
        }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'boolean' ? additionalProperties : schema3(additionalProperties, used),
        }),
  };
}

/** The named definitions and all they refer to, by name in order. */
function reachable(definitions: SwaggerDocument['definitions'], names: Set<string>): Record<string, Schema3> {
  const schemas = new Map<string, Schema3>();
  // A set is walked in the order things are added to it, those added meanwhile included.
  for (const name of names) {
    const definition = definitions[name];
    if (definition !== undefined) schemas.set(name, schema3(definition, names));
  }
  return Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
}
