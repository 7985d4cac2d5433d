// What a body is refused with that is of another kind or version than its endpoint takes, or cannot be one of its kind.
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { otherKindText } from '../../../api/conversion/other-kind.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import type { Schema } from '../../../api/schema/schema.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { invalid, invalidFrom } from '../../../api/status/field-error.ts';
import { StatusError } from '../../../api/status/status.ts';

interface GivenKind {
  readonly apiVersion: string;
  readonly kind: string;
}

interface EndpointKind extends GivenKind {
  /** Of a kind that a definition made. */
  readonly custom?: object | undefined;
}

/** What `read` makes of a body. Throws StatusError 400 in place of a DecodeError, beginning as clients know it. */
export function handledAs<T>(expected: EndpointKind, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw unhandled(expected, expected, error.message);
  }
}

/** The error for an object that names another kind or version than the endpoint's. */
export function otherThanExpected(
  schema: Schema,
  object: JsonObject,
  given: GivenKind,
  expected: EndpointKind,
): StatusError {
  const { apiVersion, kind } = given;
  const { group, version } = splitApiVersion(apiVersion);
  const isKnown = schema.kind(group, version, kind) !== undefined;
  // A kind of that name can be converted: only the endpoint of its version is another.
  const isOfKind = expected.custom !== undefined || (isKnown && kind === expected.kind);
  if (isOfKind && apiVersion !== expected.apiVersion) {
    const text = `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`;
    return new StatusError(badRequest(text));
  }
  if (expected.custom !== undefined) {
    const errors = [invalid('kind', kind, `must be ${expected.kind}`)];
    return new StatusError(invalidFrom(kind, group, metadataOf(object).name ?? '', errors));
  }
  const within = { ...splitApiVersion(expected.apiVersion), kind: expected.kind };
  return unhandled(given, expected, otherKindText({ apiVersion, kind, expected: within, isKnown }));
}

/** Of an applied object. Its version is compared before its kind. */
export function otherThanApplied({ apiVersion, kind }: GivenKind, expected: EndpointKind): StatusError {
  const text =
    apiVersion === expected.apiVersion
      ? `the kind in the data (${kind}) does not match the expected kind (${expected.kind})`
      : `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${expected.apiVersion}`;
  return new StatusError(badRequest(text));
}

function unhandled({ apiVersion, kind }: GivenKind, expected: EndpointKind, why: string): StatusError {
  const { version } = splitApiVersion(apiVersion);
  const text = `${kind} in version "${version}" cannot be handled as a ${expected.kind}: ${why}`;
  return new StatusError(badRequest(text));
}
