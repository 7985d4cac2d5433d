// What is wrong with one field of an object, and the 422 that lists such errors. Validation collects FieldErrors; it
// never throws them one by one.
import type { Own } from '../json/own-copy.ts';
import { failure, quote } from './failures.ts';
import { showValue } from './shown-value.ts';
import type { Status, StatusCause, StatusDetails } from './status.ts';

export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError';

/** `path` is dotted, with `[0]` or `[key]` for elements; `message` begins with the reason's words. */
export interface FieldError {
  readonly path: string;
  readonly reason: FieldErrorReason;
  readonly message: string;
}

/** The list for objects without errors: shared, so that the usual case allocates nothing. */
export const NO_FIELD_ERRORS: readonly FieldError[] = Object.freeze([]);

/** Errors beyond these are counted, not listed, so that a bad body of megabytes gets an answer of kilobytes. */
const ERRORS_LISTED_MAX = 200;

/** A schema lists as many values as it has room for, and an object has as many errors: their product must not be an answer. */
const SUPPORTED_CHARACTERS_MAX = 16 * 1024;

/** A field that must be there and is not. */
export function required(path: string, detail = ''): FieldError {
  return { path, reason: 'FieldValueRequired', message: withDetail('Required value', detail) };
}

/** A value that the field cannot have; `detail` says why. */
export function invalid(path: string, value: unknown, detail = ''): FieldError {
  return { path, reason: 'FieldValueInvalid', message: withDetail(`Invalid value: ${showValue(value)}`, detail) };
}

/** A value that is none of those that there are. */
export function notSupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  return notListed(path, value, supportedText(supported));
}

/** The same where the values that there are stand in a text already (`supportedText`), which many errors have in common. */
export function notListed(path: string, value: unknown, supported: string): FieldError {
  const message = withDetail(`Unsupported value: ${showValue(value)}`, supported);
  return { path, reason: 'FieldValueNotSupported', message };
}

/** What is said of the values that there are: of very many the first ones. */
export function supportedText(supported: readonly string[]): string {
  let list = '';
  for (const value of supported) {
    if (list.length + value.length > SUPPORTED_CHARACTERS_MAX) return `supported values: ${list}, …`;
    list += `${list === '' ? '' : ', '}${quote(value)}`;
  }
  return list === '' ? '' : `supported values: ${list}`;
}

/** A field that must not be there, or not be changed, as things stand. */
export function forbidden(path: string, detail: string): FieldError {
  return { path, reason: 'FieldValueForbidden', message: withDetail('Forbidden', detail) };
}

/** A value that stands in its list more than once. */
export function duplicate(path: string, value: unknown): FieldError {
  return { path, reason: 'FieldValueDuplicate', message: `Duplicate value: ${showValue(value)}` };
}

/** A reference to what is not there. */
export function notFound(path: string, value: unknown): FieldError {
  return { path, reason: 'FieldValueNotFound', message: `Not found: ${showValue(value)}` };
}

/** A value of more than `bytesMax` bytes. */
export function tooLong(path: string, bytesMax: number): FieldError {
  return { path, reason: 'FieldValueTooLong', message: `Too long: must have at most ${bytesMax} bytes` };
}

export function tooMany(path: string, count: number, countMax: number): FieldError {
  return { path, reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${countMax} items` };
}

/** 422 with ready causes. `kind` is the Kind, empty for a patch that makes no object; `name` is empty for options and for objects not named yet. */
function invalidStatus(
  kind: string,
  group: string,
  name: string,
  message: string,
  causes: readonly StatusCause[],
): Status {
  const subject = group === '' ? kind : `${kind}.${group}`;
  const details: Own<StatusDetails> = {};
  if (name !== '') details.name = name;
  if (group !== '') details.group = group;
  if (kind !== '') details.kind = kind;
  if (causes.length > 0) details.causes = causes;
  const ending = message === '' ? '' : `: ${message}`;
  return failure(422, 'Invalid', `${subject} ${quote(name)} is invalid${ending}`, details);
}

/** The texts of field errors as one (equal ones once). */
export function joinedErrors(errors: readonly FieldError[]): string {
  const listed = errors.length > ERRORS_LISTED_MAX ? errors.slice(0, ERRORS_LISTED_MAX) : errors;
  const texts = new Set(listed.map((error) => `${error.path}: ${error.message}`));
  if (listed.length < errors.length) texts.add(`and ${errors.length - listed.length} more`);
  if (texts.size === 0) return '';
  return texts.size === 1 ? [...texts].join() : `[${[...texts].join(', ')}]`;
}

/** 422 of an object's field errors: one cause each, and their texts joined in the message. */
export function invalidFrom(kind: string, group: string, name: string, errors: readonly FieldError[]): Status {
  const listed = errors.length > ERRORS_LISTED_MAX ? errors.slice(0, ERRORS_LISTED_MAX) : errors;
  const causes = listed.map(({ path, reason, message }): StatusCause => ({ reason, message, field: path }));
  return invalidStatus(kind, group, name, joinedErrors(errors), causes);
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
