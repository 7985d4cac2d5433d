// The volumes of a pod that bind it to nodes: claims, and disks that it names itself. Pure.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asObject, asText } from '../../../api/json/object-fields.ts';
import { type Disk, readDisk } from './disks.ts';

/** A claim of the pod's namespace that it mounts. */
export interface ClaimUse {
  readonly name: string;
  /** Made for this pod, and named after it. */
  readonly ephemeral: boolean;
}

/** A disk that the pod names itself and that others may not use at the same time. */
export interface ExclusiveDisk {
  readonly kind: string;
  /** What two uses of the same disk have in common, one entry each way that it can be reached. */
  readonly ids: readonly string[];
  /** Several may read it at once. */
  readonly readOnly: boolean;
}

export interface PodVolumes {
  readonly claims: readonly ClaimUse[];
  readonly exclusive: readonly ExclusiveDisk[];
  /** Disks that count against what a node can attach. */
  readonly disks: readonly Disk[];
}

export const NO_VOLUMES: PodVolumes = Object.freeze({ claims: [], exclusive: [], disks: [] });

/** Reads `spec.volumes` of a pod of that name. */
export function readVolumes(volumes: unknown, podName: string): PodVolumes {
  const claims: ClaimUse[] = [];
  const exclusive: ExclusiveDisk[] = [];
  const disks: Disk[] = [];
  for (const volume of asList(volumes).map(asObject)) {
    const { persistentVolumeClaim: claim, ephemeral } = volume;
    if (claim !== undefined && claim !== null) {
      claims.push({ name: asText(asObject(claim).claimName), ephemeral: false });
    } else if (ephemeral !== undefined && ephemeral !== null) {
      claims.push({ name: `${podName}-${asText(volume.name)}`, ephemeral: true });
    } else {
      const disk = exclusiveDisk(volume);
      if (disk !== undefined) exclusive.push(disk);
      const attached = readDisk(volume);
      if (attached !== undefined && attached.kind !== 'csi') disks.push(attached);
    }
  }
  return claims.length + exclusive.length + disks.length === 0 ? NO_VOLUMES : { claims, exclusive, disks };
}

/** By member of the volume: what identifies the disk, and whether reading may be shared. */
const EXCLUSIVE: Readonly<Record<string, (source: JsonObject) => Omit<ExclusiveDisk, 'kind'>>> = {
  gcePersistentDisk: ({ pdName, readOnly }) => ({ ids: [asText(pdName)], readOnly: readOnly === true }),
  awsElasticBlockStore: ({ volumeID }) => ({ ids: [asText(volumeID)], readOnly: false }),
  iscsi: ({ iqn, readOnly }) => ({ ids: [asText(iqn)], readOnly: readOnly === true }),
  rbd: ({ monitors, pool, image, readOnly }) => ({
    ids: asList(monitors).map((monitor) => JSON.stringify([monitor, pool ?? '', image ?? ''])),
    readOnly: readOnly === true,
  }),
};

function exclusiveDisk(volume: JsonObject): ExclusiveDisk | undefined {
  for (const [kind, read] of Object.entries(EXCLUSIVE)) {
    const source = volume[kind];
    if (source !== undefined && source !== null) return { kind, ...read(asObject(source)) };
  }
  return undefined;
}
