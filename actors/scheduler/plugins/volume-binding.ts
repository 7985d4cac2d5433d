// VolumeBinding: a pod goes where its bound volumes can be reached, and where its claims that wait for their first
// consumer get a volume, found or made. What is found is reserved with the node and written before the pod is bound.

import type {
  FilterPlugin,
  ObjectPatch,
  PreBindPlugin,
  PreBindWork,
  ReservePlugin,
  ScorePlugin,
} from '../framework/framework.ts';
import { DEFAULT_GATES, type SchedulerGates } from '../framework/gates.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { Claim, Volume } from '../objects/volume-objects.ts';
import type { VolumeReservation, VolumeState } from '../objects/volume-state.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import type { ClaimUse } from '../pods/pod-volumes.ts';
import { refusal, type Status } from '../status.ts';
import { type ShapePoint, scoreAt, scoreLine } from './requested-to-capacity-ratio.ts';
import { type Provisioning, provisioning, type VolumeFinder, volumeFinder } from './volume-match.ts';
import { type Reach, reachable } from './volume-reach.ts';

/** What a node leaves to CSI drivers may say from where a volume is reached. */
const HELPED_BY = ClusterEvent.nodeAdded | ClusterEvent.nodeLabels | ClusterEvent.volumes | ClusterEvent.attachLimits;
const OUT_OF_REACH = refusal('unresolvable', HELPED_BY, 'node(s) had volume node affinity conflict');
const NONE_TO_BIND = refusal('unresolvable', HELPED_BY, "node(s) didn't find available persistent volumes to bind");
const TOO_LITTLE_ROOM = refusal('unresolvable', HELPED_BY, 'node(s) did not have enough free storage');
const NO_SUCH_VOLUME = refusal(
  'unresolvable',
  HELPED_BY,
  'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
);
/** By what is against the bound volumes, and what against the others: both are told. */
const BOTH: ReadonlyMap<Status, ReadonlyMap<Status, Status>> = new Map(
  [OUT_OF_REACH, NO_SUCH_VOLUME].map((bound) => [
    bound,
    new Map(
      [NONE_TO_BIND, TOO_LITTLE_ROOM].map((unbound) => [
        unbound,
        refusal('unresolvable', HELPED_BY, ...bound.reasons, ...unbound.reasons),
      ]),
    ),
  ]),
);
const WAITS_FOR_BINDING = 'pod has unbound immediate PersistentVolumeClaims';

export interface VolumeBindingArgs {
  /** How long a pod waits before it is bound for its volumes to be bound or made; 0: for as long as that takes. */
  readonly bindTimeoutMs: number;
  /** How nodes are scored by the share of the found volumes that the claims ask for. */
  readonly shape?: readonly ShapePoint[];
}

/** The fuller the volumes found would be, the better. */
const FULLEST_FIRST: readonly ShapePoint[] = [
  { utilization: 0, score: 0 },
  { utilization: 100, score: 10 },
];
const FULL = 100;

/** A pod's claims, sorted by what is to be done about them. */
interface PodClaims {
  readonly bound: readonly (Volume | undefined)[];
  /** Those whose volume is being made already, then the smallest first. */
  readonly unbound: readonly UnboundClaim[];
}

/** A claim that gets a volume with the node, and what it would get there. */
interface UnboundClaim {
  readonly claim: Claim;
  /** Where its volume is being made already; empty: nowhere yet. */
  readonly selectedNode: string;
  readonly volumeOn: VolumeFinder;
  readonly provisioningOn: (node: NodeInfo) => Provisioning;
}

/** What feature gates say of volumes that claims wait for. */
type VolumeGates = Pick<SchedulerGates, 'scoresVolumeCapacity' | 'heedsStorageCapacity'>;

