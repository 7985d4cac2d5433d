// Who owns the fields of what is written (SPEC.md "Field ownership"): the steps of a write that keep managedFields. The
// rules are in api/apply; here they meet the request.
import { withEmptied } from '../../../api/apply/emptied.ts';
import { type FieldSet, NO_FIELDS } from '../../../api/apply/field-set.ts';
import type { OtherVersions } from '../../../api/apply/other-versions.ts';
import { type OwnedType, resetFields } from '../../../api/apply/owned-type.ts';
import {
  type Entries,
  entriesOfCreate,
  entriesOfUpdateInParts,
  managerName,
  type Writer,
  withEntries,
} from '../../../api/apply/ownership.ts';
import type { InParts } from '../../../api/in-parts.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Attributes } from '../attributes.ts';
import { converted } from '../conversion/converted.ts';
import { done } from '../large-writes.ts';
import type { WriteRequest } from '../protocol.ts';
import { withManagedFields } from '../shown-owners.ts';
import type { WriteContext } from '../write-context.ts';

/** The versions of a type besides the one being written in. `reset`: the fields that the endpoint leaves as they are. */
export function otherVersions(
  { forms, kinds }: Pick<WriteContext, 'forms' | 'kinds'>,
  type: KnownType,
  reset: (other: KnownType, owned: OwnedType) => FieldSet,
): OtherVersions {
  return (apiVersion) => {
    const other = forms.inVersion(type, apiVersion);
    if (other === undefined) return undefined;
    const { owned } = kinds.of(other);
    return {
      type: owned,
      reset: reset(other, owned),
      to: forms.between(type, other),
      back: forms.between(other, type),
    };
  };
}

/** Who the user of a write is to the fields that it changes. */
export function writerOf({ asked, type, nowIso }: Pick<Attributes, 'asked' | 'type' | 'nowIso'>): Writer {
  return { manager: managerName(asked.parameters.fieldManager, asked.userAgent), apiVersion: type.apiVersion, nowIso };
}

/** A step: the creator owns what it says. What the body says of managedFields is not asked. */
export function ownByCreator(attributes: Attributes, write: WriteContext): void {
  if (!attributes.asked.isTracked) return;
  const plain = withEntries(attributes.object, undefined);
  attributes.object = plain;
  if (write.serverSideApply)
    attributes.managedFieldsText = entriesOfCreate(asGiven(attributes), attributes.kind.owned, writerOf(attributes));
}

/** An object that is answered and not stored, with what it says owned by who sent it; what it says of owners itself is not asked. */
export function ownedBySender(
  { context, serverSideApply }: Pick<WriteContext, 'context' | 'serverSideApply'>,
  { parameters, userAgent }: Pick<WriteRequest, 'parameters' | 'userAgent'>,
  object: JsonObject,
  owned: OwnedType,
  apiVersion: string,
): JsonObject {
  const plain = withEntries(object, undefined);
  if (!serverSideApply) return plain;
  const manager = managerName(parameters.fieldManager, userAgent);
  const nowIso = timestampOf(context.clock.nowMs());
  return withManagedFields(plain, entriesOfCreate(plain, owned, { manager, apiVersion, nowIso }));
}

/** A step: the updater owns what it has changed. */
export function ownByUpdater(attributes: Attributes, write: WriteContext): Promise<void> | undefined {
  if (!attributes.asked.isTracked) return undefined;
  const { object, type } = attributes;
  if (!write.serverSideApply) {
    if (metadataOf(object).managedFields !== undefined) attributes.object = withEntries(object, undefined);
    return undefined;
  }
  const entries = converted(write, type, (forms) =>
    done(write, attributes.isLarge, entriesIn(attributes, { kinds: write.kinds, forms })),
  );
  if (entries instanceof Promise) {
    return entries.then((known) => {
      attributes.object = withEntries(object, known);
    });
  }
  attributes.object = withEntries(object, entries);
  return undefined;
}

function entriesIn(attributes: Attributes, parts: Pick<WriteContext, 'forms' | 'kinds'>): InParts<Entries> {
  const { old, type, kind, subresource } = attributes;
  const versions = otherVersions(parts, type, () => NO_FIELDS);
  const object = asGiven(attributes);
  return entriesOfUpdateInParts(object, old!, kind.owned, writerOf(attributes), subresource === '', versions);
}

/** The object with the lists that its client gave empty: who gives one owns it. */
function asGiven({ object, emptied, type, kind, subresource }: Attributes): JsonObject {
  if (emptied.length === 0) return object;
  return withEmptied(object, emptied, resetFields(type, kind.owned, subresource, [object]));
}
