// The requests that both servers are sent, each made again by the run's seed and its number alone: creates and updates as dry runs,
// of valid objects with changes. Nothing that a case says is kept.
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { type Dice, diceOf } from '../fuzz/generate/dice.ts';
import { documentsIn } from '../fuzz/generate/documents.ts';
import { junk } from '../fuzz/generate/junk.ts';
import { mutatedValue } from '../fuzz/generate/mutate-value.ts';
import { type Asked, nameOf } from './report.ts';

export const NAMESPACE = 'differential';

const DIALECT = DIALECTS.kubernetes;
const SCHEMA = schemaOf(DIALECT);
const DOCUMENTS = documentsIn(DIALECT);

/** Types whose objects are kept, of which there are valid ones. */
const TYPES: readonly KnownType[] = createRegistry(DIALECT)
  .known()
  .filter((type) => type.persisted && type.verbs.has('create') && DOCUMENTS.hasValid(schemaName(type)));

function schemaName({ group, version, kind }: KnownType): string {
  return SCHEMA.kind(group, version, kind)?.name ?? '';
}

/** The types that a pattern names, as `plural.group/version`. */
export function typesLike(pattern: RegExp): readonly KnownType[] {
  return TYPES.filter((type) => pattern.test(nameOf(type)));
}

function namesOf({ plural, group, version }: KnownType): Pick<Asked, 'plural' | 'group' | 'version'> {
  return { plural, group, version };
}

/** Where the objects of the type are created. */
export function collectionOf({ group, version, plural, namespaced }: KnownType, namespace = NAMESPACE): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}

/** A valid object of the type in the namespace of the run, or in another. */
export function validObject(type: KnownType, dice: Dice, namespace = NAMESPACE): JsonObject {
  const schema = SCHEMA.kind(type.group, type.version, type.kind)!;
  const object = JSON.parse(DOCUMENTS.valid(schema, dice)!) as Record<string, unknown>;
  const { namespace: _, ...metadata } = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata: type.namespaced ? { ...metadata, namespace } : metadata };
}

/**
 * The case of a number. `kept`: objects of each type that both servers have, by name. A third are updates of those; of the others each
 * is a valid object with up to four changes, most of them with one or two, under a name of its own.
 */
export function caseOf(
  seed: number,
  index: number,
  types: readonly KnownType[],
  kept: ReadonlyMap<KnownType, readonly JsonObject[]>,
): Asked {
  const dice = diceOf(seed, 'differential', index);
  const type = dice.pick(types);
  const collection = collectionOf(type);
  const changes = 1 + dice.small(3);
  const originals = kept.get(type) ?? [];
  if (originals.length > 0 && dice.oneIn(3)) {
    const found = dice.pick(originals);
    const body = changed(found, dice, changes);
    return { ...namesOf(type), method: 'PUT', path: `${collection}/${nameIn(found)}?dryRun=All`, body };
  }
  const body = underNewName(changed(validObject(type, dice), dice, changes), type, index);
  return { ...namesOf(type), method: 'POST', path: `${collection}?dryRun=All`, body };
}

/** Of these an object is named by what it says. */
const NAMED_BY_CONTENT = /^(?:customresourcedefinitions|apiservices)$/;

/** The object under a name that none has: that the name is taken is told before anything else could be compared. */
function underNewName(object: JsonObject, { plural }: KnownType, index: number): JsonObject {
  const { metadata } = object;
  if (NAMED_BY_CONTENT.test(plural) || !isJsonObject(metadata)) return object;
  const { name } = metadata;
  return typeof name === 'string' && name !== ''
    ? { ...object, metadata: { ...metadata, name: `${name}-${index}` } }
    : object;
}

/** The object with changes below its kind, and most of the time not of its name. */
export function changed(object: JsonObject, dice: Dice, changes: number): JsonObject {
  const { apiVersion, kind, metadata, ...rest } = structuredClone(object);
  const mutable = dice.oneIn(6) ? { metadata, ...rest } : rest;
  const after = mutatedValue(mutable, dice, changes, (name, from) => DOCUMENTS.suggest(name, from) ?? junk(from));
  return { apiVersion, kind, metadata, ...(isJsonObject(after) ? after : rest) };
}

export function nameIn(object: JsonObject): string {
  return String(isJsonObject(object.metadata) ? object.metadata.name : '');
}
