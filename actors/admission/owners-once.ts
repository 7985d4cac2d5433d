// Owners that an object names twice: it keeps each once, and the client's user hears of it.
import type { JsonObject } from '../../api/json-value.ts';
import { distinctOwnerReferences } from '../../api/metadata.ts';
import { metadataOf } from '../../api/object-meta.ts';

const NO_WARNINGS: readonly string[] = [];

/** The object with each owner reference once; itself where none is repeated. */
export function ownersOnce(object: JsonObject): { readonly object: JsonObject; readonly warnings: readonly string[] } {
  const metadata = metadataOf(object);
  const { ownerReferences } = metadata;
  if (!Array.isArray(ownerReferences) || ownerReferences.length < 2) return { object, warnings: NO_WARNINGS };
  const { references, repeatedUids } = distinctOwnerReferences(ownerReferences);
  if (repeatedUids.length === 0) return { object, warnings: NO_WARNINGS };
  const uids = repeatedUids.map((uid) => JSON.stringify(uid)).join(', ');
  return {
    object: { ...object, metadata: { ...metadata, ownerReferences: references } },
    warnings: [`.metadata.ownerReferences contains duplicate entries, each is kept once; repeated UIDs: ${uids}`],
  };
}
