// Owners that an object names twice: it keeps each once, and the client's user hears of it.
import { distinctOwnerReferences } from '../../../api/metadata/metadata.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Attributes } from '../attributes.ts';

/** A step: each owner reference is kept once. */
export function keepOwnersOnce(attributes: Attributes): void {
  const { object } = attributes;
  const metadata = metadataOf(object);
  const { ownerReferences } = metadata;
  if (!Array.isArray(ownerReferences) || ownerReferences.length < 2) return;
  const { references, repeatedUids } = distinctOwnerReferences(ownerReferences);
  if (repeatedUids.length === 0) return;
  attributes.object = { ...object, metadata: { ...metadata, ownerReferences: references } };
  const uids = repeatedUids.map((uid) => JSON.stringify(uid)).join(', ');
  attributes.warn(`.metadata.ownerReferences contains duplicate entries, each is kept once; repeated UIDs: ${uids}`);
}
