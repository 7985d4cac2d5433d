// The definitions of the OpenAPI document: one for each published type that an operation refers to, directly or not.
import type { FieldSchema, Schema, TypeSchema } from '../schema/schema.ts';
import { fieldDescription, typeDescription, typeMetaDescription } from './descriptions/descriptions.ts';
import type { Extensions, SwaggerSchema } from './swagger.ts';
import { reference } from './swagger.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const PATCH = 'A change of an object, in one of the forms of patches.';

const SCALARS: Readonly<Record<Exclude<FieldSchema['kind'], 'message'>, SwaggerSchema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** The name itself where it is free, or the first that is of `<name>_v2`, `<name>_v3`, …. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}_v${n}`;
  return free;
}

/** Collects definitions as types are referred to. */
export class Definitions {
  readonly #schema: Schema;
  readonly #kindsOf: (type: TypeSchema) => readonly GroupVersionKind[];
  readonly #definitions = new Map<string, SwaggerSchema>();
  /** Names of built-in definitions, once somebody has asked for them. */
  #builtIn: ReadonlySet<string> | undefined;

  /** @param kindsOf says which group, version and kind a definition is the schema of. */
  constructor(schema: Schema, kindsOf: (type: TypeSchema) => readonly GroupVersionKind[]) {
    this.#schema = schema;
    this.#kindsOf = kindsOf;
  }

  /** A schema that refers to the type, whose definition is made if there is none yet. */
  refer(type: TypeSchema): SwaggerSchema {
    if (type.form === 'stringList') return { type: 'array', items: { type: 'string' } };
    if (type.form === 'duration') return { type: 'string' };
    const name = type.openapiName;
    if (!this.#definitions.has(name)) {
      const definition: SwaggerSchema = {};
      this.#definitions.set(name, definition);
      Object.assign(definition, this.#define(type));
    }
    return reference(name);
  }

  add(name: string, definition: SwaggerSchema): SwaggerSchema {
    this.#definitions.set(name, definition);
    return reference(name);
  }

  /** Adds the definition of a custom kind, which gets another name where this one is a built-in type's. */
  addCustom(name: string, definition: SwaggerSchema): SwaggerSchema {
    return this.add(
      freeName(name, (one) => this.#definitions.has(one) || this.#isBuiltIn(one)),
      definition,
    );
  }

  /** What a patch is. */
  patch(): SwaggerSchema {
    return this.add(this.#patchName(), { description: PATCH, type: 'object' });
  }

  /** All definitions, by name in order. */
  sorted(): Record<string, SwaggerSchema> {
    return Object.fromEntries([...this.#definitions].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #patchName(): string {
    return `${this.#schema.dialect.openapiNamePrefix}apimachinery.pkg.apis.meta.v1.Patch`;
  }

  /** Whether a built-in type has the name, be it that nothing has referred to it yet. */
  #isBuiltIn(name: string): boolean {
    const { dialect, typeNames } = this.#schema;
    if (!name.startsWith(dialect.openapiNamePrefix)) return false;
    this.#builtIn ??= new Set([this.#patchName(), ...typeNames.map((one) => this.#schema.type(one).openapiName)]);
    return this.#builtIn.has(name);
  }

  #define(type: TypeSchema): SwaggerSchema {
    const description = typeDescription(type);
    const definition = this.#described(type);
    return description === undefined ? definition : { description, ...definition };
  }

  #described(type: TypeSchema): SwaggerSchema {
    const extensions = this.#typeExtensions(type);
    if (type.openapiType !== undefined) {
      const { type: json, format } = type.openapiType;
      return { type: json, ...(format === undefined ? {} : { format }), ...extensions };
    }
    if (type.form !== 'message') return { ...extensions };
    const properties: [string, SwaggerSchema][] = type.fields.map((field) => [field.name, this.#property(type, field)]);
    if (type.hasTypeMeta) {
      for (const name of ['apiVersion', 'kind'] as const) {
        properties.push([name, { ...SCALARS.string, description: typeMetaDescription(name) }]);
      }
    }
    properties.sort(([a], [b]) => (a < b ? -1 : 1));
    const required = type.fields.filter((field) => field.required).map((field) => field.name);
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...extensions,
    };
  }

  #extension(name: string): keyof Extensions {
    return `${this.#schema.dialect.openapiExtensionPrefix}${name}` as keyof Extensions;
  }

  #typeExtensions(type: TypeSchema): Extensions {
    const extensions: Extensions = {};
    const kinds = this.#kindsOf(type);
    if (kinds.length > 0) extensions[this.#extension('group-version-kind')] = kinds;
    if (type.mapType !== undefined) extensions[this.#extension('map-type')] = type.mapType;
    if (type.unions.length > 0) {
      extensions[this.#extension('unions')] = type.unions.map(({ discriminator, members }) => ({
        discriminator,
        'fields-to-discriminateBy': Object.fromEntries(members.map(({ field, value }) => [field, value])),
      }));
    }
    return extensions;
  }

  #property(type: TypeSchema, field: FieldSchema): SwaggerSchema {
    const value = field.kind === 'message' ? this.refer(field.type!) : { ...SCALARS[field.kind] };
    const property: SwaggerSchema =
      field.cardinality === 'list'
        ? { type: 'array', items: value }
        : field.cardinality === 'map'
          ? { type: 'object', additionalProperties: value }
          : value;
    const known = field.enumeration === undefined ? [] : this.#schema.enumeration(field.enumeration);
    const description = fieldDescription(type, field, known);
    if (description !== undefined) property.description = description;
    if (field.publishedDefault !== undefined) property.default = field.publishedDefault;
    const extensions: readonly (readonly [string, unknown])[] = [
      ['list-map-keys', field.listMapKeys],
      ['list-type', field.listType],
      ['patch-merge-key', field.patchMergeKey],
      ['patch-strategy', field.patchStrategy],
    ];
    for (const [name, extension] of extensions) {
      if (extension !== undefined) property[this.#extension(name)] = extension;
    }
    return property;
  }
}
