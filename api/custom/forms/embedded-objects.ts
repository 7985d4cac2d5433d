// Whole objects of the API inside a custom object: they say what they are.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asNumber, asObject, asText, asTexts } from '../../json/object-fields.ts';
import { pathSegmentProblems, textProblems } from '../../metadata/formats.ts';
import type { ObjectMeta } from '../../metadata/object-meta.ts';
import { validateAnyMeta } from '../../metadata/object-meta-rules.ts';
import { invalid } from '../../status/field-error.ts';
import type { PlacedCheck } from '../checks/placed-checks.ts';
import type { ValueReport } from '../checks/value-report.ts';

/** Undefined for schemas of anything else. */
export function embeddedCheck(schema: JsonObject, prefix: string): PlacedCheck | undefined {
  if (schema[`${prefix}embedded-resource`] !== true) return undefined;
  return (value, at) => {
    if (!isJsonObject(value)) return;
    checkName(value, 'apiVersion', apiVersionProblems, at);
    checkName(value, 'kind', kindProblems, at);
    if (Object.hasOwn(value, 'metadata')) checkMetadata(value.metadata, at);
  };
}

function checkName(
  object: JsonObject,
  member: string,
  problemsOf: (text: string) => readonly string[],
  at: ValueReport,
): void {
  const text = Object.hasOwn(object, member) ? object[member] : undefined;
  if (text === undefined) at.required(member, 'must not be empty');
  else if (text === '') at.add(invalid(at.place(member), text, 'must not be empty'));
  else if (typeof text !== 'string') at.add(invalid(at.place(member), text, 'must be a string'));
  else for (const problem of problemsOf(text)) at.add(invalid(at.place(member), text, problem));
}

/** Nobody has to name what is embedded, or to say where it would be. */
function checkMetadata(metadata: unknown, at: ValueReport): void {
  if (!isJsonObject(metadata)) {
    at.add(invalid(at.place('metadata'), metadata, 'must be an object'));
    return;
  }
  const name = asText(metadata.name);
  for (const problem of pathSegmentProblems(name)) at.add(invalid(at.place('metadata.name'), name, problem));
  const namespaced = asText(metadata.namespace) !== '';
  const errors = validateAnyMeta(typed(metadata), { namespaced, traits: { nameFormat: 'pathSegment' } });
  for (const error of errors) at.add({ ...error, path: at.place(error.path) });
}

/** What comes from a client has been brought into its form, but not what a webhook or a default has made of it. */
function typed(metadata: JsonObject): ObjectMeta {
  const { labels, annotations, ownerReferences, finalizers, managedFields } = metadata;
  return {
    name: 'any',
    generateName: asText(metadata.generateName),
    namespace: asText(metadata.namespace),
    generation: asNumber(metadata.generation),
    ...(isJsonObject(labels) && { labels: labels as ObjectMeta['labels'] }),
    ...(isJsonObject(annotations) && { annotations: annotations as ObjectMeta['annotations'] }),
    ...(Array.isArray(ownerReferences) && { ownerReferences: ownerReferences.map(asObject) }),
    ...(Array.isArray(finalizers) && { finalizers: asTexts(finalizers) }),
    ...(Array.isArray(managedFields) && { managedFields: managedFields.map(asObject) }),
  } as ObjectMeta;
}

function apiVersionProblems(text: string): readonly string[] {
  return text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : [];
}

function kindProblems(text: string): readonly string[] {
  const problems = textProblems('dns1035Label', text.toLowerCase());
  return problems.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${problems.join(',')}`];
}
