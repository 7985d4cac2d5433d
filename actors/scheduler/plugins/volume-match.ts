// Which persistent volume a claim would get on a node, and whether one could be made for it there. Pure: VolumeBinding
// asks, and the volume state knows what is taken.
import type { NodeInfo } from '../core/node-info.ts';
import type { Claim, Volume } from '../objects/volume-objects.ts';
import type { VolumeState } from '../objects/volume-state.ts';
import { anyTermCheck } from './node-selector-terms.ts';

/** Whether a volume can be reached from a node. */
export function reachable({ nodeTerms }: Volume, node: NodeInfo): boolean {
  return nodeTerms === undefined || anyTermCheck(nodeTerms)(node);
}

/**
 * The volume for a claim that waits for its first consumer: the one that is kept for it, else the smallest free one that
 * will do. `taken` are those that other claims of the same pod get.
 */
export function matchingVolume(
  claim: Claim,
  node: NodeInfo,
  volumes: VolumeState,
  taken: ReadonlySet<string>,
): Volume | undefined {
  let best: Volume | undefined;
  for (const volume of volumes.volumesOfClass(claim.storageClass, claim)) {
    if (taken.has(volume.name) || volume.deleting || volume.block !== claim.block) continue;
    if (volume.capacityBytes < claim.requestBytes) continue;
    if (volume.claim !== undefined) {
      if (!keptFor(volume, claim)) continue;
      return reachable(volume, node) ? volume : undefined;
    }
    if (!fits(volume, claim) || !reachable(volume, node)) continue;
    if (best === undefined || volume.capacityBytes < best.capacityBytes) best = volume;
  }
  return best;
}

function keptFor({ claim: kept }: Volume, claim: Claim): boolean {
  if (kept?.name !== claim.name || kept.namespace !== claim.namespace) return false;
  return kept.uid === '' || kept.uid === claim.uid;
}

function fits(volume: Volume, claim: Claim): boolean {
  if (volume.phase !== 'Available') return false;
  if (claim.selector !== undefined && !claim.selector.matches(Object.fromEntries(volume.labels))) return false;
  return claim.accessModes.every((mode) => volume.accessModes.includes(mode));
}

export type Provisioning = 'possible' | 'impossible' | 'too little room';

/** Whether a volume for the claim could be made for the node. */
export function provisioning(claim: Claim, node: NodeInfo, volumes: VolumeState): Provisioning {
  const storageClass = volumes.classes.get(claim.storageClass);
  if (storageClass === undefined) return 'impossible';
  const { provisioner, allowedTopologies } = storageClass;
  if (provisioner === '' || provisioner === volumes.names.noProvisioner) return 'impossible';
  if (allowedTopologies !== undefined && !anyTermCheck(allowedTopologies)(node)) return 'impossible';
  if (!volumes.driversWithCapacity.has(provisioner)) return 'possible';
  const labels = Object.fromEntries(node.labels);
  const roomy = volumes.capacitiesOf(claim.storageClass).some(({ nodes, bytes, maximumBytes }) => {
    return (maximumBytes ?? bytes) >= claim.requestBytes && nodes.matches(labels);
  });
  return roomy ? 'possible' : 'too little room';
}
