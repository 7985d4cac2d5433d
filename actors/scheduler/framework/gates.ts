// The feature gates that change how pods are placed, as a scheduler is told of them: by what each does.

/** The feature gates that change how it decides. */
export interface SchedulerGates {
  /** Pods without constraints of their own are spread by topology, not by their services and controllers. */
  readonly spreadsByTopology: boolean;
  /** A pod that was promised room somewhere goes there while it fits, whatever other nodes would score. */
  readonly prefersNominatedNode: boolean;
  /** The disks that a node can attach count as cpu and memory do where its use is balanced. */
  readonly balancesAttachedVolumes: boolean;
  /** Nodes are scored by how well the volumes found there fit the claims. */
  readonly scoresVolumeCapacity: boolean;
}

export const DEFAULT_GATES: SchedulerGates = {
  spreadsByTopology: true,
  prefersNominatedNode: false,
  balancesAttachedVolumes: false,
  scoresVolumeCapacity: false,
};
