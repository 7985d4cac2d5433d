// Which persistent volume a claim would get on a node, and whether one could be made for it there. Pure: VolumeBinding
// asks, and the volume state knows what is taken. What does not depend on the node is found out once for all nodes.
import { remembered } from '../../../values/remembered.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { Claim, StorageCapacity, StorageClass, Volume } from '../objects/volume-objects.ts';
import type { VolumeState } from '../objects/volume-state.ts';
import type { NodeCheck } from './node-selector-terms.ts';
import { checkOf, reachable } from './volume-reach.ts';

const topologiesOf = remembered(({ allowedTopologies }: StorageClass): NodeCheck => checkOf(allowedTopologies));

/**
 * The volume for a claim that waits for its first consumer, by node: the one that is kept for it, else the smallest free one
 * that will do. `taken` are those that other claims of the same pod get.
 */
export type VolumeFinder = (node: NodeInfo, taken: ReadonlySet<string>) => Volume | undefined;

export function volumeFinder(claim: Claim, volumes: VolumeState): VolumeFinder {
  const free: Volume[] = [];
  for (const volume of volumes.volumesOfClass(claim.storageClass, claim)) {
    if (volume.deleting || volume.block !== claim.block || volume.capacityBytes < claim.requestBytes) continue;
    if (volume.claim === undefined) {
      if (fits(volume, claim)) free.push(volume);
    } else if (keptFor(volume, claim)) {
      return (node, taken) => (reachable(volume, node) && !taken.has(volume.name) ? volume : undefined);
    }
  }
  free.sort((a, b) => a.capacityBytes - b.capacityBytes);
  return new SmallestFirst(free).find;
}

/**
 * Volumes from the smallest up. Those that are reached by one value of a label, as disks of a node are, are found by that value:
 * there may be many on each node, and every node is asked about.
 */
class SmallestFirst {
  readonly #ranks = new Map<Volume, number>();
  readonly #others: Volume[] = [];
  /** By label and value. */
  readonly #byLabel = new Map<string, Map<string, Volume[]>>();

  constructor(volumes: readonly Volume[]) {
    for (const volume of volumes) {
      this.#ranks.set(volume, this.#ranks.size);
      this.#add(volume);
    }
  }

  #add(volume: Volume): void {
    const [term, ...others] = volume.nodeTerms ?? [];
    const bound = others.length > 0 ? undefined : term?.matchExpressions.find(({ operator }) => operator === 'In');
    if (bound === undefined) {
      this.#others.push(volume);
      return;
    }
    const byValue = this.#byLabel.get(bound.key) ?? new Map<string, Volume[]>();
    this.#byLabel.set(bound.key, byValue);
    for (const value of new Set(bound.values)) {
      const listed = byValue.get(value);
      if (listed === undefined) byValue.set(value, [volume]);
      else listed.push(volume);
    }
  }

  readonly find: VolumeFinder = (node, taken) => {
    const first = (volumes: readonly Volume[] | undefined) =>
      volumes?.find((volume) => !taken.has(volume.name) && reachable(volume, node));
    let best = first(this.#others);
    for (const [label, byValue] of this.#byLabel) {
      const value = node.labels.get(label);
      const other = value === undefined ? undefined : first(byValue.get(value));
      if (other !== undefined && (best === undefined || this.#rank(other) < this.#rank(best))) best = other;
    }
    return best;
  };

  #rank(volume: Volume): number {
    return this.#ranks.get(volume) ?? Number.POSITIVE_INFINITY;
  }
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

const IMPOSSIBLE = (): Provisioning => 'impossible';

/** Whether a volume for the claim could be made, by node. `heedsCapacity`: where there is too little room it cannot, as far as drivers tell. */
export function provisioning(
  claim: Claim,
  volumes: VolumeState,
  heedsCapacity: boolean,
): (node: NodeInfo) => Provisioning {
  const storageClass = volumes.classes.get(claim.storageClass);
  if (storageClass === undefined || volumes.hasPlannedVolume(claim)) return IMPOSSIBLE;
  const { provisioner } = storageClass;
  if (provisioner === '' || provisioner === volumes.names.noProvisioner) return IMPOSSIBLE;
  const allows = topologiesOf(storageClass);
  if (!heedsCapacity || !volumes.driversWithCapacity.has(provisioner))
    return (node) => (allows(node) ? 'possible' : 'impossible');
  const roomy = volumes.capacitiesOf(claim.storageClass).filter((each) => largest(each) >= claim.requestBytes);
  return (node) => {
    if (!allows(node)) return 'impossible';
    const labels = Object.fromEntries(node.labels);
    return roomy.some(({ nodes }) => nodes.matches(labels)) ? 'possible' : 'too little room';
  };
}

function largest({ maximumBytes, bytes }: StorageCapacity): number {
  return maximumBytes ?? bytes;
}
