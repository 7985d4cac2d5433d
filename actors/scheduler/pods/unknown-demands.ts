// What a pod demands of its node that no plug-in checks. Such a pod waits: binding it would break a promise that nobody
// notices. Pure; each entry goes with the plug-in that comes to know it.
import type { JsonObject } from '../../../api/json-value.ts';
import { asList, asObject } from '../../../api/object-fields.ts';

/** Volumes that tie a pod to nodes, or of which a node carries only so many. */
const NODE_BOUND_VOLUMES = [
  'persistentVolumeClaim',
  'ephemeral',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'azureDisk',
  'cinder',
  'iscsi',
  'rbd',
] as const;

const CHECKS: readonly (readonly [demand: string, demanded: (spec: JsonObject) => boolean])[] = [
  [
    'volumes that belong to nodes',
    ({ volumes }) =>
      asList(volumes).some((volume) => NODE_BOUND_VOLUMES.some((kind) => Object.hasOwn(asObject(volume), kind))),
  ],
  ['a runtime class', ({ runtimeClassName }) => typeof runtimeClassName === 'string' && runtimeClassName !== ''],
];

/** Names them, in a fixed order. */
export function unknownDemands(spec: JsonObject): readonly string[] {
  return CHECKS.filter(([, demanded]) => demanded(spec)).map(([demand]) => demand);
}
