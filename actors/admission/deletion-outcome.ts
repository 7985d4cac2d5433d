// What a DELETE makes of one object: its grace period, its finalizers, a namespace's way through Terminating. Decides and
// drafts; reading and committing is the callers'.
import {
  type Deletion,
  type DeletionOutcome,
  finalizersOnDelete,
  type PropagationPolicy,
  prepareDelete,
} from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf, type ObjectMeta, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { forbidden } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { DeleteOptions } from '../../api/validation/options.ts';
import { type Draft, draftDelete, draftPut, withAlso } from './draft.ts';
import type { StoredObject } from './store-reader.ts';
import type { WriteContext } from './write-context.ts';

/** What becomes of an object on a DELETE with valid options. Throws 403 for namespaces that must stay. */
export function outcomeFor(
  write: WriteContext,
  type: KnownType,
  object: JsonObject,
  options: DeleteOptions,
): DeletionOutcome {
  const deletion: Deletion = {
    nowMs: write.context.clock.nowMs(),
    graceSeconds: type.storageKey === 'core/pods' ? podGraceSeconds(object, options) : undefined,
    graceAsked: options.gracePeriodSeconds !== undefined,
    propagationPolicy: options.propagationPolicy as PropagationPolicy | undefined,
    orphanDependents: options.orphanDependents,
    collectsGarbage: write.deletion.collectsGarbage,
  };
  if (type.storageKey === 'core/namespaces') return namespaceOutcome(write, type, object, deletion);
  return prepareDelete(object, type, deletion);
}

/** The outcome as a draft against the revision that was read, with what a removed object gives back. */
export async function draftFor(
  write: WriteContext,
  type: KnownType,
  stored: StoredObject,
  { action, object }: DeletionOutcome,
): Promise<Draft> {
  const { namespace = '', name = '' } = metadataOf(object);
  const { revision } = stored.place;
  if (action !== 'remove') return draftPut(type, object, revision);
  return withAlso(draftDelete(type, namespace, name, revision), await write.services.release(type, object));
}

/** Facts: option, else the pod's own period, else 0; 0 when it is bound to no node or has ended. */
function podGraceSeconds(pod: JsonObject, options: DeleteOptions): number {
  const spec = (pod.spec ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const { phase } = (pod.status ?? {}) as { phase?: string };
  if ((spec.nodeName ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const asked = options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
  // A negative period means at once, as short as one can ask for.
  return asked < 0 ? 1 : asked;
}

/** A namespace goes through Terminating: its contents first, then spec.finalizers, then itself. */
function namespaceOutcome(
  write: WriteContext,
  type: KnownType,
  object: JsonObject,
  deletion: Deletion,
): DeletionOutcome {
  const before = metadataOf(object);
  const { name = '', deletionTimestamp } = before;
  const { dialect } = write;
  if (name === 'default' || name === dialect.systemNamespace || name === dialect.publicNamespace) {
    throw new StatusError(forbidden(type, name, 'this namespace may not be deleted'));
  }
  const open = (object.spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? [];
  if (open.length === 0) return prepareDelete(object, type, deletion);
  if (deletionTimestamp) return { action: 'pending', object };
  const finalizers = finalizersOnDelete(before.finalizers ?? [], type, deletion);
  const { finalizers: _, ...others } = before;
  const metadata: ObjectMeta = {
    ...others,
    ...(finalizers.length === 0 ? undefined : { finalizers }),
    deletionTimestamp: timestampOf(deletion.nowMs),
  };
  return {
    action: 'store',
    object: { ...object, metadata, status: { ...(object.status as JsonObject | undefined), phase: 'Terminating' } },
  };
}
