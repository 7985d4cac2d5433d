// Disks that nodes attach and of which they attach only so many, as pods and persistent volumes name them alike.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';

/** `kind` is the member of the volume's source; for CSI volumes `driver` is set. */
export interface Disk {
  readonly kind: string;
  readonly id: string;
  readonly driver?: string;
}

/** The members of a source that name a disk which nodes attach, and what tells disks of the kind apart. */
const DISK_IDS: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'volumeID',
  gcePersistentDisk: 'pdName',
  azureDisk: 'diskName',
  cinder: 'volumeID',
};

/** The disk of a volume source; undefined for sources that nodes attach without limit. */
export function readDisk(source: JsonObject): Disk | undefined {
  for (const [kind, idMember] of Object.entries(DISK_IDS)) {
    const disk = source[kind];
    if (disk !== undefined && disk !== null) return { kind, id: asText(asObject(disk)[idMember]) };
  }
  const csi = asObject(source.csi);
  const driver = asText(csi.driver);
  return driver === '' ? undefined : { kind: 'csi', id: asText(csi.volumeHandle), driver };
}
