// What a custom resource definition says, read from its stored object: names, versions, schemas, and how far it has come.
// Plain data that can be sent to other threads. Validation of definitions is validation/kinds/custom-resources.ts.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asList, asObject, asText, asTexts, partAt } from '../../json/object-fields.ts';

export interface DefinedNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** A column of the kind's Table. */
export interface DefinedColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** Where the scale endpoint reads and writes: paths such as `.spec.replicas`. */
export interface DefinedScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Empty: the status has no selector. */
  readonly labelSelectorPath: string;
}

export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly deprecated: boolean;
  /** Empty: what all deprecated versions say. */
  readonly deprecationWarning: string;
  /** Its JSON, as it stands in the definition. Undefined: any object is one of the kind. */
  readonly schemaText: string | undefined;
  readonly columns: readonly DefinedColumn[];
  readonly hasStatus: boolean;
  readonly scale: DefinedScale | undefined;
}

/** A webhook that converts objects. */
export interface DefinedWebhook {
  /** Its `clientConfig`, as it stands in the definition. */
  readonly client: JsonObject;
  /** Of the reviews that it takes, in the order in which it would rather have them. */
  readonly reviewVersions: readonly string[];
}

export interface Definition {
  readonly name: string;
  /** One that is made again under the name has another. */
  readonly uid: string;
  /** Of the object that says so. */
  readonly revision: number;
  /** Counts the changes of its spec: instances written under an earlier one may be of another schema. */
  readonly generation: number;
  readonly group: string;
  /** Those that it asks for. */
  readonly names: DefinedNames;
  /** Those of them that are its own: another may have a short name that it asks for. */
  readonly accepted: DefinedNames;
  readonly namespaced: boolean;
  readonly versions: readonly DefinedVersion[];
  /** Empty where none is marked. */
  readonly storageVersion: string;
  /** `spec.preserveUnknownFields`: nothing is pruned. */
  readonly keepsUnknown: boolean;
  /** By which versions are converted; undefined: they differ in their schemas only. */
  readonly webhook: DefinedWebhook | undefined;
  readonly isEstablished: boolean;
  /** It is being deleted: nothing new is let in. */
  readonly isTerminating: boolean;
  /** Other servers than ours write instances of it as well, which nobody has brought into its schema. */
  readonly isSharedWithOthers?: boolean;
}

/**
 * Reads a definition in version v1, its schemas parsed or not (definition-text.ts). What is not there is empty: clients may have
 * written anything.
 */
export function readDefinition(object: JsonObject, revision: number): Definition {
  const spec = partAt(object, 'spec');
  const metadata = partAt(object, 'metadata');
  const versions = asList(spec.versions).map(asObject);
  const generation = typeof metadata.generation === 'number' ? metadata.generation : 1;
  return {
    name: asText(metadata.name),
    uid: asText(metadata.uid),
    revision,
    generation,
    group: asText(spec.group),
    names: readNames(spec.names),
    accepted: readNames(partAt(object, 'status').acceptedNames),
    namespaced: spec.scope === 'Namespaced',
    versions: versions.map(readVersion),
    storageVersion: asText(versions.find(({ storage }) => storage === true)?.name),
    keepsUnknown: spec.preserveUnknownFields === true,
    webhook: readWebhook(partAt(spec, 'conversion')),
    isEstablished: hasCondition(object, 'Established'),
    isTerminating: asText(metadata.deletionTimestamp) !== '',
  };
}

function readWebhook(conversion: JsonObject): DefinedWebhook | undefined {
  if (conversion.strategy !== 'Webhook') return undefined;
  const webhook = partAt(conversion, 'webhook');
  return { client: partAt(webhook, 'clientConfig'), reviewVersions: asTexts(webhook.conversionReviewVersions) };
}

/** The names in `spec.names` or `status.acceptedNames`. */
export function readNames(value: unknown): DefinedNames {
  const names = asObject(value);
  return {
    plural: asText(names.plural),
    singular: asText(names.singular),
    kind: asText(names.kind),
    listKind: asText(names.listKind),
    shortNames: asTexts(names.shortNames),
    categories: asTexts(names.categories),
  };
}

/** True when the condition's status is True. */
function hasCondition(object: JsonObject, type: string): boolean {
  return asList(partAt(object, 'status').conditions).some((one) => {
    const condition = asObject(one);
    return condition.type === type && condition.status === 'True';
  });
}

function readVersion(version: JsonObject): DefinedVersion {
  const subresources = partAt(version, 'subresources');
  const schema = partAt(version, 'schema').openAPIV3Schema;
  return {
    name: asText(version.name),
    served: version.served === true,
    deprecated: version.deprecated === true,
    deprecationWarning: asText(version.deprecationWarning),
    schemaText: textOf(schema),
    columns: asList(version.additionalPrinterColumns).map(asObject).map(readColumn),
    hasStatus: isJsonObject(subresources.status),
    scale: isJsonObject(subresources.scale) ? readScale(subresources.scale) : undefined,
  };
}

function textOf(schema: unknown): string | undefined {
  if (typeof schema === 'string') return schema;
  return isJsonObject(schema) ? JSON.stringify(schema) : undefined;
}

function readColumn(column: JsonObject): DefinedColumn {
  return {
    name: asText(column.name),
    type: asText(column.type),
    format: asText(column.format),
    description: asText(column.description),
    priority: typeof column.priority === 'number' ? column.priority : 0,
    jsonPath: asText(column.jsonPath),
  };
}

function readScale(scale: JsonObject): DefinedScale {
  return {
    specReplicasPath: asText(scale.specReplicasPath),
    statusReplicasPath: asText(scale.statusReplicasPath),
    labelSelectorPath: asText(scale.labelSelectorPath),
  };
}
