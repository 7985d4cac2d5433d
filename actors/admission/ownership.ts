// Who owns the fields of what is written (SPEC.md "Field ownership"): the step of a write that keeps managedFields. The
// rules are in api/apply; here they meet the request.
import { type OwnedType, ownedType } from '../../api/apply/owned-type.ts';
import { entriesOfCreate, entriesOfUpdate, managerName, withEntries } from '../../api/apply/ownership.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { type ManagedFieldsEntry, metadataOf, timestampOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { WriteRequest } from './protocol.ts';
import type { Change } from './update.ts';
import type { WriteContext } from './write-context.ts';

/** The writer of an object, and what it writes. */
export interface Tracking {
  readonly manager: string;
  readonly apiVersion: string;
  readonly owned: OwnedType;
  readonly hasStatus: boolean;
  /** False when the operator has switched ownership off: then no object has managedFields. */
  readonly isOn: boolean;
}

/** The writer that a request names. */
export function trackingOf(write: WriteContext, request: WriteRequest, type: KnownType): Tracking {
  return {
    manager: managerName(request.parameters.fieldManager, request.userAgent),
    apiVersion: type.apiVersion,
    owned: ownedType(write.schema.kind(type.group, type.version, type.kind)),
    hasStatus: type.strategy.hasStatus,
    isOn: write.serverSideApply,
  };
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
  { tracking, subresource }: Change,
  next: JsonObject,
  stored: JsonObject,
): JsonObject {
  if (tracking === undefined) return next;
  const { manager, apiVersion, owned, isOn } = tracking;
  if (!isOn) return metadataOf(next).managedFields === undefined ? next : withEntries(next, undefined);
  const writer = { manager, apiVersion, nowIso: timestampOf(write.context.clock.nowMs()) };
  return withEntries(next, entriesOfUpdate(next, stored, owned, writer, subresource === ''));
}
