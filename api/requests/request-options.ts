// The rules of request options: what dryRun, fieldManager, force, propagationPolicy and resourceVersionMatch may say.
// Options come parsed: this file knows values, not query parameters.
import * as wrong from '../status/field-error.ts';
import { type FieldError, invalidFrom, NO_FIELD_ERRORS } from '../status/field-error.ts';
import { StatusError } from '../status/status.ts';

/** Options of create and update. */
export interface WriteOptions {
  readonly dryRun?: readonly string[] | undefined;
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: string | undefined;
}

export interface PatchOptions extends WriteOptions {
  readonly force?: boolean | undefined;
}

/** DeleteOptions, from the body or the query. */
export interface DeleteOptions {
  readonly dryRun?: readonly string[] | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** Throws StatusError 422 about the options when there are errors. `metaGroup` is the dialect's. */
export function requireValidOptions(kind: OptionsKind, metaGroup: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new StatusError(invalidFrom(kind, metaGroup, '', errors));
}

const FIELD_MANAGER_BYTES_MAX = 128;
/** Letters, marks, numbers, punctuation, symbols and the plain space: what can be printed. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const PLAIN_ASCII = /^[ -~]{0,128}$/;

/** Errors of the name of a field manager. */
export function validateFieldManager(manager: string, path: string): readonly FieldError[] {
  if (PLAIN_ASCII.test(manager)) return NO_FIELD_ERRORS;
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > FIELD_MANAGER_BYTES_MAX) errors.push(wrong.tooLong(path, FIELD_MANAGER_BYTES_MAX));
  if (!PRINTABLE.test(manager)) errors.push(...unprintable(manager, path));
  return errors;
}

/** Each of the characters that cannot be printed, as far as a name may go. */
function unprintable(manager: string, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  let position = 0;
  for (const character of manager) {
    if (position > FIELD_MANAGER_BYTES_MAX) break;
    if (!PRINTABLE.test(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(wrong.invalid(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

/** `All` or empty (SPEC.md "Dry run"). */
function validateDryRun(dryRun: readonly string[] | undefined): readonly FieldError[] {
  const isKnown = dryRun?.every((value) => value === 'All' || value === '') ?? true;
  return isKnown ? NO_FIELD_ERRORS : [wrong.notSupported('dryRun', dryRun, ['All'])];
}

/** True when options ask for everything but the write. Call on valid options. */
export function isDryRun(options: { readonly dryRun?: readonly string[] | undefined }): boolean {
  return options.dryRun?.includes('All') ?? false;
}

/** Errors of the options of a create or an update. */
export function validateWriteOptions(options: WriteOptions): readonly FieldError[] {
  const dryRun = validateDryRun(options.dryRun);
  const manager = validateFieldManager(options.fieldManager ?? '', 'fieldManager');
  const fields = validateFieldValidation(options.fieldValidation ?? '');
  if (dryRun.length + manager.length + fields.length === 0) return NO_FIELD_ERRORS;
  return [...manager, ...dryRun, ...fields];
}

const FIELD_VALIDATIONS: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

function validateFieldValidation(value: string): readonly FieldError[] {
  return FIELD_VALIDATIONS.includes(value)
    ? NO_FIELD_ERRORS
    : [wrong.notSupported('fieldValidation', value, FIELD_VALIDATIONS.slice(1))];
}

/** Errors of the options of a patch. An apply needs a field manager and alone may be forced. */
export function validatePatchOptions(options: PatchOptions, isApply: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (isApply && (options.fieldManager ?? '') === '')
    errors.push(wrong.required('fieldManager', 'is required for apply patch'));
  if (!isApply && options.force !== undefined)
    errors.push(wrong.forbidden('force', 'may not be specified for non-apply patch'));
  errors.push(...validateWriteOptions(options));
  return errors.length === 0 ? NO_FIELD_ERRORS : errors;
}

const PROPAGATION_POLICIES: readonly string[] = ['Foreground', 'Background', 'Orphan'];

/** Errors of the options of a delete. */
export function validateDeleteOptions(options: DeleteOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy, orphanDependents } = options;
  if (policy !== undefined) {
    if (orphanDependents !== undefined) {
      errors.push(
        wrong.invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
      );
    }
    if (!PROPAGATION_POLICIES.includes(policy)) {
      errors.push(wrong.notSupported('propagationPolicy', policy, [...PROPAGATION_POLICIES, 'nil']));
    }
  }
  errors.push(...validateDryRun(options.dryRun));
  return errors.length === 0 ? NO_FIELD_ERRORS : errors;
}
