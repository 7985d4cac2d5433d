// VolumeZone: a volume that carries labels of a zone or region is used on nodes of that zone or region.
import type { Dialect } from '../../../config/dialect.ts';
import type { FilterPlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { VolumeState } from '../objects/volume-state.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { refusal, type Status } from '../status.ts';
import { ZONE_SEPARATOR } from './volume-limits.ts';

const VOLUMES = ClusterEvent.volumes;
const NODES = ClusterEvent.nodeAdded | ClusterEvent.nodeLabels;
const OTHER_ZONE = refusal('unresolvable', NODES | VOLUMES, 'node(s) had no available volume zone');

/** A label of a volume, and the values that will do on a node. */
interface ZoneDemand {
  readonly label: string;
  readonly values: ReadonlySet<string>;
}

export function volumeZone(dialect: Dialect): FilterPlugin {
  const labels = ['topology.@label/zone', 'topology.@label/region']
    .concat('failure-domain.beta.@label/zone', 'failure-domain.beta.@label/region')
    .map((label) => dialect.spell(label));
  return {
    name: 'VolumeZone',
    prepareFilter(pod, { objects: { volumes } }) {
      if (pod.volumes.claims.length === 0) return null;
      const demands = zoneDemands(pod, volumes, labels);
      if ('code' in demands) return (node) => (labels.some((label) => node.labels.has(label)) ? demands : null);
      return demands.length === 0 ? null : (node) => check(node, demands, labels);
    },
  };
}

/** Nodes without any label of the kind are in no zone, and refused nothing. */
function check(node: NodeInfo, demands: readonly ZoneDemand[], labels: readonly string[]): Status | null {
  for (const { label, values } of demands) {
    if (values.has(node.labels.get(label) ?? '')) continue;
    return labels.some((each) => node.labels.has(each)) ? OTHER_ZONE : null;
  }
  return null;
}

/** What the volumes of a pod's claims demand; a Status where that cannot be known yet. */
function zoneDemands(pod: PodInfo, volumes: VolumeState, labels: readonly string[]): readonly ZoneDemand[] | Status {
  const demands: ZoneDemand[] = [];
  for (const { name } of pod.volumes.claims) {
    const claim = volumes.claim(pod.namespace, name);
    if (claim === undefined) return unresolved(`persistentvolumeclaim "${name}" not found`);
    if (claim.volumeName === '') {
      if (claim.storageClass === '') {
        return unresolved('PersistentVolumeClaim had no pv name and storageClass name');
      }
      const storageClass = volumes.classes.get(claim.storageClass);
      if (storageClass?.waitsForConsumer) continue;
      return unresolved(
        storageClass === undefined ? `storageclass "${claim.storageClass}" not found` : 'PersistentVolume had no name',
      );
    }
    const volume = volumes.volume(claim.volumeName);
    if (volume === undefined) return unresolved(`persistentvolume "${claim.volumeName}" not found`);
    for (const label of labels) {
      const values = volume.labels.get(label)?.split(ZONE_SEPARATOR) ?? [];
      // With an empty name among them, as where the label is empty, it is no list of zones.
      if (values.length > 0 && !values.includes('')) demands.push({ label, values: new Set(values) });
    }
  }
  return demands;
}

function unresolved(reason: string): Status {
  return refusal('unresolvable', NODES | VOLUMES, reason);
}
