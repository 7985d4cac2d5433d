// The parts of a Swagger 2.0 document that this server publishes, as types.

/** A JSON value of the document, extensions (`x-…`) included. */
export type Extensions = { [name: `x-${string}`]: unknown };

/** What every object has beside its own members. */
export type ObjectMembers = Readonly<Record<'apiVersion' | 'kind' | 'metadata', SwaggerSchema>>;

export interface SwaggerSchema extends Extensions {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  items?: SwaggerSchema;
  properties?: Record<string, SwaggerSchema>;
  additionalProperties?: SwaggerSchema | boolean;
  required?: readonly string[];
  allOf?: readonly SwaggerSchema[];
}

export interface SwaggerParameter extends Extensions {
  name: string;
  in: 'body' | 'path' | 'query';
  description?: string;
  required?: boolean;
  type?: string;
  uniqueItems?: boolean;
  schema?: SwaggerSchema;
}

export interface SwaggerResponse {
  description: string;
  schema?: SwaggerSchema;
}

export interface SwaggerOperation extends Extensions {
  description: string;
  operationId: string;
  tags?: readonly string[];
  schemes: readonly string[];
  consumes?: readonly string[];
  produces: readonly string[];
  parameters?: readonly SwaggerParameter[];
  responses: Record<string, SwaggerResponse>;
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export type SwaggerPath = { parameters?: readonly SwaggerParameter[] } & { [method in Method]?: SwaggerOperation };

export interface SwaggerDocument {
  swagger: '2.0';
  info: { title: string; version: string };
  paths: Record<string, SwaggerPath>;
  definitions: Record<string, SwaggerSchema>;
  securityDefinitions: Record<string, { type: string; name: string; in: string; description: string }>;
  security: readonly Record<string, readonly string[]>[];
}

/** The reference to a definition. */
export const reference = (definition: string): SwaggerSchema => ({ $ref: `#/definitions/${definition}` });
