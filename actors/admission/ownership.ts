// Who owns the fields of what is written (SPEC.md "Field ownership"): the step of a write that keeps managedFields. The
// rules are in api/apply; here they meet the request.
import { type FieldSet, NO_FIELDS } from '../../api/apply/field-set.ts';
import type { OtherVersions } from '../../api/apply/other-versions.ts';
import { type OwnedType, ownedType } from '../../api/apply/owned-type.ts';
import { entriesOfCreate, entriesOfUpdate, managerName, withEntries } from '../../api/apply/ownership.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { type ManagedFieldsEntry, metadataOf, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { WriteRequest } from './protocol.ts';
import type { WriteContext } from './write-context.ts';

/** The writer of an object, and what it writes. */
export interface Tracking {
  readonly manager: string;
  readonly apiVersion: string;
  readonly owned: OwnedType;
  /** What managers of other versions have written. */
  readonly versions: OtherVersions;
  readonly hasStatus: boolean;
  /** False when the operator has switched ownership off: then no object has managedFields. */
  readonly isOn: boolean;
}

/** The writer that a request names. */
export function trackingOf(write: WriteContext, request: WriteRequest, type: KnownType): Tracking {
  return {
    manager: managerName(request.parameters.fieldManager, request.userAgent),
    apiVersion: type.apiVersion,
    owned: ownedTypeOf(write, type),
    versions: otherVersions(write, type, () => NO_FIELDS),
    hasStatus: type.strategy.hasStatus,
    isOn: write.serverSideApply,
  };
}

/** The versions of a type besides the one being written in. `reset`: the fields that the endpoint leaves as they are. */
export function otherVersions(
  write: WriteContext,
  type: KnownType,
  reset: (other: KnownType, owned: OwnedType) => FieldSet,
): OtherVersions {
  return (apiVersion) => {
    const other = write.forms.inVersion(type, apiVersion);
    if (other === undefined) return undefined;
    const owned = ownedTypeOf(write, other);
    const to = write.forms.between(type, other);
    return { type: owned, reset: reset(other, owned), to, back: write.forms.between(other, type) };
  };
}

/** A type as ownership sees it. */
export function ownedTypeOf(write: WriteContext, { group, version, kind }: KnownType): OwnedType {
  return ownedType(write.schema.kind(group, version, kind));
}

/** A new object without managedFields, and their text. What the body says of them is not asked. */
export function ownedByCreator(
  tracking: Tracking | undefined,
  object: JsonObject,
  nowIso: string,
): { readonly plain: JsonObject; readonly managedFieldsText: string } {
  if (tracking === undefined) return { plain: object, managedFieldsText: '' };
  const plain = withEntries(object, undefined);
  const { manager, apiVersion, owned, hasStatus, isOn } = tracking;
  if (!isOn) return { plain, managedFieldsText: '' };
  return { plain, managedFieldsText: entriesOfCreate(plain, owned, { manager, apiVersion, nowIso }, hasStatus) };
}

/** The object with the managedFields of a text. */
export function withManagedFields(object: JsonObject, text: string): JsonObject {
  return text === '' ? object : withEntries(object, JSON.parse(text) as readonly ManagedFieldsEntry[]);
}

/** The object to be stored, owned by its writer where it differs from the stored one. */
export function ownedByUpdater(
  write: WriteContext,
  { tracking, subresource }: { readonly tracking: Tracking | undefined; readonly subresource: string },
  next: JsonObject,
  stored: JsonObject,
): JsonObject {
  if (tracking === undefined) return next;
  const { manager, apiVersion, owned, versions, isOn } = tracking;
  if (!isOn) return metadataOf(next).managedFields === undefined ? next : withEntries(next, undefined);
  const writer = { manager, apiVersion, nowIso: timestampOf(write.context.clock.nowMs()) };
  return withEntries(next, entriesOfUpdate(next, stored, owned, writer, subresource === '', versions));
}
