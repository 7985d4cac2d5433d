// Room on nodes that is kept for pods without a node: promised where others are leaving to make it (nominations), taken where one was
// chosen (assumed, with what the plug-ins of the pod's profile reserve beside), until the binding shows or came to nothing.
import type { Profile, ReservePlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Status } from '../status.ts';
import type { ClusterState, PlacedPod } from './cluster-state.ts';
import type { CycleTiming } from './cycle-timing.ts';
import { Nominations } from './nominations.ts';
import type { QueuedPod } from './queue.ts';
import { type Agreement, reserveAndPermit, unreserve } from './reservation.ts';
import type { TimedProfiles } from './timed-profile.ts';

export interface KeptRoomParts {
  readonly cluster: ClusterState;
  readonly profiles: TimedProfiles;
  readonly timing: CycleTiming;
  /** How long an assumed pod waits for its binding to show in the events. */
  readonly assumedMaxMs: number;
  /** Told the ClusterEvents of room that is left. */
  readonly onEvents: (events: number) => void;
}

const NO_RESERVES: readonly ReservePlugin[] = Object.freeze([]);

export class KeptRoom {
  readonly nominations: Nominations;
  private readonly parts: KeptRoomParts;

  constructor(parts: KeptRoomParts) {
    this.parts = parts;
    this.nominations = new Nominations({
      onRoomLeft: () => {
        parts.cluster.changes++;
        parts.onEvents(ClusterEvent.podRemoved);
      },
      onNode: (name) => parts.cluster.node(name)?.answered.forget(),
    });
  }

  /** Takes the node for the pod, which is then assumed there; a Status when a plug-in refuses, and then nothing is taken. */
  take(queued: QueuedPod, node: NodeInfo, profile: Profile, nowMs: number): Status | Agreement {
    const { cluster, timing, assumedMaxMs } = this.parts;
    const { pod } = queued;
    cluster.assume(queued, node, nowMs + assumedMaxMs);
    const agreed = reserveAndPermit(pod, node, profile, cluster, timing);
    if ('code' in agreed) cluster.removePod(pod.key);
    else this.nominations.remove(pod.key, node.name);
    return agreed;
  }

  /** The binding of an assumed pod is under way: its place is kept until it is settled. */
  hold(pod: PodInfo): void {
    const { cluster } = this.parts;
    const placed = cluster.assumption(pod.key, pod.uid);
    if (placed !== undefined) cluster.expireAt(placed, Number.POSITIVE_INFINITY);
  }

  /** The binding of an assumed pod is written, or nobody knows: its place is kept for as long as that may take to show. */
  awaitEvent(placed: PlacedPod, nowMs: number): void {
    const { cluster, assumedMaxMs } = this.parts;
    cluster.expireAt(placed, nowMs + assumedMaxMs);
  }

  /**
   * An assumed pod shows as bound, whatever the answer to its binding says or will say, if one comes: what was reserved is its
   * own. Where another node or another pod of its name shows, what was taken is left.
   */
  settle(placed: PlacedPod, { uid, nodeName }: PodInfo): void {
    if (placed.node.name !== nodeName || placed.pod.uid !== uid) this.free(placed);
    else for (const plugin of this.reservesOf(placed.pod)) plugin.settled?.(placed.pod);
  }

  /** Frees what a pod occupies. */
  free({ pod, node, assumed }: PlacedPod): void {
    const { cluster, onEvents } = this.parts;
    onEvents(cluster.removePod(pod.key));
    if (assumed === undefined) return;
    unreserve(pod, node, this.reservesOf(pod));
    // The volumes that it was to get are there for others, of which no other event tells.
    if (pod.volumes.claims.length > 0) onEvents(ClusterEvent.volumes);
  }

  private reservesOf(pod: PodInfo): readonly ReservePlugin[] {
    return this.parts.profiles.get(pod.schedulerName)?.reserves ?? NO_RESERVES;
  }
}
