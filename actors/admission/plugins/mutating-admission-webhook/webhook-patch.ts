// What a webhook's patch makes of an object. A patch that cannot be applied, or makes something else of the object, refuses the
// write whatever the policy of the webhook: it has answered, and is wrong. One of a type that is not known is no answer. Pure.

import { decode } from '../../../../api/codec/decode.ts';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import type { Features } from '../../../../api/codec/default-rules.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import { jsonCopy } from '../../../../api/json/json-copy.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { textAt } from '../../../../api/json/object-fields.ts';
import { applyJsonPatch, PatchNotApplicable } from '../../../../api/patch/json-patch.ts';
import { splitApiVersion } from '../../../../api/resources/resource-table.ts';
import type { Schema } from '../../../../api/schema/schema.ts';
import { defaultsTooLarge, internalError } from '../../../../api/status/failures.ts';
import { isStatusError, StatusError } from '../../../../api/status/status.ts';
import { BodyError, DEPTH_MAX, isTooDeep, valueOfJson } from '../../../../transport/body.ts';
import { NO_OBJECT } from '../../attributes.ts';
import type { Hook } from '../../hooks/hook.ts';
import { type HookAnswer, type Told, UnusableAnswer } from '../webhooks/review.ts';
import { isOf } from '../webhooks/told-versions.ts';

/** What was told, as which type. */
type ToldObject = Pick<Told, 'object' | 'type'>;

export interface Patched {
  /** In canonical form and with its defaults; undefined where it is as it was. */
  readonly object: JsonObject | undefined;
  /** What was done to it. */
  readonly operations: unknown;
}

/** What a patch has come to; undefined where there is none. Throws StatusError 500, and UnusableAnswer. */
export function patchedBy(
  { name }: Hook,
  { patch, patchType }: HookAnswer,
  told: ToldObject,
  schema: Schema,
  features: Features,
): Patched | undefined {
  if (patch === '') return undefined;
  const { object } = told;
  const quoted = JSON.stringify(name);
  const operations = parsed(patch, quoted);
  if (Array.isArray(operations) && operations.length === 0) return undefined;
  if (object === NO_OBJECT)
    throw refused(
      `admission webhook ${quoted} attempted to modify the object, which is not supported for this operation`,
    );
  if (patchType !== 'JSONPatch') throw new UnusableAnswer(`unsupported patch type ${JSON.stringify(patchType)}`);
  const changed = canonical(applied(object, operations, quoted), told, quoted, schema, features);
  return { object: deepEqual(changed, object) ? undefined : changed, operations };
}

function parsed(patch: string, quoted: string): unknown {
  // It stands in the answer as a text, so that nobody has looked into it; as it is, it is said in an annotation.
  if (patch.length > DEPTH_MAX && isTooDeep(Buffer.from(patch)))
    throw refused(`the patch of admission webhook ${quoted} nests deeper than ${DEPTH_MAX} levels`);
  try {
    return valueOfJson(patch);
  } catch (error) {
    const why = error instanceof BodyError ? `cannot be read: ${error.message}` : 'is no JSON';
    throw refused(`the patch of admission webhook ${quoted} ${why}`);
  }
}

function applied(object: JsonObject, operations: unknown, quoted: string): JsonObject {
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const why = (error instanceof PatchNotApplicable && error.detail) || error.message;
    throw refused(`the patch of admission webhook ${quoted} cannot be applied: ${why}`);
  }
}

function canonical(
  patched: JsonObject,
  told: ToldObject,
  quoted: string,
  schema: Schema,
  features: Features,
): JsonObject {
  const { object } = told;
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  const { group, version } = splitApiVersion(apiVersion);
  const type = schema.kind(group, version, kind);
  // A built-in object need not say what it is.
  const changed = type === undefined ? patched : withKind(patched, apiVersion, kind);
  if (changed.apiVersion !== apiVersion || changed.kind !== kind)
    throw refused(`the patch of admission webhook ${quoted} makes another kind of the object`);
  if (type === undefined) return completedCustom(changed, told);
  try {
    // A copy: what the patch has left alone is still others', and is changed in place.
    const { object: result } = decode(jsonCopy(changed), type);
    applyDefaults(result as Record<string, unknown>, type, features);
    return result;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refused(`what admission webhook ${quoted} makes of the object cannot be read: ${error.message}`);
  }
}

/** The object with these where it has none. */
function withKind(object: JsonObject, apiVersion: string, kind: string): JsonObject {
  const { apiVersion: ownVersion, kind: ownKind } = object;
  return { ...object, apiVersion: ownVersion || apiVersion, kind: ownKind || kind };
}

/** A custom object is given what the version that the webhook was told gives: it may know no other. */
function completedCustom(changed: JsonObject, { object, type }: ToldObject): JsonObject {
  const { custom } = type;
  if (custom === undefined || !isOf(object, type)) return changed;
  const copy = jsonCopy(changed) as JsonObject;
  if (custom.schema.complete(copy, true)) return copy;
  throw new StatusError(defaultsTooLarge());
}

function refused(detail: string): StatusError {
  return new StatusError(internalError(detail));
}
