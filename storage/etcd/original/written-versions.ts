// What the original's layout has types written in, where that is not the version that this server keeps them in.
import type { Dialect } from '../../../config/dialect.ts';

/** Versions that the release before the last one has to read, where ours is newer: by storage key. */
const WRITTEN_VERSIONS: readonly (readonly [storageKey: string, apiVersion: string])[] = [
  ['batch/cronjobs', 'batch/v1beta1'],
  ['discovery.@group/endpointslices', 'discovery.@group/v1beta1'],
  ['policy/poddisruptionbudgets', 'policy/v1beta1'],
];

/** The apiVersions, by storage key; others are written in the version that they are stored in elsewhere too. */
export function writtenVersions(dialect: Dialect): ReadonlyMap<string, string> {
  return new Map(WRITTEN_VERSIONS.map(([key, version]) => [dialect.spell(key), dialect.spell(version)]));
}
