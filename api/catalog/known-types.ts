// The rows of the resource table that a definition makes: one for each of its versions.

import { CustomType } from '../custom/definitions/custom-type.ts';
import type { DefinedVersion, Definition } from '../custom/definitions/definition.ts';
import { type SchemaWords, VersionSchemas } from '../custom/definitions/version-schemas.ts';
import type { Subresource, Traits } from '../resource-type.ts';
import { DEFAULT_SELECTABLE_FIELDS } from '../resources/resource-row.ts';
import type { KnownType } from '../resources/resource-table.ts';
import { EVERY_VERB } from '../verbs.ts';
import { byPriority } from '../version-order.ts';

/** Lists of their own: of other fields custom types say that they are not supported. */
const FIELDS_IN_NAMESPACES: readonly string[] = ['metadata.name', 'metadata.namespace'];
const FIELDS_OF_CLUSTER: readonly string[] = ['metadata.name'];

/**
 * Every version of an established definition that can be stored; none of one that is not established.
 *
 * @param before a type of the same definition, as it was until now: what is compiled of its schemas is taken over.
 */
export function knownTypesOf(definition: Definition, words: SchemaWords, before?: CustomType): readonly KnownType[] {
  if (!definition.isEstablished || definition.storageVersion === '') return [];
  const versions = [...definition.versions].sort((a, b) => byPriority(a.name, b.name));
  const preferredVersion = versions.find(({ served }) => served)?.name ?? definition.storageVersion;
  const schemas = new VersionSchemas(definition, words, before?.schemas);
  return versions.map((version) => knownType(definition, version, preferredVersion, schemas));
}

function knownType(
  definition: Definition,
  version: DefinedVersion,
  preferredVersion: string,
  schemas: VersionSchemas,
): KnownType {
  const { group, names, accepted, namespaced, storageVersion } = definition;
  // Plural and kind cannot change any more. The others can, to what another has; whose status says nothing of names has them all.
  const own = accepted.kind === '' ? names : accepted;
  const custom = new CustomType(definition, version, schemas);
  const fields = namespaced ? FIELDS_IN_NAMESPACES : FIELDS_OF_CLUSTER;
  return {
    group,
    version: version.name,
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    listKind: own.listKind,
    plural: names.plural,
    singular: own.singular,
    shortNames: own.shortNames,
    categories: own.categories,
    namespaced,
    verbs: new Set(EVERY_VERB),
    subresources: subresourcesOf(group, names.kind, version),
    persisted: true,
    storageApiVersion: `${group}/${storageVersion}`,
    storageKey: `${group}/${names.plural}`,
    selectableFields: fields,
    traits: traitsOf(version),
    preferredVersion,
    servedByDefault: version.served,
    featureGate: undefined,
    needsConversion: custom.needsForm,
    storedFields: DEFAULT_SELECTABLE_FIELDS,
    storedFieldNames: {},
    lifecycle: {
      introducedIn: null,
      // Since ever: which release it was is the author's to say.
      deprecatedIn: version.deprecated ? '1.0' : null,
      removedIn: null,
      replacement: null,
    },
    custom,
  };
}

function subresourcesOf(group: string, kind: string, { name, hasStatus, scale }: DefinedVersion) {
  const verbs = ['get', 'patch', 'update'] as const;
  const subresources = new Map<string, Subresource>();
  if (hasStatus) {
    subresources.set('status', { name: 'status', kind, group, version: name, verbs, featureGate: undefined });
  }
  if (scale !== undefined) {
    const home = { group: 'autoscaling', version: 'v1', featureGate: undefined };
    subresources.set('scale', { name: 'scale', kind: 'Scale', verbs, ...home });
  }
  return subresources;
}

function traitsOf({ hasStatus }: DefinedVersion): Traits {
  return {
    putCreates: false,
    putWithoutResourceVersion: false,
    initialGeneration: 1,
    generationParts: [hasStatus ? 'content' : 'contentWithStatus'],
    hasStatus,
    keepsStatusOnCreate: false,
    statusKeepsMetadata: true,
    initialStatus: undefined,
    defaultPropagation: 'Background',
    deleteReturns: 'Status',
    nameFormat: 'dns1123Subdomain',
  };
}
