// What the schemas of a definition are held to, in both versions of it. v1beta1 asks for less than v1, and no version asks more of a stored
// definition than it was let in with: whoever labels an old one need not mend its schemas.
import { EFFORT, spend } from '../../custom/checks/effort.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asObject } from '../../json/object-fields.ts';
import type { Report } from '../report.ts';
import type { Rule } from '../rule.ts';
import { hasOddType } from '../schema-vocabulary.ts';
import { checkCustomSchema, isStructural, schemasInside } from '../structural-schema.ts';

interface Version {
  readonly served?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: JsonObject };
  readonly subresources?: Subresources;
}

interface Subresources {
  readonly status?: object | null;
}

/** Of a definition's spec, what is about schemas. */
interface SchemaSpec {
  readonly versions?: readonly Version[] | null;
  /** In v1beta1, for all versions. */
  readonly validation?: { readonly openAPIV3Schema?: JsonObject };
  readonly subresources?: Subresources;
  readonly preserveUnknownFields?: boolean | null;
}

type Test = (schema: JsonObject) => boolean;

const hasStatus = (subresources: Subresources | undefined): boolean => isJsonObject(subresources?.status);

/** Each schema with its path, and whether the status has an endpoint of its own. */
function* schemasIn({ versions, validation, subresources }: SchemaSpec): Generator<[string, JsonObject, boolean]> {
  const list = versions ?? [];
  const isPerVersion = list.some((version) => isJsonObject(version.subresources));
  for (const [index, { schema, subresources: own }] of list.entries()) {
    if (!isJsonObject(schema?.openAPIV3Schema)) continue;
    const status = hasStatus(isPerVersion ? own : subresources);
    yield [`versions[${index}].schema.openAPIV3Schema`, schema.openAPIV3Schema, status];
  }
  if (!isJsonObject(validation?.openAPIV3Schema)) return;
  const status = hasStatus(subresources) || list.some((version) => hasStatus(version.subresources));
  yield ['validation.openAPIV3Schema', validation.openAPIV3Schema, status];
}

function hasSchema({ schema }: Version): boolean {
  return isJsonObject(schema?.openAPIV3Schema);
}

function isForAll({ validation }: SchemaSpec): boolean {
  return isJsonObject(validation?.openAPIV3Schema);
}

function someSchema(spec: SchemaSpec, test: Test): boolean {
  for (const [, schema] of schemasIn(spec)) if (holdsWithin(schema, test)) return true;
  return false;
}

/** Whether a test holds of a schema or of one inside it. */
function holdsWithin(schema: JsonObject, test: Test): boolean {
  spend(EFFORT.schema);
  if (test(schema)) return true;
  return schemasInside(schema).some((one) => isJsonObject(one) && holdsWithin(one, test));
}

const hasDefault: Test = (schema) => schema.default !== undefined && schema.default !== null;

/** Words of our own mean nothing in a schema that is not structural. */
function hasOwnWord(prefix: string): Test {
  return (schema) =>
    schema[`${prefix}embedded-resource`] === true ||
    schema[`${prefix}int-or-string`] === true ||
    typeof schema[`${prefix}preserve-unknown-fields`] === 'boolean';
}

function storedSpec(at: Report): SchemaSpec | undefined {
  return at.stored === undefined ? undefined : (asObject(at.stored.spec) as SchemaSpec);
}

function mayDefault(at: Report, isOlder: boolean): boolean {
  const stored = storedSpec(at);
  return !isOlder || (stored !== undefined && someSchema(stored, hasDefault));
}

/** v1beta1 never asked what a type is called. */
function anyType(at: Report, isOlder: boolean): boolean {
  const stored = storedSpec(at);
  return isOlder || (stored !== undefined && someSchema(stored, hasOddType));
}

function mustBeStructural(spec: SchemaSpec, at: Report, isOlder: boolean): boolean {
  if (spec.preserveUnknownFields !== true) return true;
  const stored = storedSpec(at);
  if (!isOlder && (stored === undefined || !someOther(stored, at))) return true;
  if (mayDefault(at, isOlder) && someSchema(spec, hasDefault)) return true;
  return someSchema(spec, hasOwnWord(at.dialect.openapiExtensionPrefix));
}

/** Whether a schema is not structural. */
function someOther(spec: SchemaSpec, at: Report): boolean {
  for (const [, schema] of schemasIn(spec)) if (!isStructural(schema, at)) return true;
  return false;
}

const PRUNED = 'because otherwise all fields are pruned';

function neededIn(isOlder: boolean): Rule<SchemaSpec> {
  return (spec, at) => {
    const stored = storedSpec(at);
    const keepsUnknown = spec.preserveUnknownFields === true;
    const keepsAnew = keepsUnknown && !isOlder && stored?.preserveUnknownFields !== true;
    if (keepsAnew) {
      at.invalid('preserveUnknownFields', true, 'must be false; the schema can keep unknown fields where it says so');
    }
    const isOfAll = !isOlder && (stored === undefined || isForAll(stored) || (stored.versions ?? []).every(hasSchema));
    for (const [index, version] of (isForAll(spec) ? [] : (spec.versions ?? [])).entries()) {
      if (hasSchema(version) || !(isOfAll || (version.served === true && !keepsUnknown))) continue;
      at.required(`versions[${index}].schema.openAPIV3Schema`, isOfAll ? 'schemas are required' : PRUNED);
    }
    if (keepsUnknown && !keepsAnew && mayDefault(at, isOlder) && someSchema(spec, hasDefault)) {
      at.invalid('preserveUnknownFields', true, 'must be false in order to use defaults in the schema');
    }
  };
}

function eachIn(isOlder: boolean): Rule<SchemaSpec> {
  return (spec, at) => {
    const rules = {
      structural: mustBeStructural(spec, at, isOlder),
      mayDefault: mayDefault(at, isOlder),
      anyType: anyType(at, isOlder),
    };
    for (const [path, schema, status] of schemasIn(spec)) {
      at.enter(path);
      checkCustomSchema(schema, { ...rules, hasStatus: status }, at);
      at.leave();
    }
  };
}

/** Which schemas there must be, and what each may say. */
export const schemaRules = { needed: neededIn(false), each: eachIn(false) } as const;

/** The same of v1beta1. */
export const olderSchemaRules = { needed: neededIn(true), each: eachIn(true) } as const;
