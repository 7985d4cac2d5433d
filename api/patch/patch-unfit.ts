// A patch that applies, to something that is no object of its type: 422 with the cause at `patch`, as clients know it.

import { DecodeError, type Mismatch } from '../codec/decode-error.ts';
import { type OtherKind, otherKindText } from '../conversion/other-kind.ts';
import { isInteger } from '../json/exact-json.ts';
import { isJsonObject } from '../json/json-value.ts';
import { invalid, invalidFrom } from '../status/field-error.ts';
import { StatusError } from '../status/status.ts';

/**
 * What `read` makes of a patched object. Throws StatusError 422 in place of a DecodeError.
 *
 * @param patch as it was sent, for the message.
 */
export function readPatched<T>(patch: unknown, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const detail = error.mismatch === undefined ? error.message : `${restoreText(error.mismatch)} at ${error.path}`;
    throw unfit(patch, detail);
  }
}

/** The error for a patch of which nothing comes that its endpoint knows. */
export function unfit(patch: unknown, detail: string): StatusError {
  return new StatusError(invalidFrom('', '', '', [invalid('patch', JSON.stringify(patch), detail)]));
}

/** The error for a patch that makes an object one of another kind. */
export function unfitKind(patch: unknown, other: OtherKind): StatusError {
  return unfit(patch, otherKindText(other));
}

/** Begins with the words that clients compare. */
function restoreText({ expected, value }: Mismatch): string {
  const found = kindOf(value);
  if (expected.startsWith('list of ')) return `cannot restore slice from ${found}`;
  if (expected.startsWith('map of ')) return `cannot restore map from ${found}`;
  if (expected === 'bytes') return `cannot restore slice from ${found}`;
  const kind = SCALARS[expected];
  if (kind === undefined) return `cannot restore struct from: ${found}`;
  return CONVERTED[found]?.includes(kind) === true
    ? `cannot convert ${found} to ${kind}`
    : `unrecognized type: ${kind}`;
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  Quantity: 'Quantity',
};

/** What the original's language could make of a number; of anything else it makes nothing, and says another thing. */
const CONVERTED: Readonly<Record<string, readonly string[]>> = {
  int64: ['string', 'int32', 'int64', 'float64'],
  float64: ['int32', 'int64', 'float64'],
};

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (isJsonObject(value)) return 'map';
  if (isInteger(value)) return 'int64';
  if (typeof value === 'number') return 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
