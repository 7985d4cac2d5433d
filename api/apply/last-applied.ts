// The way from client-side to server-side apply: clients used to keep the configuration they applied in an annotation of
// the object. Fields that it names and that nobody has changed since may be taken without force, and the annotation is
// kept up to date, so that both ways of applying go on working on one object.
import { DIALECT_NAMES, DIALECTS } from '../../config/dialect.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { sortedJson } from '../json/sorted-json.ts';
import { metadataOf } from '../metadata/object-meta.ts';
import { isStatusError } from '../status/status.ts';
import { assertedFields } from './asserted-fields.ts';
import { compareObjects } from './compare.ts';
import { difference, type FieldSet, NO_FIELDS, union } from './field-set.ts';
import { mergeConfiguration } from './merge.ts';
import type { OwnedType } from './owned-type.ts';

/** The one manager whose client has applied by annotation before. Others opt out of all this by their name. */
const APPLYING_CLIENT = 'kubectl';

/** The client spells the annotation as it likes, whatever the server's dialect. */
const ANNOTATIONS = DIALECT_NAMES.map((name) => DIALECTS[name].spell('kubectl.@label/last-applied-configuration'));

/** The annotation an object has, if the manager is the one that reads it. */
function annotationOf(
  object: JsonObject,
  manager: string,
): { readonly key: string; readonly text: string } | undefined {
  const { annotations } = metadataOf(object);
  if (manager !== APPLYING_CLIENT || annotations === undefined) return undefined;
  const key = ANNOTATIONS.find((name) => Object.hasOwn(annotations, name));
  return key === undefined ? undefined : { key, text: annotations[key]! };
}

/** The fields of the annotation that the live object still has as they were applied; none without a usable annotation. */
export function fieldsOfLastApplied(live: JsonObject, { manager, apiVersion }: Applier, type: OwnedType): FieldSet {
  const annotation = annotationOf(live, manager);
  const config = annotation === undefined ? undefined : parsed(annotation.text);
  if (config === undefined || config.apiVersion !== apiVersion) return NO_FIELDS;
  try {
    const fields = assertedFields(config, type.rule);
    // What merging the annotation would change has been changed by someone since.
    const { added, modified } = compareObjects(live, mergeConfiguration(live, config, type.rule), type.rule);
    return difference(fields, union(added, modified));
  } catch (error) {
    if (isStatusError(error)) return NO_FIELDS;
    throw error;
  }
}

interface Applier {
  readonly manager: string;
  readonly apiVersion: string;
}

/** The object with the configuration in its annotation, if it has the annotation and the client is the one that reads it. */
export function withLastApplied(object: JsonObject, config: JsonObject, manager: string): JsonObject {
  const annotation = annotationOf(object, manager);
  if (annotation === undefined) return object;
  const { key } = annotation;
  const text = `${sortedJson(withoutAnnotation(config, key))}\n`;
  if (annotation.text === text) return object;
  const metadata = metadataOf(object);
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: text } } };
}

function withoutAnnotation(config: JsonObject, key: string): JsonObject {
  const { annotations } = metadataOf(config);
  if (annotations?.[key] === undefined) return config;
  const { [key]: _, ...rest } = annotations;
  return { ...config, metadata: { ...metadataOf(config), annotations: rest } };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
