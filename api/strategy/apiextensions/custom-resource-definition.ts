// Definitions of custom types: what they have made goes before they do. The controller of definitions deletes the instances,
// and then gives up the finalizer that is set here.
import { cleanupFinalizer, terminatingCondition, withCondition } from '../../custom/definitions/definition-status.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asText, asTexts, partAt, partsAt } from '../../json/object-fields.ts';
import type { Deletion, DeletionOutcome } from '../../metadata/deletion.ts';
import { metadataOf, timestampOf } from '../../metadata/object-meta.ts';
import type { ResourceType } from '../../resource-type.ts';
import type { Strategy } from '../strategy.ts';

/** The first DELETE marks the definition: no grace and no generation, as of other types, until a second. */
function onDelete(object: JsonObject, type: ResourceType, { nowMs }: Deletion): DeletionOutcome | undefined {
  const metadata = metadataOf(object);
  if ((metadata.deletionTimestamp ?? '') !== '') return undefined;
  const finalizer = cleanupFinalizer(type.group);
  const finalizers = metadata.finalizers ?? [];
  const held = finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer];
  const deletionTimestamp = timestampOf(nowMs);
  const status = withCondition(partAt(object, 'status'), terminatingCondition('pending'), deletionTimestamp);
  return {
    action: 'store',
    object: { ...object, metadata: { ...metadata, finalizers: held, deletionTimestamp }, status },
  };
}

/** Before the first object is stored in another version, it is known to be one that objects are stored in. */
function onKept(object: JsonObject): JsonObject {
  const storage = partsAt(partAt(object, 'spec'), 'versions').find(({ storage: isStored }) => isStored === true);
  if (storage === undefined) return object;
  const status = partAt(object, 'status');
  const stored = asTexts(status.storedVersions);
  const name = asText(storage.name);
  return stored.includes(name) ? object : { ...object, status: { ...status, storedVersions: [...stored, name] } };
}

export const customResourceDefinition: Strategy = { onDelete, onKept };
