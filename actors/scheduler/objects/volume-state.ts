// What is known of volumes, and which of them pods on their way to a node have taken: two pods of one decision after the
// other never take the same volume. Pure.
import type { JsonObject } from '../../../api/json/json-value.ts';
import {
  type AttachLimits,
  type Claim,
  readAttachLimits,
  readClaim,
  readStorageCapacity,
  readStorageClass,
  readVolume,
  type StorageCapacity,
  type StorageClass,
  type Volume,
  type VolumeNames,
} from './volume-objects.ts';

/** What a pod on its way will have done to claims and volumes. */
export interface VolumeReservation {
  /** Volumes that claims take. */
  readonly bindings: readonly { readonly claim: Claim; readonly volume: Volume }[];
  /** Claims for which a volume is made for the node. */
  readonly provisions: readonly Claim[];
  readonly node: string;
}

const NO_LIMITS: AttachLimits = Object.freeze({ limits: new Map(), migrated: new Set<string>() });

export class VolumeState {
  readonly names: VolumeNames;
  readonly classes = new Map<string, StorageClass>();
  /** CSI drivers that say how much room they have. */
  readonly driversWithCapacity = new Set<string>();
  private readonly volumes = new Map<string, Volume>();
  private readonly byClass = new Map<string, Map<string, Volume>>();
  private readonly claims = new Map<string, Claim>();
  private readonly limits = new Map<string, AttachLimits>();
  private readonly capacities = new Map<string, StorageCapacity>();
  private readonly reservations = new Set<VolumeReservation>();
  private readonly takenVolumes = new Set<string>();
  /** By claim: the volume that it took. */
  private readonly plannedVolumes = new Map<string, string>();
  /** By claim: the node that its volume will be made for. */
  private readonly plannedNodes = new Map<string, string>();

  constructor(names: VolumeNames) {
    this.names = names;
  }

  volume(name: string): Volume | undefined {
    return this.volumes.get(name);
  }

  claim(namespace: string, name: string): Claim | undefined {
    return this.claims.get(`${namespace}/${name}`);
  }

  /** What a node can attach, by CSI driver. */
  attachLimits(node: string): AttachLimits {
    return this.limits.get(node) ?? NO_LIMITS;
  }

  /** The volumes of a class that no pod on its way has taken; the one alone that this claim has, if it has. */
  volumesOfClass(storageClass: string, claim: Claim): readonly Volume[] {
    const volumes = this.byClass.get(storageClass);
    if (volumes === undefined) return [];
    const planned = this.plannedVolumes.get(claimKey(claim));
    if (planned === undefined) return [...volumes.values()].filter(({ name }) => !this.takenVolumes.has(name));
    const volume = volumes.get(planned);
    return volume === undefined ? [] : [volume];
  }

  /** Whether a pod on its way has taken a volume for the claim: another pod of the claim gets no other. */
  hasPlannedVolume(claim: Claim): boolean {
    return this.plannedVolumes.has(claimKey(claim));
  }

  /** The node a claim's volume is or will be made for; empty when none is chosen. */
  selectedNode(claim: Claim): string {
    return claim.selectedNode || (this.plannedNodes.get(claimKey(claim)) ?? '');
  }

  capacitiesOf(storageClass: string): StorageCapacity[] {
    return [...this.capacities.values()].filter((each) => each.storageClass === storageClass);
  }

  reserve(reservation: VolumeReservation): void {
    this.reservations.add(reservation);
    this.note(reservation);
  }

  release(reservation: VolumeReservation): void {
    this.reservations.delete(reservation);
    for (const { claim, volume } of reservation.bindings) {
      this.takenVolumes.delete(volume.name);
      this.plannedVolumes.delete(claimKey(claim));
    }
    for (const claim of reservation.provisions) this.plannedNodes.delete(claimKey(claim));
    // Other pods of the same claims may be on their way, too.
    for (const other of this.reservations) this.note(other);
  }

  private note({ bindings, provisions, node }: VolumeReservation): void {
    for (const { claim, volume } of bindings) {
      this.takenVolumes.add(volume.name);
      this.plannedVolumes.set(claimKey(claim), volume.name);
    }
    for (const claim of provisions) this.plannedNodes.set(claimKey(claim), node);
  }

  setVolume(name: string, object: JsonObject): void {
    this.removeVolume(name);
    const volume = readVolume(object, this.names);
    this.volumes.set(name, volume);
    const ofClass = this.byClass.get(volume.storageClass) ?? new Map<string, Volume>();
    ofClass.set(name, volume);
    this.byClass.set(volume.storageClass, ofClass);
  }

  removeVolume(name: string): void {
    const before = this.volumes.get(name);
    if (before === undefined) return;
    this.volumes.delete(name);
    const ofClass = this.byClass.get(before.storageClass);
    ofClass?.delete(name);
    if (ofClass?.size === 0) this.byClass.delete(before.storageClass);
  }

  setClaim(namespace: string, name: string, object: JsonObject): void {
    this.claims.set(`${namespace}/${name}`, readClaim(object, this.names));
  }

  removeClaim(namespace: string, name: string): void {
    this.claims.delete(`${namespace}/${name}`);
  }

  setClass(name: string, object: JsonObject): void {
    this.classes.set(name, readStorageClass(object));
  }

  setLimits(node: string, object: JsonObject): void {
    this.limits.set(node, readAttachLimits(object, this.names));
  }

  removeLimits(node: string): void {
    this.limits.delete(node);
  }

  setCapacity(namespace: string, name: string, object: JsonObject): void {
    this.capacities.set(`${namespace}/${name}`, readStorageCapacity(object));
  }

  removeCapacity(namespace: string, name: string): void {
    this.capacities.delete(`${namespace}/${name}`);
  }
}

function claimKey({ namespace, name }: Claim): string {
  return `${namespace}/${name}`;
}
