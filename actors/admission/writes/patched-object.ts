// What a patch has made of an object, read as an object of its type: the patch may name another version of it, which is converted,
// and no other kind.
import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { STRATEGIC_MERGE_PATCH } from '../../../api/patch/apply-patch.ts';
import { readPatched, unfit, unfitKind } from '../../../api/patch/patch-unfit.ts';
import { type KnownType, splitApiVersion } from '../../../api/resources/resource-table.ts';
import { type FieldError, invalid, invalidFrom } from '../../../api/status/field-error.ts';
import { StatusError } from '../../../api/status/status.ts';
import { canonical, type ExpectedKind, kindOf, kindTexts, missingKindText } from '../bodies/request-body.ts';
import type { WriteContext } from '../write-context.ts';

/** A patch that was applied to an object, or to a view of one. */
export interface AppliedPatch {
  readonly contentType: string;
  readonly patch: unknown;
  readonly result: JsonObject;
  readonly type: KnownType;
  readonly expected: ExpectedKind;
}

/** The patched object in canonical form, with what was noted on the way there. Throws StatusError 422. */
export function readPatchedObject(
  write: WriteContext,
  forms: StoredForm,
  { contentType, patch, result, type, expected }: AppliedPatch,
): ReturnType<typeof canonical> {
  const isStrategic = contentType === STRATEGIC_MERGE_PATCH;
  const isObject = expected.apiVersion === type.apiVersion && expected.kind === type.kind;
  const isCustom = isObject && type.custom !== undefined;
  return readPatched(patch, () => {
    if (isCustom) requireNamedKind(patch, result);
    // Nothing is read of an object that does not say its version, as in 1.21: it is refused for having no name.
    else if (!isStrategic && (result.apiVersion ?? '') === '') return canonical(write.schema, {}, expected);
    const { apiVersion, kind } = kindTexts(result, expected);
    // What a strategic merge patch makes of an object is of the object's type, whatever kind and version the patch names: clients
    // patch a scale with the kind of its owner.
    if (isStrategic || (apiVersion === expected.apiVersion && kind === expected.kind)) {
      return canonical(write.schema, result, expected);
    }
    if (isCustom) throw otherThanDefined(result, { apiVersion, kind }, type);
    const other = isObject && kind === type.kind ? forms.inVersion(type, apiVersion) : undefined;
    if (other !== undefined) {
      const { object, ...noted } = canonical(write.schema, result, kindOf(other));
      return { object: forms.between(other, type)(object), ...noted };
    }
    const { group, version } = splitApiVersion(apiVersion);
    const isKnown = write.registry.byKind(group, version, kind) !== undefined;
    const within = splitApiVersion(expected.apiVersion);
    throw unfitKind(patch, { apiVersion, kind, expected: { ...within, kind: expected.kind }, isKnown });
  });
}

function requireNamedKind(patch: unknown, object: JsonObject): void {
  const missing = missingKindText(object);
  if (missing !== undefined) throw unfit(patch, missing);
}

/** Which kind and version a custom object is of is a rule of its type. */
function otherThanDefined(
  object: JsonObject,
  given: { apiVersion: string; kind: string },
  type: KnownType,
): StatusError {
  const errors: FieldError[] = [];
  for (const member of ['kind', 'apiVersion'] as const) {
    if (given[member] !== type[member]) errors.push(invalid(member, given[member], `must be ${type[member]}`));
  }
  const { group } = splitApiVersion(given.apiVersion);
  return new StatusError(invalidFrom(given.kind, group, metadataOf(object).name ?? '', errors));
}
