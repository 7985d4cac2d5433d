// NodeVolumeLimits: a node attaches only so many disks of a kind. One check for CSI drivers, whose limits the node's CSI
// object says, and one for each kind of disk that is built in.
import { createHash } from 'node:crypto';
import { remembered } from '../../../values/remembered.ts';
import type { FilterPlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { Claim, Volume } from '../objects/volume-objects.ts';
import type { VolumeState } from '../objects/volume-state.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { refusal } from '../status.ts';

const TOO_MANY = refusal(
  'unschedulable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeAllocatable | ClusterEvent.podRemoved | ClusterEvent.attachLimits,
  'node(s) exceed max volume count',
);
const LIMIT_PREFIX = 'attachable-volumes-';
/** A node's allocatable names the limit of a CSI driver so, if its CSI object does not. */
const CSI_LIMIT_PREFIX = `${LIMIT_PREFIX}csi-`;
/** A limit's name is shorter than this. Of a driver whose name is too long for it, the beginning is told and a digest. */
const LIMIT_NAME_END = 63;
const DRIVER_TOLD = 23;
const DIGEST_TOLD = 16;

/** Between the zones of a volume that several zones hold. */
export const ZONE_SEPARATOR = '__';

interface BuiltInDisks {
  readonly plugin: string;
  /** The member of the volume's source. */
  readonly kind: string;
  readonly provisioner: string;
  /** The CSI driver that such disks are the business of where nodes have been migrated to it, and may be. */
  readonly driver: string;
  /** The label by which that driver tells the zones of its nodes apart, where volumes are held to it. */
  readonly zoneLabel?: string;
  /** What a node's allocatable calls the limit. */
  readonly limitName: string;
  readonly limit: (node: NodeInfo, settings: DiskSettings) => number;
}

/** Machines of these types attach their disks like network cards, of which they have fewer. */
const FEWER_DISKS = /^(?:[cmr]5|t3|z1d)/;

/** The kinds of disks that need no CSI driver. */
export const BUILT_IN: readonly BuiltInDisks[] = [
  {
    plugin: 'EBSLimits',
    kind: 'awsElasticBlockStore',
    provisioner: 'aws-ebs',
    driver: 'ebs.csi.aws.com',
    zoneLabel: 'topology.ebs.csi.aws.com/zone',
    limitName: `${LIMIT_PREFIX}aws-ebs`,
    limit: ({ labels }, { machineTypeLabels }) =>
      machineTypeLabels.some((label) => FEWER_DISKS.test(labels.get(label) ?? '')) ? 25 : 39,
  },
  {
    plugin: 'GCEPDLimits',
    kind: 'gcePersistentDisk',
    provisioner: 'gce-pd',
    driver: 'pd.csi.storage.gke.io',
    zoneLabel: 'topology.gke.io/zone',
    limitName: `${LIMIT_PREFIX}gce-pd`,
    limit: () => 16,
  },
  {
    plugin: 'AzureDiskLimits',
    kind: 'azureDisk',
    provisioner: 'azure-disk',
    driver: 'disk.csi.azure.com',
    limitName: `${LIMIT_PREFIX}azure-disk`,
    limit: () => 16,
  },
  {
    plugin: 'CinderLimits',
    kind: 'cinder',
    provisioner: 'cinder',
    driver: 'cinder.csi.openstack.org',
    zoneLabel: 'topology.cinder.csi.openstack.org/zone',
    limitName: `${LIMIT_PREFIX}cinder`,
    limit: () => 256,
  },
];

/** What a scheduler is told of built-in disks. */
export interface DiskSettings {
  /** Begins the names of the built-in provisioners. */
  readonly provisionerPrefix: string;
  /** The provisioners, without that, whose disks a node may leave to a CSI driver. What it says of others counts for nothing. */
  readonly migrated: readonly string[];
  /** The labels that say of what type a node's machine is. */
  readonly machineTypeLabels: readonly string[];
  /** What a node that does not say attaches of each kind, in place of what such nodes are known for. */
  readonly most?: number | undefined;
}

type DiskIds = (pod: PodInfo, volumes: VolumeState, into: Set<string>) => void;

/** Adds the ids of a pod's disks of a kind. */
function diskIds({ kind }: BuiltInDisks, provisioner: string): DiskIds {
  return (pod, volumes, into) => {
    for (const disk of pod.volumes.disks) if (disk.kind === kind) into.add(disk.id);
    forEachClaim(pod, volumes, (claim, volume) => {
      if (volume !== undefined) {
        if (volume.disk?.kind === kind) into.add(volume.disk.id);
      } else if (volumes.classes.get(claim.storageClass)?.provisioner === provisioner) {
        into.add(`${claim.namespace}/${claim.name}`);
      }
    });
  };
}

function limitOn(node: NodeInfo, { limitName, limit }: BuiltInDisks, settings: DiskSettings): number {
  return node.allocatable.scalars.get(limitName) ?? settings.most ?? limit(node, settings);
}

/** Answers whether disks are left to a CSI driver on a node. */
function leftToDriver(provisioner: string, mayBe: boolean): (node: NodeInfo, volumes: VolumeState) => boolean {
  return (node, volumes) => mayBe && volumes.attachLimits(node.name).migrated.has(provisioner);
}

/** The limits of one kind of built-in disk. */
function builtInLimits(disks: BuiltInDisks, settings: DiskSettings): FilterPlugin {
  const { provisionerPrefix, migrated } = settings;
  const provisioner = `${provisionerPrefix}${disks.provisioner}`;
  const idsOf = diskIds(disks, provisioner);
  const isLeft = leftToDriver(provisioner, migrated.includes(disks.provisioner));
  return {
    name: disks.plugin,
    prepareFilter(pod, { objects: { volumes } }) {
      const wanted = new Set<string>();
      idsOf(pod, volumes, wanted);
      if (wanted.size === 0) return null;
      return (node) => {
        const limit = limitOn(node, disks, settings);
        // Every use a disk of its own: the most there can be, which is nearly always few enough.
        if (node.volumeUses + wanted.size <= limit) return null;
        if (isLeft(node, volumes)) return null;
        const used = new Set(wanted);
        for (const other of node.volumePods.values()) idsOf(other, volumes, used);
        return used.size > limit ? TOO_MANY : null;
      };
    },
  };
}

/** EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits. */
export function builtInVolumeLimits(settings: DiskSettings): readonly FilterPlugin[] {
  return BUILT_IN.map((disks) => builtInLimits(disks, settings));
}

/** Disks that a node can still attach, and how many of a pod's it does not have yet. */
export interface DiskRoom {
  readonly free: number;
  readonly wanted: number;
}

/** Answers, for a pod, the room on a node for disks of the pod's kind; undefined for a pod without any. */
export type AttachedDisks = (
  pod: PodInfo,
  volumes: VolumeState,
) => ((node: NodeInfo) => DiskRoom | undefined) | undefined;

/** Of the built-in kinds: the last one that a pod has disks of, as the limits are looked at one after the other. */
export function attachedDisks(settings: DiskSettings): AttachedDisks {
  const { provisionerPrefix, migrated } = settings;
  const kinds = BUILT_IN.map((disks) => {
    const provisioner = `${provisionerPrefix}${disks.provisioner}`;
    const isLeft = leftToDriver(provisioner, migrated.includes(disks.provisioner));
    return { disks, isLeft, idsOf: diskIds(disks, provisioner) };
  }).reverse();
  return (pod, volumes) => {
    for (const { disks, isLeft, idsOf } of kinds) {
      const wanted = new Set<string>();
      idsOf(pod, volumes, wanted);
      if (wanted.size === 0) continue;
      return (node) => {
        if (isLeft(node, volumes)) return undefined;
        const used = new Set<string>();
        for (const other of node.volumePods.values()) idsOf(other, volumes, used);
        return {
          free: limitOn(node, disks, settings) - used.size,
          wanted: [...wanted].filter((id) => !used.has(id)).length,
        };
      };
    }
    return undefined;
  };
}

/** CSI volumes: the driver of each, by what tells it from others. */
type CsiVolumes = Map<string, string>;

/** Built-in kinds that a node has migrated to CSI drivers: the driver, by kind and by built-in provisioner. */
interface Migrated {
  readonly byKind: ReadonlyMap<string, string>;
  readonly byProvisioner: ReadonlyMap<string, string>;
}

const NOTHING_MIGRATED: Migrated = { byKind: new Map(), byProvisioner: new Map() };

function migrationOf(kinds: readonly Pick<BuiltInDisks, 'kind' | 'provisioner' | 'driver'>[]): Migrated {
  return {
    byKind: new Map(kinds.map(({ kind, driver }) => [kind, driver])),
    byProvisioner: new Map(kinds.map(({ provisioner, driver }) => [provisioner, driver])),
  };
}

/** NodeVolumeLimits. */
export function csiVolumeLimits({
  provisionerPrefix,
  migrated: mayBe,
}: Pick<DiskSettings, 'provisionerPrefix' | 'migrated'>): FilterPlugin {
  const kinds = BUILT_IN.filter(({ provisioner }) => mayBe.includes(provisioner)).map((disks) => {
    return { kind: disks.kind, provisioner: `${provisionerPrefix}${disks.provisioner}`, driver: disks.driver };
  });
  /** By what is said of a node, which is asked about with every pod that has claims. */
  const migratedTo = remembered((provisioners: ReadonlySet<string>): Migrated => {
    const migrated = kinds.filter(({ provisioner }) => provisioners.has(provisioner));
    return migrated.length === 0 ? NOTHING_MIGRATED : migrationOf(migrated);
  });
  return {
    name: 'NodeVolumeLimits',
    prepareFilter(pod, { objects: { volumes } }) {
      if (pod.volumes.claims.length === 0) return null;
      const wantedAnywhere = csiVolumes([pod], volumes, NOTHING_MIGRATED);
      return (node) => {
        const { limits, migrated: provisioners } = volumes.attachLimits(node.name);
        const migrated = migratedTo(provisioners);
        const wanted = migrated === NOTHING_MIGRATED ? wantedAnywhere : csiVolumes([pod], volumes, migrated);
        const limitOf = (driver: string) => limits.get(driver) ?? node.allocatable.scalars.get(csiLimitName(driver));
        for (const driver of new Set(wanted.values())) {
          const limit = limitOf(driver);
          if (limit === undefined || node.volumeUses + wanted.size <= limit) continue;
          const used = csiVolumes(node.volumePods.values(), volumes, migrated);
          // A volume that is there already is no further one, even where there are too many.
          const more = countOf(driver, wanted, (id) => !used.has(id));
          if (more > 0 && countOf(driver, used) + more > limit) return TOO_MANY;
        }
        return null;
      };
    },
  };
}

function csiLimitName(driver: string): string {
  const name = `${CSI_LIMIT_PREFIX}${driver}`;
  if (name.length < LIMIT_NAME_END) return name;
  const digest = createHash('sha1').update(driver).digest('hex').slice(0, DIGEST_TOLD);
  return `${CSI_LIMIT_PREFIX}${driver.slice(0, DRIVER_TOLD)}${digest}`;
}

function countOf(driver: string, volumes: CsiVolumes, counts: (id: string) => boolean = () => true): number {
  let count = 0;
  for (const [id, each] of volumes) if (each === driver && counts(id)) count++;
  return count;
}

function csiVolumes(pods: Iterable<PodInfo>, volumes: VolumeState, migrated: Migrated): CsiVolumes {
  const found: CsiVolumes = new Map();
  const add = (driver: string | undefined, id: string) => {
    if (driver !== undefined) found.set(`${driver}/${id}`, driver);
  };
  for (const pod of pods) {
    forEachClaim(pod, volumes, (claim, volume) => {
      if (volume !== undefined) {
        const { disk } = volume;
        if (disk !== undefined) add(disk.driver ?? migrated.byKind.get(disk.kind), disk.id);
        return;
      }
      const provisioner = volumes.classes.get(claim.storageClass)?.provisioner;
      if (provisioner === undefined) return;
      add(migrated.byProvisioner.get(provisioner) ?? provisioner, `${claim.namespace}/${claim.name}`);
    });
  }
  return found;
}

/** The pod's claims that are there, with the volume of each, if it has one. */
function forEachClaim(
  pod: PodInfo,
  volumes: VolumeState,
  visit: (claim: Claim, volume: Volume | undefined) => void,
): void {
  for (const { name } of pod.volumes.claims) {
    const claim = volumes.claim(pod.namespace, name);
    if (claim !== undefined) visit(claim, claim.volumeName === '' ? undefined : volumes.volume(claim.volumeName));
  }
}
