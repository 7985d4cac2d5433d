// A resource type for tests: a Deployment unless told otherwise.
import type { ResourceType, Traits } from '../../../api/resource-type.ts';

const TRAITS: Traits = {
  putCreates: false,
  putWithoutResourceVersion: true,
  initialGeneration: 1,
  keepsStatusOnCreate: false,
  statusKeepsMetadata: false,
  generationParts: ['spec', 'metadata.annotations'],
  hasStatus: true,
  initialStatus: undefined,
  defaultPropagation: 'Background',
  deleteReturns: 'Status',
  nameFormat: 'dns1123Subdomain',
};

/** The sample with some members changed. */
export function sampleType(
  changes: Partial<Omit<ResourceType, 'traits'>> = {},
  traits: Partial<Traits> = {},
): ResourceType {
  return {
    group: 'apps',
    version: 'v1',
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    listKind: 'DeploymentList',
    plural: 'deployments',
    singular: 'deployment',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: new Set(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']),
    subresources: new Map(),
    persisted: true,
    storageApiVersion: 'apps/v1',
    storageKey: 'apps/deployments',
    selectableFields: ['metadata.name', 'metadata.namespace'],
    ...changes,
    traits: { ...TRAITS, ...traits },
  };
}

/** Freezes a value and all it holds, so that a function that changes its arguments fails. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
