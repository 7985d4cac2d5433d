// The parameters of operations: those of the query stand for the members of an options type, so they are taken from
// its schema.
import type { Schema, TypeSchema } from '../schema/schema.ts';
import { fieldDescription } from './descriptions/descriptions.ts';
import type { SwaggerParameter, SwaggerSchema } from './swagger.ts';

const QUERY_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  double: 'number',
};

function query(name: string, type: string, description?: string): SwaggerParameter {
  return {
    uniqueItems: true,
    type,
    ...(description === undefined ? {} : { description }),
    name,
    in: 'query',
  };
}

/** One query parameter for each plain member of an options type, by name in order. */
export function queryOf(options: TypeSchema, except: readonly string[] = []): SwaggerParameter[] {
  return options.fields
    .filter((field) => QUERY_TYPES[field.kind] !== undefined && !except.includes(field.name))
    .map((field) => query(field.name, QUERY_TYPES[field.kind]!, fieldDescription(options, field, [])))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function inPath(name: string, description: string): SwaggerParameter {
  return { uniqueItems: true, type: 'string', description, name, in: 'path', required: true };
}

export function body(schema: SwaggerSchema, required = true): SwaggerParameter {
  return required ? { name: 'body', in: 'body', required, schema } : { name: 'body', in: 'body', schema };
}

/** The query parameters of each verb. */
export interface VerbParameters {
  readonly list: readonly SwaggerParameter[];
  readonly deleteCollection: readonly SwaggerParameter[];
  readonly create: readonly SwaggerParameter[];
  readonly update: readonly SwaggerParameter[];
  readonly patch: readonly SwaggerParameter[];
  readonly delete: readonly SwaggerParameter[];
}

export function verbParameters(schema: Schema): VerbParameters {
  const options = (kind: string) => schema.type(`meta/v1.${kind}`);
  const list = queryOf(options('ListOptions'));
  const remove = queryOf(options('DeleteOptions'));
  const listed = queryOf(options('ListOptions'), ['watch', 'allowWatchBookmarks']);
  return {
    list,
    deleteCollection: [...listed, ...remove].sort((a, b) => (a.name < b.name ? -1 : 1)),
    create: withFieldValidation(queryOf(options('CreateOptions'))),
    update: withFieldValidation(queryOf(options('UpdateOptions'))),
    patch: withFieldValidation(queryOf(options('PatchOptions'))),
    delete: remove,
  };
}

const FIELD_VALIDATION = 'What becomes of unknown and repeated fields: "Ignore", "Warn" or "Strict".';

/** Newer than the options' schema: by it clients find that the server checks fields, and leave it to the server. */
function withFieldValidation(parameters: readonly SwaggerParameter[]): SwaggerParameter[] {
  return [...parameters, query('fieldValidation', 'string', FIELD_VALIDATION)].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

export const PRETTY = query('pretty', 'string', 'True for an answer that is indented for people.');
