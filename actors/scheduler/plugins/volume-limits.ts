// NodeVolumeLimits: a node attaches only so many disks of a kind. One check for CSI drivers, whose limits the node's CSI
// object says, and one for each kind of disk that is built in.
import { ClusterEvent } from '../core/cluster-event.ts';
import type { NodeInfo } from '../core/node-info.ts';
import { type FilterPlugin, refusal } from '../framework/framework.ts';
import type { Claim, Volume } from '../objects/volume-objects.ts';
import type { VolumeState } from '../objects/volume-state.ts';
import type { PodInfo } from '../pods/pod-info.ts';

const TOO_MANY = refusal(
  'unschedulable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeAllocatable | ClusterEvent.podRemoved | ClusterEvent.attachLimits,
  'node(s) exceed max volume count',
);
const LIMIT_PREFIX = 'attachable-volumes-';
/** A node's allocatable names the limit of a CSI driver so, if its CSI object does not. */
const CSI_LIMIT_PREFIX = `${LIMIT_PREFIX}csi-`;

interface BuiltInDisks {
  readonly plugin: string;
  /** The member of the volume's source. */
  readonly kind: string;
  readonly provisioner: string;
  /** What a node's allocatable calls the limit. */
  readonly limitName: string;
  readonly limit: (node: NodeInfo) => number;
}

const INSTANCE_TYPE_LABEL = /(?:^|\/)instance-type$/;
/** Machines of these types attach their disks like network cards, of which they have fewer. */
const FEWER_DISKS = /^(?:[cmr]5|t3|z1d)/;

const BUILT_IN: readonly BuiltInDisks[] = [
  {
    plugin: 'EBSLimits',
    kind: 'awsElasticBlockStore',
    provisioner: 'aws-ebs',
    limitName: `${LIMIT_PREFIX}aws-ebs`,
    limit: (node) => {
      for (const [label, value] of node.labels) {
        if (INSTANCE_TYPE_LABEL.test(label) && FEWER_DISKS.test(value)) return 25;
      }
      return 39;
    },
  },
  {
    plugin: 'GCEPDLimits',
    kind: 'gcePersistentDisk',
    provisioner: 'gce-pd',
    limitName: `${LIMIT_PREFIX}gce-pd`,
    limit: () => 16,
  },
  {
    plugin: 'AzureDiskLimits',
    kind: 'azureDisk',
    provisioner: 'azure-disk',
    limitName: `${LIMIT_PREFIX}azure-disk`,
    limit: () => 16,
  },
  {
    plugin: 'CinderLimits',
    kind: 'cinder',
    provisioner: 'cinder',
    limitName: `${LIMIT_PREFIX}cinder`,
    limit: () => 256,
  },
];

/** The limits of one kind of built-in disk. `provisionerPrefix` begins the names of the built-in provisioners. */
function builtInLimits(disks: BuiltInDisks, provisionerPrefix: string): FilterPlugin {
  const provisioner = `${provisionerPrefix}${disks.provisioner}`;
  const idsOf = (pod: PodInfo, volumes: VolumeState, into: Set<string>) => {
    for (const { kind, id } of pod.volumes.disks) if (kind === disks.kind) into.add(id);
    forEachClaim(pod, volumes, (claim, volume) => {
      if (volume !== undefined) {
        if (volume.disk?.kind === disks.kind) into.add(volume.disk.id);
      } else if (volumes.classes.get(claim.storageClass)?.provisioner === provisioner) {
        into.add(`${claim.namespace}/${claim.name}`);
      }
    });
  };
  return {
    name: disks.plugin,
    prepareFilter(pod, { objects: { volumes } }) {
      const wanted = new Set<string>();
      idsOf(pod, volumes, wanted);
      if (wanted.size === 0) return null;
      return (node) => {
        const limit = node.allocatable.scalars.get(disks.limitName) ?? disks.limit(node);
        // Every use a disk of its own: the most there can be, which is nearly always few enough.
        if (node.volumeUses + wanted.size <= limit) return null;
        if (volumes.attachLimits(node.name).migrated.has(provisioner)) return null;
        const used = new Set(wanted);
        for (const other of node.volumePods.values()) idsOf(other, volumes, used);
        return used.size > limit ? TOO_MANY : null;
      };
    },
  };
}

/** EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits. */
export function builtInVolumeLimits(provisionerPrefix: string): readonly FilterPlugin[] {
  return BUILT_IN.map((disks) => builtInLimits(disks, provisionerPrefix));
}

/** A CSI volume: its driver, and what tells it from others. */
type CsiVolumes = Map<string, string>;

export const csiVolumeLimits: FilterPlugin = {
  name: 'NodeVolumeLimits',
  prepareFilter(pod, { objects: { volumes } }) {
    const wanted: CsiVolumes = new Map();
    csiVolumes(pod, volumes, wanted);
    if (wanted.size === 0) return null;
    return (node) => {
      const { limits } = volumes.attachLimits(node.name);
      const limitOf = (driver: string) =>
        limits.get(driver) ?? node.allocatable.scalars.get(`${CSI_LIMIT_PREFIX}${driver}`);
      for (const driver of new Set(wanted.values())) {
        const limit = limitOf(driver);
        if (limit === undefined || node.volumeUses + wanted.size <= limit) continue;
        const used: CsiVolumes = new Map(wanted);
        for (const other of node.volumePods.values()) csiVolumes(other, volumes, used);
        let count = 0;
        for (const each of used.values()) if (each === driver) count++;
        if (count > limit) return TOO_MANY;
      }
      return null;
    };
  },
};

function csiVolumes(pod: PodInfo, volumes: VolumeState, into: CsiVolumes): void {
  forEachClaim(pod, volumes, (claim, volume) => {
    if (volume !== undefined) {
      if (volume.disk?.driver !== undefined) into.set(`${volume.disk.driver}/${volume.disk.id}`, volume.disk.driver);
      return;
    }
    const provisioner = volumes.classes.get(claim.storageClass)?.provisioner;
    if (provisioner !== undefined) into.set(`${provisioner}/${claim.namespace}/${claim.name}`, provisioner);
  });
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
