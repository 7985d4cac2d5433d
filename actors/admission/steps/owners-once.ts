// Owners that an object names twice: it keeps each once, and the client's user hears of it in the words of the original, by which its
// clients know the warning.
import { distinctOwnerReferences } from '../../../api/metadata/metadata.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Attributes } from '../attributes.ts';

const GIVEN = '.metadata.ownerReferences contains duplicate entries';
const MUTATED = `${GIVEN} after mutating admission happens`;
const ADVICE =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; ' +
  'duplicate UID(s) observed: ';

/** A step: each owner reference is kept once. What a patch has made is told as what plugins have. */
export function keepOwnersOnce(attributes: Attributes): void {
  keepOnce(attributes, attributes.asked.isPatch ? MUTATED : GIVEN);
}

/** The same of what plugins have made of the object. */
export function keepMutatedOwnersOnce(attributes: Attributes): void {
  keepOnce(attributes, MUTATED);
}

function keepOnce(attributes: Attributes, problem: string): void {
  const { object } = attributes;
  const metadata = metadataOf(object);
  const { ownerReferences } = metadata;
  if (!Array.isArray(ownerReferences) || ownerReferences.length < 2) return;
  const { references, repeatedUids } = distinctOwnerReferences(ownerReferences);
  if (repeatedUids.length === 0) return;
  attributes.object = { ...object, metadata: { ...metadata, ownerReferences: references } };
  attributes.warn(`${problem}; ${ADVICE}${repeatedUids.join(', ')}`);
}
