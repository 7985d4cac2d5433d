// The API groups with their versions, in the order discovery shows them. Their priorities are those of the APIService
// objects that stand for them (api/bootstrap). Data only.

export interface ApiGroup {
  /** Spelled with the dialect's markers; empty for the core group. */
  readonly name: string;
  /** `groupPriorityMinimum`; null: the group stands first and has no APIService of its own. */
  readonly priorityMinimum: number | null;
  /** Version to `versionPriority`, highest first. */
  readonly versions: Readonly<Record<string, number>>;
}

/** Highest priority first, equal ones by name. */
export const API_GROUPS: readonly ApiGroup[] = [
  { name: 'apiregistration.@group', priorityMinimum: null, versions: { v1: 20, v1beta1: 10 } },
  { name: '', priorityMinimum: 18000, versions: { v1: 1 } },
  { name: 'apps', priorityMinimum: 17800, versions: { v1: 15 } },
  { name: 'events.@group', priorityMinimum: 17750, versions: { v1: 15, v1beta1: 5 } },
  { name: 'authentication.@group', priorityMinimum: 17700, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 } },
  { name: 'authorization.@group', priorityMinimum: 17600, versions: { v1: 15, v1beta1: 9 } },
  { name: 'autoscaling', priorityMinimum: 17500, versions: { v1: 15, v2beta1: 9, v2beta2: 1 } },
  { name: 'batch', priorityMinimum: 17400, versions: { v1: 15, v1beta1: 9 } },
  { name: 'certificates.@group', priorityMinimum: 17300, versions: { v1: 15, v1beta1: 9 } },
  { name: 'networking.@group', priorityMinimum: 17200, versions: { v1: 15, v1beta1: 9 } },
  { name: 'extensions', priorityMinimum: 17150, versions: { v1beta1: 1 } },
  { name: 'policy', priorityMinimum: 17100, versions: { v1: 15, v1beta1: 9 } },
  { name: 'rbac.authorization.@group', priorityMinimum: 17000, versions: { v1: 15, v1beta1: 12, v1alpha1: 9 } },
  { name: 'storage.@group', priorityMinimum: 16800, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 } },
  { name: 'admissionregistration.@group', priorityMinimum: 16700, versions: { v1: 15, v1beta1: 12 } },
  { name: 'apiextensions.@group', priorityMinimum: 16700, versions: { v1: 15, v1beta1: 9 } },
  { name: 'scheduling.@group', priorityMinimum: 16600, versions: { v1: 15, v1beta1: 12, v1alpha1: 9 } },
  { name: 'coordination.@group', priorityMinimum: 16500, versions: { v1: 15, v1beta1: 9 } },
  { name: 'node.@group', priorityMinimum: 16300, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 } },
  { name: 'discovery.@group', priorityMinimum: 16200, versions: { v1: 15, v1beta1: 12 } },
  { name: 'flowcontrol.apiserver.@group', priorityMinimum: 16100, versions: { v1beta1: 12 } },
  { name: 'internal.apiserver.@group', priorityMinimum: 16000, versions: { v1alpha1: 9 } },
];
