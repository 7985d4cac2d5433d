// What an object's metadata says of its owners and of its own deletion, read from whatever a client made of it. Pure.

import { asList, asObject, asText, asTexts, partAt } from '../../../api/json/object-fields.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../../api/metadata/deletion.ts';
import type { ApiObject } from '../controller.ts';
import { type DeletionState, type OwnerReference, type Ownership, UNOWNED } from './ownership-graph.ts';

/** The ownership of a parsed object. `revision`: its resourceVersion. */
export function ownershipOf(object: ApiObject, revision: number | string): Ownership {
  const metadata = partAt(object, 'metadata');
  const references = asList(metadata.ownerReferences).flatMap((item) => referenceOf(asObject(item)));
  const finalizers = asTexts(metadata.finalizers);
  const deletion = asText(metadata.deletionTimestamp) === '' ? 'none' : deletionState(finalizers);
  return references.length === 0 && deletion === 'none' ? UNOWNED : { revision, references, finalizers, deletion };
}

function deletionState(finalizers: readonly string[]): DeletionState {
  if (finalizers.includes(FOREGROUND_FINALIZER)) return 'foreground';
  return finalizers.includes(ORPHAN_FINALIZER) ? 'orphan' : 'plain';
}

function referenceOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: ApiObject): OwnerReference[] {
  if (asText(uid) === '') return [];
  return [
    {
      apiVersion: asText(apiVersion),
      kind: asText(kind),
      name: asText(name),
      uid: asText(uid),
      ...(typeof controller === 'boolean' ? { controller } : undefined),
      ...(typeof blockOwnerDeletion === 'boolean' ? { blockOwnerDeletion } : undefined),
    },
  ];
}
