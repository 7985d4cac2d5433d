// The step of a write that refuses what is not valid: the rules of metadata and those of the kind, all errors in one
// answer.
import { scaleErrors } from '../../../api/custom/definitions/scale-values.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import {
  validateAnyMeta,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../../api/metadata/object-meta-rules.ts';
import { type KnownType, splitApiVersion } from '../../../api/resources/resource-table.ts';
import { type FieldError, invalidFrom, NO_FIELD_ERRORS } from '../../../api/status/field-error.ts';
import { refusedGroup } from '../../../api/status/refused-group.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { SubresourceView } from '../../../api/subresource-views.ts';
import type { Attributes } from '../attributes.ts';
import type { WriteContext } from '../write-context.ts';

/** A step: throws, or rejects with, 422 unless the object may be created. */
export function requireValidNew(attributes: Attributes, write: WriteContext): Promise<void> | undefined {
  const { type, object, knownSpec } = attributes;
  const ofMetadata = validateObjectMeta(metadataOf(object), type, write.dialect);
  const ofKind = errorsInNew(attributes, write);
  const refuse = (errors: readonly FieldError[]): void => {
    refuseIfAny(type, object, ofMetadata, withErrorsBeside(errors, write, type, object, ''));
    knownSpec?.hold(object, write.dialect);
  };
  if (ofKind instanceof Promise) return ofKind.then(refuse);
  refuse(ofKind);
  return undefined;
}

function errorsInNew(
  { type, object, isLarge, knownSpec }: Attributes,
  { longChecks, dialect }: WriteContext,
): readonly FieldError[] | Promise<readonly FieldError[]> {
  if (type.custom !== undefined) return longChecks.errorsInCustom(object, type.custom);
  return knownSpec?.isHeld(object, dialect) ? NO_FIELD_ERRORS : longChecks.errorsInNew(object, type, isLarge);
}

/** A step: throws, or rejects with, 422 unless the object may replace the stored one. */
export function requireValidUpdate(
  { type, object, old, subresource, isLarge }: Attributes,
  write: WriteContext,
): Promise<void> | undefined {
  const ofMetadata = validateObjectMetaUpdate(metadataOf(object), metadataOf(old!), type, write.dialect);
  const ofKind =
    type.custom === undefined
      ? write.longChecks.errorsInChange(object, old!, type, { subresource, isLarge })
      : write.longChecks.errorsInCustom(object, type.custom, {
          before: old!,
          isStatusAlone: subresource === 'status',
        });
  const refuse = (errors: readonly FieldError[]): void =>
    refuseIfAny(type, object, ofMetadata, withErrorsBeside(errors, write, type, object, subresource));
  if (ofKind instanceof Promise) return ofKind.then(refuse);
  refuse(ofKind);
  return undefined;
}

/** And those of what the rules of the kind do not look at. */
function withErrorsBeside(
  errors: readonly FieldError[],
  write: WriteContext,
  type: KnownType,
  next: JsonObject,
  subresource: string,
): readonly FieldError[] {
  if (type.custom !== undefined)
    return [...errors, ...scaleErrors(next, type.custom.version.scale, subresource === 'status')];
  return subresource === 'ephemeralcontainers' ? [...errors, ...ephemeralErrors(write, type, next)] : errors;
}

const EPHEMERAL_CONTAINER = 'spec.ephemeralContainers[';

/** Of the rules for new pods those about single ephemeral containers: the rest of the pod is not what was written. */
function ephemeralErrors(write: WriteContext, type: KnownType, pod: JsonObject): readonly FieldError[] {
  return write.validation.create(pod, type).filter(({ path }) => path.startsWith(EPHEMERAL_CONTAINER));
}

/** Views that are looked at are of objects in namespaces. */
const VIEWED = { namespaced: true, traits: { nameFormat: 'dns1123Subdomain' } } as const;

/** Throws 422 unless a view that a client sends is one, where that is looked at by itself. */
export function requireValidView(write: WriteContext, view: SubresourceView | undefined, sent: JsonObject): void {
  view?.requireComplete?.(sent);
  if (view?.isChecked !== true) return;
  const { kind } = view;
  const { group, version } = splitApiVersion(view.apiVersion);
  const ofMetadata = validateAnyMeta(metadataOf(sent), VIEWED);
  const errors = [...ofMetadata, ...write.validation.create(sent, { group, version, kind })];
  if (errors.length > 0) throw new StatusError(invalidFrom(kind, group, metadataOf(sent).name ?? '', errors));
}

function refuseIfAny(
  type: KnownType,
  object: JsonObject,
  ofMetadata: readonly FieldError[],
  ofKind: readonly FieldError[],
): void {
  if (ofMetadata.length === 0 && ofKind.length === 0) return;
  const name = metadataOf(object).name ?? '';
  throw new StatusError(invalidFrom(type.kind, refusedGroup(type), name, [...ofMetadata, ...ofKind]));
}
