// Defaults in the schemas of custom resource definitions: each is what its schema admits, and has nothing that pruning would
// take away.
import { DecodeError } from '../codec/decode-error.ts';
import { arePatternsLoaded } from '../custom/checks/patterns.ts';
import { placedCheckOf } from '../custom/checks/placed-checks.ts';
import { valueCheckOf } from '../custom/checks/value-checks.ts';
import { ValueReport } from '../custom/checks/value-report.ts';
import { coercerOf } from '../custom/forms/embedded-metadata.ts';
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
  /** The schema of the whole object around it, and that object with nothing in it but what leads to a value. */
  readonly whole: JsonObject;
  readonly around: (value: unknown) => unknown;
}

/** Reports what is wrong with the defaults of a structural schema, below where `at` stands. */
export function checkDefaults(schema: JsonObject, at: Report): void {
  const whole = { ...schema, [`${at.dialect.openapiExtensionPrefix}embedded-resource`]: true };
  checkNode(whole, placeOf(whole), at);
}

function placeOf(whole: JsonObject): Place {
  const around = (value: unknown): unknown => ({ apiVersion: 'validation/v1', kind: 'Validation', ...asObject(value) });
  return { isOfMetadata: false, whole, around };
}

/** What a map's values would be by default is nobody's to say: there are none. */
function checkNode(node: JsonObject, outer: Place, at: Report): void {
  const isEmbedded = node[`${at.dialect.openapiExtensionPrefix}embedded-resource`] === true;
  const place = isEmbedded ? placeOf(node) : outer;
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
    ? wholeErrors(around(value), whole, '', at)
    : wholeErrors(value, node, at.path('default'), at);
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

/** What is wrong with whole objects in a value, with paths below `path`. The value stays as it is. */
function wholeErrors(value: unknown, schema: JsonObject, path: string, at: Report): readonly FieldError[] {
  const prefix = at.dialect.openapiExtensionPrefix;
  const copy = jsonCopy(value);
  try {
    coercerOf(structureOf(schema, prefix), schemaOf(at.dialect).type('meta/v1.ObjectMeta'))?.(
      copy,
      new Pruned(),
      'told',
    );
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [invalid(path, value, error.message)];
  }
  const report = new ValueReport(path);
  placedCheckOf(schema, (one) => embeddedCheck(one, prefix))?.(copy, report);
  return report.errors;
}

function prunedOf(value: unknown, node: JsonObject, prefix: string): unknown {
  const copy = jsonCopy(value);
  pruneValue(copy, structureOf(node, prefix));
  return copy;
}
