// Custom resource definitions: v1beta1 says at the top what all versions have in common, v1 says everything per version.
// Where the versions agree, that goes to the top on the way down; valid v1beta1 definitions say it in no other way.
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { withoutMembers } from '../json/own-copy.ts';
import { chained, eachOf, inside, type Pair, renaming, type StepTable } from './step.ts';

/** What v1beta1 can say at the top, and its name in a version. */
const COMMON = [
  ['validation', 'schema'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
] as const;

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];
}

const perVersion: Pair = {
  up: ({ version, validation, subresources, additionalPrinterColumns, ...spec }) => {
    const common: JsonObject = { validation, subresources, additionalPrinterColumns };
    const given = objectsIn(spec.versions);
    const isNamed = given.length === 0 && typeof version === 'string' && version !== '';
    const versions = isNamed ? [{ name: version, served: true, storage: true }] : given;
    return { ...spec, versions: versions.map((each) => withCommon(each, common)) };
  },
  down: (spec) => {
    const versions = objectsIn(spec.versions);
    const [first] = versions;
    if (first === undefined) return spec;
    const result: Record<string, unknown> = { ...spec, version: first.name };
    const agreed = COMMON.filter(([, name]) => versions.every((version) => deepEqual(version[name], first[name])));
    for (const [topName, name] of agreed) result[topName] = first[name];
    const names = agreed.map(([, name]) => name);
    result.versions = versions.map((version) => withoutMembers(version, names));
    return result;
  },
};

function withCommon(version: JsonObject, common: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...version };
  for (const [topName, name] of COMMON) if (common[topName] !== undefined) result[name] = common[topName];
  return result;
}

const conversion: Pair = {
  up: ({ webhookClientConfig: clientConfig, conversionReviewVersions, ...rest }) => {
    if (clientConfig === undefined && conversionReviewVersions === undefined) return rest;
    return { ...rest, webhook: { clientConfig, conversionReviewVersions } };
  },
  down: ({ webhook, ...rest }) => {
    if (!isJsonObject(webhook)) return rest;
    const { clientConfig, conversionReviewVersions } = webhook;
    return { ...rest, webhookClientConfig: clientConfig, conversionReviewVersions };
  },
};

/** What v1 leaves out, v1beta1 would take for the opposite. */
const preserving: Pair = {
  up: (spec) => spec,
  down: (spec) => ({ ...spec, preserveUnknownFields: spec.preserveUnknownFields ?? false }),
};

const columns = eachOf('additionalPrinterColumns', renaming({ JSONPath: 'jsonPath' }));

const definition = inside(
  'spec',
  chained(preserving, perVersion, eachOf('versions', columns), inside('conversion', conversion)),
);

export const apiextensionsSteps: StepTable = {
  'apiextensions/v1beta1.CustomResourceDefinition': {
    hub: 'apiextensions/v1.CustomResourceDefinition',
    ...definition,
  },
};
