// Limit ranges: one without a name has a name that nobody else has.
import type { JsonObject } from '../../json/json-value.ts';
import { metadataOf, withMetadata } from '../../metadata/object-meta.ts';
import type { Strategy } from '../strategy.ts';

function named(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const { name = '', uid = '' } = metadata;
  return name === '' ? withMetadata(object, { ...metadata, name: uid }) : object;
}

export const limitRange: Strategy = { onCreate: named };
