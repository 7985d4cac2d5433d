// The checks of definitions and custom objects that take long, as they run in the pool's thread: long-checks.ts says which.

import { loadPatterns } from '../../api/custom/checks/patterns.ts';
import { parseSchema } from '../../api/custom/definitions/schema-text.ts';
import { objectErrors } from '../../api/custom/forms/custom-schema.ts';
import { parseExact } from '../../api/json/exact-json.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import type { FieldError } from '../../api/status/field-error.ts';
import { objectValidation, type ValidatedType } from '../../api/validation/object-validation.ts';
import { DIALECTS, type DialectName } from '../../config/dialect.ts';
import { parseFeatureGates } from '../../config/feature-gates.ts';

/** What validation goes by. Plain data. */
export interface KindCheckSettings {
  /** `--allow-privileged`. */
  readonly allowPrivileged: boolean;
  /** `--feature-gates`. */
  readonly featureGates: string;
}

export interface KindCheck {
  readonly dialect: DialectName;
  readonly settings: KindCheckSettings;
  readonly type: ValidatedType;
  /** JSON. */
  readonly objectText: string;
  /** JSON of the object that it is to replace; undefined: it is new. */
  readonly storedText: string | undefined;
  /** Which part of it was written. */
  readonly subresource: string;
}

export interface CustomCheck {
  /** Tells the schema from all others of the asking thread. */
  readonly number: number;
  /** JSON; undefined: it was told before. */
  readonly schemaText: string | undefined;
  readonly prefix: string;
  /** JSON. */
  readonly objectText: string;
  /** JSON of the object that it is to replace; undefined where that does not matter. */
  readonly storedText: string | undefined;
  /** `CustomUpdate.isStatusAlone`. */
  readonly isStatusAlone: boolean;
}

/** A job: what is wrong with an object of a built-in kind. */
export async function errorsInKind(check: KindCheck): Promise<readonly FieldError[]> {
  await loadPatterns();
  const { type, settings, objectText, storedText, subresource } = check;
  const dialect = DIALECTS[check.dialect];
  const gates = parseFeatureGates(settings.featureGates, dialect);
  const validation = objectValidation(schemaOf(dialect), {
    allowPrivileged: settings.allowPrivileged,
    gate: (name) => gates.enabled(name),
  });
  const object = parseExact(objectText) as JsonObject;
  if (storedText === undefined) return validation.create(object, type);
  return validation.update(object, parseExact(storedText) as JsonObject, type, subresource);
}

/** Compiled schemas that are kept: each may be of megabytes. */
const SCHEMAS_MAX = 4;
const schemas = new Map<number, ReturnType<typeof objectErrors>>();

/** A job: what is wrong with a custom object. Undefined where its schema has to be told first. */
export async function errorsInCustom(check: CustomCheck): Promise<readonly FieldError[] | undefined> {
  await loadPatterns();
  const { number, schemaText, prefix, objectText, storedText, isStatusAlone } = check;
  let errorsIn = schemas.get(number);
  if (errorsIn === undefined) {
    if (schemaText === undefined) return undefined;
    errorsIn = objectErrors(parseSchema(schemaText), prefix);
    schemas.set(number, errorsIn);
    const [oldest] = schemas.keys();
    if (schemas.size > SCHEMAS_MAX) schemas.delete(oldest!);
  }
  const object = parseExact(objectText) as JsonObject;
  const before = storedText === undefined ? object : (parseExact(storedText) as JsonObject);
  return errorsIn(object, isStatusAlone || storedText !== undefined ? { before, isStatusAlone } : undefined);
}
