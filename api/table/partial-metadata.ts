// An object reduced to its metadata, under the name of whichever meta group the client speaks.
import type { JsonObject } from '../json/json-value.ts';

export type MetaVersion = 'v1' | 'v1beta1';

export interface PartialObjectMetadata {
  readonly kind: 'PartialObjectMetadata';
  readonly apiVersion: string;
  readonly metadata: unknown;
}

export interface PartialObjectMetadataList {
  readonly kind: 'PartialObjectMetadataList';
  readonly apiVersion: string;
  readonly metadata: object;
  /** The last member, so that a list can be written item by item. */
  readonly items: readonly PartialObjectMetadata[];
}

/** Only the metadata of `object`. Nothing is copied: the result shares it. */
export function partialMetadata(object: JsonObject, metaGroup: string, version: MetaVersion): PartialObjectMetadata {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `${metaGroup}/${version}`,
    metadata: object.metadata ?? {},
  };
}

/** The metadata of each item; `metadata` is the list's. Unlike the items of other lists, these name their kind. */
export function partialMetadataList(
  items: readonly JsonObject[],
  metadata: object,
  metaGroup: string,
  version: MetaVersion,
): PartialObjectMetadataList {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: `${metaGroup}/${version}`,
    metadata,
    items: items.map((item) => partialMetadata(item, metaGroup, version)),
  };
}
