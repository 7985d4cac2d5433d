// Volumes, claims, classes and attach limits for the tables of the volume plug-ins: valid by default.
import { volumeNames } from '../../../../actors/scheduler/objects/volume-objects.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { dialect, type PodParts } from '../objects.ts';

export const names = volumeNames(dialect);
export const VOLUMES = 'core/persistentvolumes';
export const CLAIMS = 'core/persistentvolumeclaims';
export const CLASSES = dialect.spell('storage.@group/storageclasses');
export const CSI_NODES = dialect.spell('storage.@group/csinodes');
export const CSI_DRIVERS = dialect.spell('storage.@group/csidrivers');
export const CAPACITIES = dialect.spell('storage.@group/csistoragecapacities');

/** A volume of 10Gi of the class `slow`, free. */
export function volume(
  name: string,
  spec: JsonObject = {},
  metadata: JsonObject = {},
  phase = 'Available',
): JsonObject {
  return {
    metadata: { name, resourceVersion: '3', ...metadata },
    spec: { storageClassName: 'slow', capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
    status: { phase },
  };
}

/** A claim of 5Gi of the class `slow`, without a volume. */
export function claim(name: string, spec: JsonObject = {}, metadata: JsonObject = {}, phase = 'Pending'): JsonObject {
  const resources = { requests: { storage: '5Gi' } };
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '4', ...metadata },
    spec: { storageClassName: 'slow', accessModes: ['ReadWriteOnce'], resources, ...spec },
    status: { phase },
  };
}

/** A claim that has this volume. */
export function boundClaim(name: string, volumeName: string, metadata: JsonObject = {}): JsonObject {
  return claim(name, { volumeName }, { annotations: { [names.bindCompleted]: 'yes' }, ...metadata }, 'Bound');
}

export function storageClass(
  name: string,
  mode: 'Immediate' | 'WaitForFirstConsumer',
  more: JsonObject = {},
): JsonObject {
  return { metadata: { name }, provisioner: 'example.com/disks', volumeBindingMode: mode, ...more };
}

/** A pod with these claims mounted. */
export function using(...claims: string[]): PodParts {
  return {
    spec: { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
  };
}

/** Node affinity of a volume: nodes with one of these values of the label. */
export function onlyOn(key: string, ...values: string[]): JsonObject {
  return {
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] } },
  };
}
