// Which kinds of patch are served, and the function behind each. Media types that are not in the table answer 415. An
// apply (`application/apply-patch+yaml`) is no function of two documents alone: it is in api/apply.
import type { JsonObject } from '../json/json-value.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { unsupportedPatchType } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

/**
 * Applies a parsed patch to a document of a type, changing neither. The type is undefined for kinds without a schema.
 * Refuses with a StatusError.
 */
export type PatchFunction = (document: JsonObject, patch: unknown, type: TypeSchema | undefined) => JsonObject;

/** Server-side apply. Its bodies are YAML, and so may be JSON. */
export const APPLY_PATCH = 'application/apply-patch+yaml';
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';

/** The function of each kind of patch, by media type. */
const PATCH_FUNCTIONS: ReadonlyMap<string, PatchFunction> = new Map<string, PatchFunction>([
  ['application/json-patch+json', applyJsonPatch],
  ['application/merge-patch+json', applyMergePatch],
  [STRATEGIC_MERGE_PATCH, applyStrategicMergePatch],
]);

/** The media types served, in the order in which messages name them. */
export const PATCH_MEDIA_TYPES: readonly string[] = [...PATCH_FUNCTIONS.keys()];
const WITHOUT_SCHEMA = PATCH_MEDIA_TYPES.filter((mediaType) => mediaType !== STRATEGIC_MERGE_PATCH);

/** The media types of patches that kinds with this schema can take. */
export function patchMediaTypesOf(type: TypeSchema | undefined): readonly string[] {
  return type === undefined ? WITHOUT_SCHEMA : PATCH_MEDIA_TYPES;
}

/**
 * The document patched. `mediaType` is in lower case and without parameters. Throws StatusError: 415 for a kind of patch
 * that is not served for the type, else what the patch function throws.
 */
export function applyPatch(
  mediaType: string,
  document: JsonObject,
  patch: unknown,
  type: TypeSchema | undefined,
): JsonObject {
  const apply = PATCH_FUNCTIONS.get(mediaType);
  if (apply === undefined || !patchMediaTypesOf(type).includes(mediaType)) {
    throw new StatusError(unsupportedPatchType());
  }
  return apply(document, patch, type);
}