/** `reach`: from where volumes that somebody has can be reached. */
export function volumeBinding(
  args: VolumeBindingArgs,
  { scoresVolumeCapacity, heedsStorageCapacity }: VolumeGates = DEFAULT_GATES,
  reach: Reach = reachable,
): FilterPlugin & ReservePlugin & PreBindPlugin & Partial<ScorePlugin> {
  /** By uid, of pods between reservation and binding. */
  const reserved = new Map<string, { readonly reservation: VolumeReservation; readonly volumes: VolumeState }>();
  return {
    name: 'VolumeBinding',
    prepareFilter(pod, { objects: { volumes } }) {
      if (pod.volumes.claims.length === 0) return null;
      const claims = claimsOf(pod, volumes, heedsStorageCapacity);
      if ('code' in claims) return claims;
      const isReached = (volume: Volume, node: NodeInfo) => reach(volume, node, volumes);
      return (node) => check(claims, node, isReached);
    },
    ...(scoresVolumeCapacity ? capacityScores(scoreLine(args.shape ?? FULLEST_FIRST), heedsStorageCapacity) : {}),
    reserve(pod, node, { objects: { volumes } }) {
      if (pod.volumes.claims.length === 0) return null;
      const claims = claimsOf(pod, volumes, heedsStorageCapacity);
      if ('code' in claims) return claims;
      const found = find(claims.unbound, node);
      if ('code' in found) return found;
      if (found.bindings.length + found.provisions.length === 0) return null;
      volumes.reserve(found);
      reserved.set(pod.uid, { reservation: found, volumes });
      return null;
    },
    unreserve(pod) {
      const held = reserved.get(pod.uid);
      if (held === undefined) return;
      reserved.delete(pod.uid);
      held.volumes.release(held.reservation);
    },
    preBind(pod, node) {
      const held = reserved.get(pod.uid);
      if (held === undefined) return null;
      const { reservation, volumes } = held;
      const isHeld = () => reserved.get(pod.uid) === held;
      return {
        writes: writesOf(reservation, volumes),
        timeoutMs: args.bindTimeoutMs || Number.POSITIVE_INFINITY,
        waitsFor: 'binding volumes',
        progress: progressOf({ reservation, volumes, node, pod, isHeld, reach }),
      };
    },
    settled(pod) {
      const held = reserved.get(pod.uid);
      reserved.delete(pod.uid);
      held?.volumes.release(held.reservation);
    },
  };
}

/** Scores nodes by the volumes that the pod's claims would get there, the mean of their classes. */
function capacityScores(line: readonly ShapePoint[], heedsCapacity: boolean): Pick<ScorePlugin, 'prepareScore'> {
  return {
    prepareScore(pod, { objects: { volumes } }) {
      const claims = pod.volumes.claims.length === 0 ? undefined : claimsOf(pod, volumes, heedsCapacity);
      if (claims === undefined || 'code' in claims || claims.unbound.length === 0) return null;
      return {
        normalize: 'none',
        score(node) {
          const found = find(claims.unbound, node);
          return 'code' in found ? 0 : capacityScore(found, line);
        },
      };
    },
  };
}

function capacityScore({ bindings }: VolumeReservation, line: readonly ShapePoint[]): number {
  const byClass = new Map<string, { requested: number; capacity: number }>();
  for (const { claim, volume } of bindings) {
    const sum = byClass.get(volume.storageClass) ?? { requested: 0, capacity: 0 };
    sum.requested += claim.requestBytes;
    sum.capacity += volume.capacityBytes;
    byClass.set(volume.storageClass, sum);
  }
  if (byClass.size === 0) return 0;
  let total = 0;
  for (const { requested, capacity } of byClass.values()) {
    const isFull = capacity === 0 || requested > capacity;
    total += scoreAt(line, isFull ? FULL : Math.trunc((requested * FULL) / capacity));
  }
  return Math.round(total / byClass.size);
}

