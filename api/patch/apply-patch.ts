// Which kinds of patch are served, and the function behind each. Media types that are not in the table answer 415.
import type { JsonObject } from '../json-value.ts';
import { unsupportedPatchType } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';

/** Applies a parsed patch to a document, changing neither. Refuses with a StatusError. */
export type PatchFunction = (document: JsonObject, patch: unknown) => JsonObject;

/** The patches that need nothing but the two documents, by media type. */
export const PATCH_FUNCTIONS: ReadonlyMap<string, PatchFunction> = new Map<string, PatchFunction>([
  ['application/json-patch+json', applyJsonPatch],
  ['application/merge-patch+json', applyMergePatch],
]);

/** The media types served, in the order in which messages name them. */
export const PATCH_MEDIA_TYPES: readonly string[] = [...PATCH_FUNCTIONS.keys()];

/**
 * The document patched. `mediaType` is in lower case and without parameters. Throws StatusError: 415 for a kind that is
 * not served, else what the patch function throws.
 */
export function applyPatch(mediaType: string, document: JsonObject, patch: unknown): JsonObject {
  const apply = PATCH_FUNCTIONS.get(mediaType);
  if (apply === undefined) throw new StatusError(unsupportedPatchType());
  return apply(document, patch);
}
