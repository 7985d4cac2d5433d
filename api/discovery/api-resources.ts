// One APIResource entry for every type and subresource of a group version. Member order is that of the wire.
import { createHash } from 'node:crypto';
import type { ResourceType, Subresource } from '../resource-type.ts';
import { splitApiVersion } from '../resources/resource-table.ts';

/** An entry of an APIResourceList. */
export interface ApiResource {
  /** `pods`, `pods/status`. */
  readonly name: string;
  /** Empty for built-in types. */
  readonly singularName: string;
  readonly namespaced: boolean;
  /** Group and version of the kind, where they are not those of the list. */
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Changes when objects begin to be stored in another version. */
  readonly storageVersionHash?: string;
}

/** A type, and the definition that made it, if one did: built-in ones do not say their singular. */
type ListedType = ResourceType & {
  readonly custom?: { readonly definition: { readonly isTerminating: boolean } } | undefined;
};

/**
 * The entries of the types of one group version, sorted by name, each with its subresources after it: sorted those of
 * built-in types, and those of custom ones in the order in which the original tells of them, the status first.
 *
 * @param tellsStorageVersions the gate StorageVersionHash.
 */
export function apiResources(types: readonly ListedType[], tellsStorageVersions: boolean): readonly ApiResource[] {
  return types
    .toSorted((a, b) => (a.plural < b.plural ? -1 : 1))
    .flatMap((type) => {
      const below = [...type.subresources.values()].map((sub) => subEntry(type, sub));
      if (type.custom === undefined) below.sort((a, b) => (a.name < b.name ? -1 : 1));
      return [mainEntry(type, tellsStorageVersions), ...below];
    });
}

/** All there are, in the order in which the original lists those of custom types. */
const CUSTOM_VERBS: readonly string[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];
/** Those of a type whose definition is being deleted. */
const LAST_VERBS: readonly string[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];

function verbsOf({ custom, verbs }: ListedType): readonly string[] {
  if (custom === undefined) return [...verbs].sort();
  return custom.definition.isTerminating ? LAST_VERBS : CUSTOM_VERBS;
}

function mainEntry(type: ListedType, tellsStorageVersions: boolean): ApiResource {
  return {
    name: type.plural,
    singularName: type.custom === undefined ? '' : type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: verbsOf(type),
    ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
    ...(type.categories.length > 0 ? { categories: type.categories } : {}),
    ...(type.persisted && tellsStorageVersions ? { storageVersionHash: storageVersionHash(type) } : {}),
  };
}

function subEntry(type: ResourceType, { name, kind, group, version, verbs }: Subresource): ApiResource {
  const elsewhere = group !== type.group || version !== type.version;
  return {
    name: `${type.plural}/${name}`,
    singularName: '',
    namespaced: type.namespaced,
    ...(elsewhere ? { group, version } : {}),
    kind,
    verbs: [...verbs].sort(),
  };
}

/** Base64 of the first 8 bytes of the SHA-256 of `<group>/<version>/<Kind>`, in the stored version. */
function storageVersionHash({ storageApiVersion, kind }: ResourceType): string {
  const { group, version } = splitApiVersion(storageApiVersion);
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}
