// The definitions of custom types that test/fixtures/definitions tell: a hundred kinds of projects that clusters run, in the shapes that
// those publish.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Dialect } from '../../config/dialect.ts';
import { type Schema, type Shape, type ShapeWords, sampleOf, schemaOf } from './shape.ts';

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/definitions', import.meta.url));

interface KindTold {
  readonly scope?: 'Cluster' | 'Namespaced';
  readonly short?: readonly string[];
  readonly columns?: Readonly<Record<string, string>>;
  readonly scale?: boolean;
  readonly spec?: Shape;
  readonly status?: Shape;
  /** Members of the object itself. */
  readonly top?: { readonly [member: string]: Shape };
}

interface FamilyTold {
  readonly group: string;
  readonly version: string;
  /** Where a group that only the project may have was talked about. */
  readonly approved?: string;
  readonly kinds: Readonly<Record<string, KindTold>>;
}

/** A kind of a project. */
export interface ProjectKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** Of the members of its objects besides kind, version, metadata and status. */
  readonly shape: { readonly [member: string]: Shape };
  readonly told: KindTold;
  readonly approved: string | undefined;
}

/** All kinds, by file, group and name. */
export function projectKinds(): ProjectKind[] {
  const families = readdirSync(FIXTURES)
    .sort()
    .flatMap((name) => parse(readFileSync(join(FIXTURES, name), 'utf8'), { maxAliasCount: -1 }) as FamilyTold[]);
  return families.flatMap(({ group, version, approved, kinds }) =>
    Object.entries(kinds).map(([kind, told]) => ({
      group,
      version,
      kind,
      plural: pluralOf(kind.toLowerCase()),
      isNamespaced: told.scope !== 'Cluster',
      shape: { ...told.top, ...(told.spec === undefined ? {} : { spec: told.spec }) },
      told,
      approved,
    })),
  );
}

function pluralOf(singular: string): string {
  if (/[^aeiou]y$/.test(singular)) return singular.replace(/y$/, 'ies');
  return /(?:s|x|ch)$/.test(singular) ? `${singular}es` : `${singular}s`;
}

/** The definition of a kind. */
export function definitionOf(one: ProjectKind, dialect: Dialect, words: ShapeWords) {
  const { group, version, kind, plural, isNamespaced, shape, told, approved } = one;
  const { status, scale, columns = {}, short } = told;
  const whole = { ...shape, ...(status === undefined ? {} : { status }) };
  const schema = schemaOf(whole, words);
  const meta = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } };
  return {
    apiVersion: dialect.spell('apiextensions.@group/v1'),
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: approved === undefined ? {} : { [dialect.spell('api-approved.@label')]: approved },
    },
    spec: {
      group,
      scope: isNamespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List`, shortNames: short ?? [] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { ...schema, properties: { ...meta, ...(schema.properties as object) } } },
          subresources: {
            ...(status === undefined ? {} : { status: {} }),
            ...(scale === true
              ? { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }
              : {}),
          },
          additionalPrinterColumns: Object.entries(columns).map(([name, jsonPath]) => ({
            name,
            jsonPath,
            type: 'string',
          })),
        },
      ],
    },
  };
}

/** An object of a kind that has every member. */
export function objectOf({ group, version, kind, shape }: ProjectKind, name: string) {
  return { apiVersion: `${group}/${version}`, kind, metadata: { name }, ...(sampleOf(shape) as object) };
}

/** Where its objects are, in the namespace `default` if they are in one. */
export function pathOf({ group, version, plural, isNamespaced }: ProjectKind): string {
  return `/apis/${group}/${version}/${isNamespaced ? 'namespaces/default/' : ''}${plural}`;
}

/** The built-in types of an OpenAPI document, as definitions that embed them publish them: whole, and structural. */
export function shapeWords(
  openApi: { readonly definitions: Readonly<Record<string, Schema>> },
  dialect: Dialect,
): ShapeWords {
  const { definitions } = openApi;
  const prefix = dialect.openapiExtensionPrefix;
  const names = Object.keys(definitions);
  const made = new Map<string, Schema>();
  const byName = (name: string): Schema => {
    const earlier = made.get(name);
    if (earlier !== undefined) return earlier;
    const schema = special(name) ?? structural(definitions[name]!);
    made.set(name, schema);
    return schema;
  };
  const special = (name: string): Schema | undefined => {
    if (name.endsWith('.IntOrString')) return { [`${prefix}int-or-string`]: true };
    if (name.endsWith('.Quantity')) return schemaOf('quantity', { prefix, builtIn: byName });
    if (name.endsWith('.ObjectMeta')) return { type: 'object' };
    return name.endsWith('.Time') ? { type: 'string', format: 'date-time' } : undefined;
  };
  const structural = (schema: Schema): Schema => {
    if (typeof schema.$ref === 'string') return byName(schema.$ref.slice('#/definitions/'.length));
    const entries = Object.entries(schema).filter(([key]) => !key.startsWith('x-'));
    return Object.fromEntries(
      entries.map(([key, value]) => {
        if (key === 'items' || key === 'additionalProperties') return [key, structural(value as Schema)];
        if (key !== 'properties') return [key, value];
        const members = Object.entries(value as Record<string, Schema>);
        return [key, Object.fromEntries(members.map(([name, of]) => [name, structural(of)]))];
      }),
    );
  };
  const builtIn = (name: string): Schema =>
    byName(names.find((one) => one.endsWith(`.core.v1.${name}`) || one.endsWith(`.meta.v1.${name}`))!);
  return { prefix, builtIn };
}
