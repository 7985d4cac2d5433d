// What the garbage collector writes to an object: its deletion, its owners, its finalizers. Each write rests on the object as it was
// seen: if it has changed since, it is refused, and the object looked at again.
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER, type PropagationPolicy } from '../../../api/metadata/deletion.ts';
import { deletionOf, type Write } from '../controller.ts';
import type { GraphNode, OwnerReference } from './ownership-graph.ts';

/** What the object's own finalizers ask for, which a policy that is not said would keep too; but never a type's default. */
export function policyOf(finalizers: readonly string[]): PropagationPolicy {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

function targetOf({ type, namespace, name }: GraphNode): Write['target'] {
  return { group: type.group, version: type.version, resource: type.plural, subresource: '', namespace, name };
}

/** A write to an object, where that is. */
function placed({ isElsewhere }: GraphNode, write: Write): Write {
  return isElsewhere === true ? { ...write, isElsewhere } : write;
}

/** Deletes the object by that policy. */
export function deletion(node: GraphNode, propagationPolicy: PropagationPolicy): Write {
  const preconditions = { uid: node.uid, resourceVersion: String(node.ownership.revision) };
  return placed(node, deletionOf(targetOf(node), preconditions, { propagationPolicy }));
}

function metadataPatch(node: GraphNode, changes: object): Write {
  const metadata = { uid: node.uid, resourceVersion: String(node.ownership.revision), ...changes };
  return placed(node, { verb: 'patch', target: targetOf(node), body: { metadata } });
}

/** Leaves the object these owners. */
export function referencesPatch(node: GraphNode, references: readonly OwnerReference[]): Write {
  return metadataPatch(node, { ownerReferences: references.length === 0 ? null : references });
}

/** Takes a finalizer off the object. */
export function finalizerPatch(node: GraphNode, finalizer: string): Write {
  const finalizers = node.ownership.finalizers.filter((other) => other !== finalizer);
  return metadataPatch(node, { finalizers: finalizers.length === 0 ? null : finalizers });
}
