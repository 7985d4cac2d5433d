// The feature gates that change how pods are placed, as a scheduler is told of them: by what each does. Beside them what the
// environment of its process says.

/** What changes how it decides, outside of its configuration. */
export interface SchedulerGates {
  /** Pods without constraints of their own are spread by topology, not by their services and controllers. */
  readonly spreadsByTopology: boolean;
  /** A pod that was promised room somewhere goes there while it fits, whatever other nodes would score. */
  readonly prefersNominatedNode: boolean;
  /** The disks that a node can attach count as cpu and memory do where its use is balanced. */
  readonly balancesAttachedVolumes: boolean;
  /** Nodes are scored by how well the volumes found there fit the claims. */
  readonly scoresVolumeCapacity: boolean;
  /** What is asked for of a node's local disk counts. */
  readonly countsLocalStorage: boolean;
  /** Where a driver tells the room that it has, a volume is made where there is enough of it. */
  readonly heedsStorageCapacity: boolean;
  /** The built-in disks, by their provisioner's name, that a node may leave to the CSI driver that it says it uses for them. */
  readonly migratedDisks: readonly string[];
  /** How many built-in disks of a kind a node attaches that does not say; absent: as many as such nodes are known to. */
  readonly builtInDisksMax?: number;
}

export const DEFAULT_GATES: SchedulerGates = {
  spreadsByTopology: true,
  prefersNominatedNode: false,
  balancesAttachedVolumes: false,
  scoresVolumeCapacity: false,
  countsLocalStorage: true,
  heedsStorageCapacity: true,
  migratedDisks: ['cinder'],
};
