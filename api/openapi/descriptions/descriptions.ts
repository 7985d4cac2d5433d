// What the OpenAPI documents say of types and fields in words, for people who ask a client to explain a kind. The texts lie
// in one file a group: `Kind` is the type's, `Kind.field` a field's, for all versions of the group. What means the same
// in many types is said once (shared.ts).
import type { FieldSchema, TypeSchema } from '../../schema/schema.ts';
import { OTHER_TEXTS, TEXTS_BY_GROUP } from './groups.ts';
import { BY_SUFFIX, SHARED_FIELDS } from './shared.ts';
import { type Descriptions, plainName } from './texts.ts';

const LIST_SUFFIX = 'List';

/** What a type is; undefined where there is nothing to say. */
export function typeDescription(type: TypeSchema): string | undefined {
  const { kind } = type;
  const own = textsOf(type)[kind];
  if (own !== undefined || !isList(type)) return own;
  return `A list of ${kind.slice(0, -LIST_SUFFIX.length)} objects.`;
}

/** What a field of a type is for, and which texts are known in it; undefined where there is nothing to say. */
export function fieldDescription(type: TypeSchema, field: FieldSchema, known: readonly string[]): string | undefined {
  const name = plainName(type, field.name);
  const text = textsOf(type)[`${type.kind}.${name}`] ?? sharedText(type, name);
  if (text === undefined || known.length === 0) return text;
  return `${text} Known values: ${known.map((value) => JSON.stringify(value)).join(', ')}.`;
}

/** Of a member that every kind has. */
export function typeMetaDescription(name: 'apiVersion' | 'kind' | 'metadata'): string {
  return SHARED_FIELDS[name]!;
}

/** Of the metadata of every list. */
export function listMetaDescription(): string {
  return BY_SUFFIX.List!.metadata!;
}

function textsOf({ name }: TypeSchema): Descriptions {
  return TEXTS_BY_GROUP[/^[a-z]+/.exec(name)![0]] ?? OTHER_TEXTS;
}

function sharedText(type: TypeSchema, name: string): string | undefined {
  if (isList(type) && name === 'metadata') return listMetaDescription();
  for (const [suffix, fields] of Object.entries(BY_SUFFIX)) {
    if (type.kind.endsWith(suffix) && fields[name] !== undefined) return fields[name];
  }
  return SHARED_FIELDS[name];
}

function isList({ kind, fields }: TypeSchema): boolean {
  return kind.endsWith(LIST_SUFFIX) && fields.some(({ name }) => name === 'items');
}
