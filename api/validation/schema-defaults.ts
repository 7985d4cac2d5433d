// Defaults in the schemas of custom resource definitions: each is what its schema admits, and has nothing that pruning would
// take away.
import { jsonCopy } from '../conversion/json-copy.ts';
import { embeddedCheck } from '../custom/embedded-objects.ts';
import { arePatternsLoaded } from '../custom/patterns.ts';
import { placedCheckOf } from '../custom/placed-checks.ts';
import { pruneValue } from '../custom/pruning.ts';
import { structureOf } from '../custom/structure.ts';
import { valueCheckOf } from '../custom/value-checks.ts';
import { ValueReport } from '../custom/value-report.ts';
import { deepEqual } from '../deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { asObject } from '../object-fields.ts';
import type { Report } from './report.ts';

/** Reports what is wrong with the defaults of a structural schema, below where `at` stands. */
export function checkDefaults(schema: JsonObject, at: Report): void {
  checkNode(schema, true, false, at);
}

/** What a map's values would be by default is nobody's to say: there are none. */
function checkNode(node: JsonObject, isWhole: boolean, isOfMetadata: boolean, at: Report): void {
  const prefix = at.dialect.openapiExtensionPrefix;
  const isEmbedded = node[`${prefix}embedded-resource`] === true;
  const isInMetadata = isOfMetadata && !isEmbedded;
  if (node.default !== undefined && node.default !== null) checkDefault(node, isInMetadata, prefix, at);
  if (isJsonObject(node.items)) {
    at.enter('items');
    checkNode(node.items, false, isInMetadata, at);
    at.leave();
  }
  for (const [name, child] of Object.entries(asObject(node.properties))) {
    if (!isJsonObject(child)) continue;
    at.enter(`properties[${name}]`);
    const isMetadata = (isWhole || isEmbedded) && (name === 'metadata' || name === 'apiVersion' || name === 'kind');
    checkNode(child, false, isInMetadata || isMetadata, at);
    at.leave();
  }
}

function checkDefault(node: JsonObject, isOfMetadata: boolean, prefix: string, at: Report): void {
  const value = node.default;
  if (!isOfMetadata && !deepEqual(prunedOf(value, node, prefix), value)) {
    at.invalid('default', value, 'must not have unknown fields');
  }
  if (!arePatternsLoaded()) return;
  const report = new ValueReport(at.path('default'));
  // A set with an element twice is let in, as it is by the original.
  if (!isOfMetadata) placedCheckOf(node, (one) => embeddedCheck(one, prefix))?.(value, report);
  if (report.errors.length === 0) valueCheckOf(node, prefix)(value, report);
  at.addAll(report.errors);
}

function prunedOf(value: unknown, node: JsonObject, prefix: string): unknown {
  const copy = jsonCopy(value);
  pruneValue(copy, structureOf(node, prefix));
  return copy;
}
