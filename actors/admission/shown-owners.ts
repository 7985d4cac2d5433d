// Owners of fields as part of an object: in a write they stand beside it as a text, until webhooks are to see them, or an answer
// is made. And what becomes of those that webhooks have changed.
import { problemOfEntries } from '../../api/apply/managed-entries.ts';
import { withEntries } from '../../api/apply/ownership.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { type ManagedFieldsEntry, metadataOf } from '../../api/metadata/object-meta.ts';
import type { Attributes } from './attributes.ts';

/** The object with the managedFields of a text. */
export function withManagedFields(object: JsonObject, text: string): JsonObject {
  return text === '' ? object : withEntries(object, JSON.parse(text) as readonly ManagedFieldsEntry[]);
}

/** From here on the object itself says who owns its fields, as webhooks are told it and may change it. */
export function showOwners(attributes: Attributes): void {
  const { managedFieldsText } = attributes;
  if (managedFieldsText === '') return;
  attributes.object = withManagedFields(attributes.object, managedFieldsText);
  attributes.texts?.keep(metadataOf(attributes.object).managedFields, managedFieldsText);
  attributes.managedFieldsText = '';
}

/**
 * What webhooks have made of managedFields is kept where it can be read; else they are as before, and the client is warned.
 *
 * @param ownersText what stood beside the object before.
 */
export function keepOwnersReadable(attributes: Attributes, before: JsonObject, ownersText: string): void {
  const { object } = attributes;
  const { managedFields } = metadataOf(object);
  if (managedFields === undefined || managedFields === metadataOf(before).managedFields) return;
  const problem = problemOfEntries(managedFields);
  if (problem === undefined) return;
  attributes.object = withEntries(object, metadataOf(withManagedFields(before, ownersText)).managedFields);
  attributes.warn(
    '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating ' +
      `admission controller; please fix your requests: ${problem}`,
  );
}