/** A Status where the claims can be bound to no node as they are. What is wrong with any of them is told before what is waited for. */
function claimsOf(pod: PodInfo, volumes: VolumeState, heedsCapacity: boolean): PodClaims | Status {
  const bound: (Volume | undefined)[] = [];
  const unbound: Claim[] = [];
  const claims: Claim[] = [];
  for (const use of pod.volumes.claims) {
    const claim = volumes.claim(pod.namespace, use.name);
    const problem = claimProblem(pod, use, claim);
    if (claim === undefined || problem !== undefined) return refusal('unresolvable', HELPED_BY, problem ?? '');
    claims.push(claim);
  }
  for (const claim of claims) {
    if (claim.bound) bound.push(volumes.volume(claim.volumeName));
    else if (claim.volumeName === '' && volumes.classes.get(claim.storageClass)?.waitsForConsumer) unbound.push(claim);
    else return refusal('unresolvable', HELPED_BY, WAITS_FOR_BINDING);
  }
  const isBeingMade = (claim: Claim) => volumes.selectedNode(claim) !== '';
  const others = unbound.filter((claim) => !isBeingMade(claim)).sort((a, b) => a.requestBytes - b.requestBytes);
  const inOrder = [...unbound.filter(isBeingMade), ...others];
  return { bound, unbound: inOrder.map((claim) => unboundClaim(claim, volumes, heedsCapacity)) };
}

function unboundClaim(claim: Claim, volumes: VolumeState, heedsCapacity: boolean): UnboundClaim {
  return {
    claim,
    selectedNode: volumes.selectedNode(claim),
    volumeOn: volumeFinder(claim, volumes),
    provisioningOn: provisioning(claim, volumes, heedsCapacity),
  };
}

function claimProblem(pod: PodInfo, { name, ephemeral }: ClaimUse, claim: Claim | undefined): string | undefined {
  if (claim === undefined) return `persistentvolumeclaim "${name}" not found`;
  if (claim.lost) return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.volumeName}"`;
  if (claim.deleting) return `persistentvolumeclaim "${name}" is being deleted`;
  if (ephemeral && claim.ownerPodUid !== pod.uid) {
    return `persistentvolumeclaim "${name}" was not created for the pod`;
  }
  return undefined;
}

type IsReached = (volume: Volume, node: NodeInfo) => boolean;

function check({ bound, unbound }: PodClaims, node: NodeInfo, isReached: IsReached): Status | null {
  const ofBound = checkBound(bound, node, isReached);
  if (unbound.length === 0) return ofBound;
  const found = find(unbound, node);
  if (!('code' in found)) return ofBound;
  return ofBound === null ? found : (BOTH.get(ofBound)?.get(found) ?? ofBound);
}

function checkBound(volumes: PodClaims['bound'], node: NodeInfo, isReached: IsReached): Status | null {
  for (const volume of volumes) {
    if (volume === undefined) return NO_SUCH_VOLUME;
    if (!isReached(volume, node)) return OUT_OF_REACH;
  }
  return null;
}

/** A volume for each claim on the node, or where one could be made. */
function find(claims: readonly UnboundClaim[], node: NodeInfo): VolumeReservation | Status {
  const bindings: { claim: Claim; volume: Volume }[] = [];
  const provisions: Claim[] = [];
  const taken = new Set<string>();
  if (claims.some(({ selectedNode }) => selectedNode !== '' && selectedNode !== node.name)) return NONE_TO_BIND;
  for (const { claim, selectedNode, volumeOn, provisioningOn } of claims) {
    const volume = selectedNode === '' ? volumeOn(node, taken) : undefined;
    if (volume !== undefined) {
      taken.add(volume.name);
      bindings.push({ claim, volume });
      continue;
    }
    const possible = provisioningOn(node);
    if (possible !== 'possible') return possible === 'impossible' ? NONE_TO_BIND : TOO_LITTLE_ROOM;
    provisions.push(claim);
  }
  return { bindings, provisions, node: node.name };
}

interface Awaited {
  readonly reservation: VolumeReservation;
  readonly volumes: VolumeState;
  readonly node: NodeInfo;
  readonly pod: PodInfo;
  /** False when the pod is gone, and what was reserved for it given back. */
  readonly isHeld: () => boolean;
  readonly reach: Reach;
}

/** The volume controller and provisioners do their part after what `writesOf` says was written. */
function progressOf(awaited: Awaited): PreBindWork['progress'] {
  return () => {
    const state = progress(awaited);
    return state === 'done' || state === 'waiting' ? state : refusal('error', 0, state);
  };
}

