// What follows from the choice of a node, by the reserve and permit plug-ins of a profile: all of them agree, or nothing is left
// reserved. Pure but for what the plug-ins keep.
import type { ClusterView, PermitWait, Profile, ReservePlugin } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { Status } from '../status.ts';
import { type CycleTiming, NO_TIMING, outcomeOf } from './cycle-timing.ts';
import type { PermitWaits } from './waiting-pods.ts';

/** Who makes the pod wait before its binding, and for how long at most. */
export interface Agreement {
  readonly waits: PermitWaits | undefined;
}

/** A Status when one refuses; then nothing is left reserved. */
export function reserveAndPermit(
  pod: PodInfo,
  node: NodeInfo,
  { schedulerName, reserves, permits }: Profile,
  cluster: ClusterView,
  timing: CycleTiming = NO_TIMING,
): Status | Agreement {
  let status: Status | null = null;
  let waits: Map<string, PermitWait> | undefined;
  const beganMs = timing.nowMs();
  for (const plugin of reserves) status ??= plugin.reserve(pod, node, cluster);
  timing.point(schedulerName, 'Reserve', outcomeOf(status), beganMs);
  const isReserved = status === null;
  const reservedMs = timing.nowMs();
  for (const plugin of permits) {
    const permit = status ?? plugin.permit(pod, node);
    if (permit === null) continue;
    if ('code' in permit) status = permit;
    else {
      waits ??= new Map();
      waits.set(plugin.name, permit);
    }
  }
  const permitted = status === null && waits !== undefined ? 'Wait' : outcomeOf(status);
  if (isReserved) timing.point(schedulerName, 'Permit', permitted, reservedMs);
  if (status === null) return { waits };
  unreserve(pod, node, reserves);
  return status;
}

/** In the opposite order, as what came later may build on what came before. */
export function unreserve(pod: PodInfo, node: NodeInfo, reserves: readonly ReservePlugin[]): void {
  for (let at = reserves.length - 1; at >= 0; at--) reserves[at]!.unreserve(pod, node);
}
