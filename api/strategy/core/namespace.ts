// Namespaces: the finalizers of their spec, which only the finalize subresource changes, keep one until its contents are
// gone; on its way it is Terminating.

import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { type Deletion, type DeletionOutcome, finalizersOnDelete } from '../../metadata/deletion.ts';
import { metadataOf, type ObjectMeta, timestampOf } from '../../metadata/object-meta.ts';
import type { ResourceType } from '../../resource-type.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

interface NamespaceSpec {
  readonly finalizers?: readonly string[];
}

function specOf(object: JsonObject): NamespaceSpec {
  return isJsonObject(object.spec) ? (object.spec as NamespaceSpec) : {};
}

/** The server's own finalizer is there from the beginning. */
function withFinalizer(object: JsonObject, { dialect }: WriteFacts): JsonObject {
  const spec = specOf(object);
  const { finalizers = [] } = spec;
  if (finalizers.includes(dialect.brand)) return object;
  return { ...object, spec: { ...spec, finalizers: [...finalizers, dialect.brand] } };
}

/** The finalize subresource changes all but the status, every other update all but spec.finalizers. */
function updated(object: JsonObject, old: JsonObject, { subresource }: WriteFacts): JsonObject {
  if (subresource === 'finalize') {
    const { status: _status, ...rest } = object;
    return old.status === undefined ? rest : { ...rest, status: old.status };
  }
  const { finalizers: _, ...rest } = specOf(object);
  const { finalizers } = specOf(old);
  return { ...object, spec: finalizers === undefined ? rest : { ...rest, finalizers } };
}

/** Its contents go first, then spec.finalizers, then the namespace itself. */
function deleted(object: JsonObject, type: ResourceType, deletion: Deletion): DeletionOutcome | undefined {
  if (!isHeld(object)) return undefined;
  const before = metadataOf(object);
  if (before.deletionTimestamp) return { action: 'pending', object };
  const finalizers = finalizersOnDelete(before.finalizers ?? [], type, deletion);
  const { finalizers: _, ...others } = before;
  const metadata: ObjectMeta = {
    ...others,
    ...(finalizers.length === 0 ? undefined : { finalizers }),
    deletionTimestamp: timestampOf(deletion.nowMs),
  };
  const status = { ...(isJsonObject(object.status) ? object.status : undefined), phase: 'Terminating' };
  return { action: 'store', object: { ...object, metadata, status } };
}

function isHeld(object: JsonObject): boolean {
  return (specOf(object).finalizers?.length ?? 0) > 0;
}

export const namespace: Strategy = {
  hasDefaultsByName: true,
  onCreate: withFinalizer,
  onUpdate: updated,
  onDelete: deleted,
  isHeld,
};
