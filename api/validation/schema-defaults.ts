// Defaults in the schemas of custom resource definitions: each is what its schema admits, and has nothing that pruning would
// take away.
import { DecodeError } from '../codec/decode-error.ts';
import { arePatternsLoaded } from '../custom/checks/patterns.ts';
import { type PlacedCheck, placedCheckOf } from '../custom/checks/placed-checks.ts';
import { valueCheckOf } from '../custom/checks/value-checks.ts';
import { ValueReport } from '../custom/checks/value-report.ts';
import { type Coercer, coercerOf } from '../custom/forms/embedded-metadata.ts';
import { embeddedCheck } from '../custom/forms/embedded-objects.ts';
import { Pruned, pruneValue } from '../custom/forms/pruning.ts';
import { structureOf, TYPE_MEMBERS } from '../custom/forms/structure.ts';
import { deepEqual } from '../json/deep-equal.ts';
import { jsonCopy } from '../json/json-copy.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';
import { schemaOf } from '../schema/schema.ts';
import { type FieldError, invalid } from '../status/field-error.ts';
import { shownJson } from '../status/shown-value.ts';
import type { Report } from './report.ts';

/** Where a default stands in the object that it is a part of. */
interface Place {
  /** In one of the members that every whole object has. */
  readonly isOfMetadata: boolean;
  /** The checks of the whole object around it, and that object with nothing in it but what leads to a value. */
  readonly whole: () => WholeChecks;
  readonly around: (value: unknown) => unknown;
}

/** What a schema says of whole objects in a value. */
interface WholeChecks {
  readonly coerce: Coercer | undefined;
  readonly check: PlacedCheck | undefined;
}

/** Reports what is wrong with the defaults of a structural schema, below where `at` stands. */
export function checkDefaults(schema: JsonObject, at: Report): void {
  const whole = { ...schema, [`${at.dialect.openapiExtensionPrefix}embedded-resource`]: true };
  checkNode(whole, placeOf(whole, at), at);
}

/** Of the schema of a whole object, compiled once for all the defaults in it. */
function placeOf(schema: JsonObject, at: Report): Place {
  const around = (value: unknown): unknown => ({ apiVersion: 'validation/v1', kind: 'Validation', ...asObject(value) });
  let checks: WholeChecks | undefined;
  const whole = (): WholeChecks => {
    checks ??= wholeChecks(schema, at);
    return checks;
  };
  return { isOfMetadata: false, whole, around };
}

/** What a map's values would be by default is nobody's to say: there are none. */
function checkNode(node: JsonObject, outer: Place, at: Report): void {
  const isEmbedded = node[`${at.dialect.openapiExtensionPrefix}embedded-resource`] === true;
  const place = isEmbedded ? placeOf(node, at) : outer;
  if (node.default !== undefined && node.default !== null) checkDefault(node, place, at);
  const { around } = place;
  if (isJsonObject(node.items)) {
    at.enter('items');
    checkNode(node.items, { ...place, around: (value) => around([value]) }, at);
    at.leave();
  }
  for (const [name, child] of Object.entries(asObject(node.properties))) {
    if (!isJsonObject(child)) continue;
    at.enter(`properties[${name}]`);
    const isOfMetadata = place.isOfMetadata || (isEmbedded && TYPE_MEMBERS.has(name));
    checkNode(child, { ...place, isOfMetadata, around: (value) => around({ [name]: value }) }, at);
    at.leave();
  }
}

function checkDefault(node: JsonObject, place: Place, at: Report): void {
  const prefix = at.dialect.openapiExtensionPrefix;
  const value = node.default;
  if (!place.isOfMetadata && !deepEqual(prunedOf(value, node, prefix), value)) {
    at.invalid('default', shownJson(value), 'must not have unknown fields');
  }
  if (!arePatternsLoaded()) return;
  const { whole, around } = place;
  const errors = place.isOfMetadata
    ? wholeErrors(around(value), whole(), '')
    : wholeErrors(value, wholeChecks(node, at), at.path('default'));
  if (errors.length > 0 && place.isOfMetadata) {
    const problems = errors.map(({ path, message }) => `${path}: ${message}`);
    at.invalid('default', value, `must result in valid metadata: ${problems.join(', ')}`);
  } else if (errors.length > 0) at.addAll(errors);
  else {
    // A set with an element twice is let in, as it is by the original.
    const report = new ValueReport(at.path('default'));
    valueCheckOf(node, prefix)(value, report);
    at.addAll(report.errors);
  }
}

function wholeChecks(schema: JsonObject, { dialect }: Report): WholeChecks {
  const prefix = dialect.openapiExtensionPrefix;
  return {
    coerce: coercerOf(structureOf(schema, prefix), schemaOf(dialect).type('meta/v1.ObjectMeta')),
    check: placedCheckOf(schema, (one) => embeddedCheck(one, prefix)),
  };
}

/** What is wrong with whole objects in a value, with paths below `path`. The value stays as it is. */
function wholeErrors(value: unknown, { coerce, check }: WholeChecks, path: string): readonly FieldError[] {
  const copy = jsonCopy(value);
  try {
    coerce?.(copy, new Pruned(), 'told');
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [invalid(path, value, error.message)];
  }
  const report = new ValueReport(path);
  check?.(copy, report);
  return report.errors;
}

function prunedOf(value: unknown, node: JsonObject, prefix: string): unknown {
  const copy = jsonCopy(value);
  pruneValue(copy, structureOf(node, prefix));
  return copy;
}
