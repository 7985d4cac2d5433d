// The step of a write that refuses what is not valid: the rules of metadata and those of the kind, all errors in one
// answer.
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { type FieldError, invalidFrom } from '../../api/status/field-error.ts';
import { StatusError } from '../../api/status/status.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/object-meta.ts';
import type { WriteContext } from './write-context.ts';

/** Throws 422 unless the object may be created. */
export function requireValidNew(write: WriteContext, type: KnownType, object: JsonObject): void {
  const ofMetadata = validateObjectMeta(metadataOf(object), type, write.dialect);
  refuseIfAny(type, object, ofMetadata, write.validation.create(object, type));
}

/** Throws 422 unless the object may replace the stored one. */
export function requireValidUpdate(
  write: WriteContext,
  type: KnownType,
  next: JsonObject,
  stored: JsonObject,
  subresource: string,
): void {
  const ofMetadata = validateObjectMetaUpdate(metadataOf(next), metadataOf(stored), type, write.dialect);
  const ofKind = write.validation.update(next, stored, type, subresource);
  const all = subresource === 'ephemeralcontainers' ? [...ofKind, ...ephemeralErrors(write, type, next)] : ofKind;
  refuseIfAny(type, next, ofMetadata, all);
}

const EPHEMERAL_CONTAINER = 'spec.ephemeralContainers[';

/** Of the rules for new pods those about single ephemeral containers: the rest of the pod is not what was written. */
function ephemeralErrors(write: WriteContext, type: KnownType, pod: JsonObject): readonly FieldError[] {
  return write.validation.create(pod, type).filter(({ path }) => path.startsWith(EPHEMERAL_CONTAINER));
}

/** Throws 422 unless the scale a client asks for is one. */
export function requireValidScale(write: WriteContext, scale: JsonObject): void {
  const errors = write.validation.create(scale, SCALE);
  if (errors.length === 0) return;
  throw new StatusError(invalidFrom(SCALE.kind, SCALE.group, metadataOf(scale).name ?? '', errors));
}

const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

function refuseIfAny(
  type: KnownType,
  object: JsonObject,
  ofMetadata: readonly FieldError[],
  ofKind: readonly FieldError[],
): void {
  if (ofMetadata.length === 0 && ofKind.length === 0) return;
  const name = metadataOf(object).name ?? '';
  throw new StatusError(invalidFrom(type.kind, type.group, name, [...ofMetadata, ...ofKind]));
}
