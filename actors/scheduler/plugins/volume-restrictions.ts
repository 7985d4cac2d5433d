// VolumeRestrictions: some disks can be used by one pod of a node at a time, or by several that only read.

import type { FilterPlugin } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { ExclusiveDisk } from '../pods/pod-volumes.ts';
import { refusal } from '../status.ts';

const IN_USE = refusal(
  'unschedulable',
  ClusterEvent.nodeAdded | ClusterEvent.podRemoved,
  'node(s) had no available disk',
);

export const volumeRestrictions: FilterPlugin = {
  name: 'VolumeRestrictions',
  prepareFilter({ volumes: { exclusive } }) {
    if (exclusive.length === 0) return null;
    return (node) => {
      for (const { volumes } of node.volumePods.values()) {
        if (volumes.exclusive.some((used) => exclusive.some((wanted) => conflict(used, wanted)))) return IN_USE;
      }
      return null;
    };
  },
};

function conflict(a: ExclusiveDisk, b: ExclusiveDisk): boolean {
  return a.kind === b.kind && !(a.readOnly && b.readOnly) && a.ids.some((id) => b.ids.includes(id));
}