function writesOf({ bindings, provisions, node }: VolumeReservation, { names }: VolumeState): readonly ObjectPatch[] {
  const writes: ObjectPatch[] = [];
  for (const { claim, volume } of bindings) {
    const { namespace, name, uid, resourceVersion } = claim;
    if (volume.claim?.uid === uid) continue;
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
    // Whoever keeps a volume for a claim has bound it himself, and it stays kept when it is given up.
    const annotations = volume.claim === undefined ? { [names.boundByController]: 'yes' } : {};
    const patch = { metadata: { resourceVersion: volume.resourceVersion, annotations }, spec: { claimRef } };
    writes.push({ resource: 'persistentvolumes', namespace: '', name: volume.name, patch });
  }
  for (const { namespace, name, uid, resourceVersion, selectedNode } of provisions) {
    if (selectedNode === node) continue;
    const patch = { metadata: { uid, resourceVersion, annotations: { [names.selectedNode]: node } } };
    writes.push({ resource: 'persistentvolumeclaims', namespace, name, patch });
  }
  return writes;
}

/** What is written of a volume or a claim, as it was when it was reserved. */
interface Reserved {
  readonly before: Pick<Claim, 'resourceVersion'>;
  /** Nothing had to be written. */
  readonly wasThere: boolean;
}

/**
 * Whether what was written is there, or has not been heard of yet. Else somebody has taken it back, as provisioners do that
 * cannot make a volume for the node. A write holds only on the version that it was decided by: any other version comes after it,
 * also where the write itself was never seen between two looks.
 */
function stands(now: Pick<Claim, 'resourceVersion'>, isThere: boolean, { before, wasThere }: Reserved): boolean {
  return isThere || (!wasThere && now.resourceVersion === before.resourceVersion);
}

/** Where things stand: a text that is neither word says what went wrong. */
function progress(awaited: Awaited): string {
  const { reservation, volumes, node, pod, isHeld, reach } = awaited;
  const { bindings, provisions } = reservation;
  if (!isHeld()) return `pod does not exist any more: pod ${quoted(pod.name)} not found`;
  if (!node.present) return `failed to get node ${quoted(node.name)}: node ${quoted(node.name)} not found`;
  for (const { claim, volume } of bindings) {
    const now = volumes.volume(volume.name);
    if (now === undefined) return `failed to check binding: could not find v1.PersistentVolume ${quoted(volume.name)}`;
    if (!reach(now, node, volumes)) return outOfReach(now, node);
    const written = { before: volume, wasThere: volume.claim?.uid === claim.uid };
    if (!stands(now, now.claim?.uid === claim.uid, written)) return `ClaimRef got reset for pv ${quoted(volume.name)}`;
  }
  const states = bindings.map(({ claim }) => claimProgress('binding', claim, awaited));
  for (const claim of provisions) {
    const { namespace, name } = claim;
    const now = volumes.claim(namespace, name);
    const written = { before: claim, wasThere: claim.selectedNode === node.name };
    if (now !== undefined && !stands(now, now.bound || now.selectedNode === node.name, written)) {
      return `provisioning failed for PVC ${quoted(name)}`;
    }
    states.push(claimProgress('provisioning pvc', claim, awaited));
  }
  const problem = states.find((state) => state !== 'done' && state !== 'waiting');
  return problem ?? (states.includes('waiting') ? 'waiting' : 'done');
}

/** Where things stand with a claim. `checked` is what is told to fail when it is gone. */
function claimProgress(checked: string, { namespace, name, uid }: Claim, { node, volumes, reach }: Awaited): string {
  const claim = volumes.claim(namespace, name);
  if (claim?.uid !== uid) {
    return `failed to check ${checked}: could not find v1.PersistentVolumeClaim ${quoted(`${namespace}/${name}`)}`;
  }
  const volume = claim.volumeName === '' ? undefined : volumes.volume(claim.volumeName);
  // It may have been bound to another volume than was written.
  if (volume !== undefined && !reach(volume, node, volumes)) return outOfReach(volume, node);
  return claim.bound && volume !== undefined ? 'done' : 'waiting';
}

function outOfReach(volume: Volume, node: NodeInfo): string {
  return `pv ${quoted(volume.name)} node affinity doesn't match node ${quoted(node.name)}: no matching NodeSelectorTerms`;
}

const quoted = (text: string): string => JSON.stringify(text);
