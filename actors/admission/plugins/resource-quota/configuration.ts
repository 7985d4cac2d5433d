// The settings of ResourceQuota: what cannot be used at all where no quota says how much.

import type { JsonObject } from '../../../../api/json/json-value.ts';
import { requirementOf, type ScopeRequirement } from '../../../../api/quota/scopes.ts';
import { ConfigurationError, listOf, membersOf, requireText, textOf } from '../../../../config/configuration-file.ts';
import type { ConfigurationFile } from '../plugin.ts';

export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Names of usage that contain one of these are limited. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRequirement[];
}

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'] as const;
const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
];
const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** Throws ConfigurationError. */
export function readLimitedResources({ content, dialect }: ConfigurationFile): readonly LimitedResource[] {
  const members = membersOf(content, '', ['kind', 'apiVersion', 'limitedResources']);
  // The first version has a group and a kind of its own.
  const isFirst = VERSIONS.slice(1).some(
    (version) => members.apiVersion === dialect.spell(`resourcequota.admission.@group/${version}`),
  );
  requireText(members, 'kind', isFirst ? 'Configuration' : 'ResourceQuotaConfiguration');
  if (!isFirst)
    requireText(
      members,
      'apiVersion',
      ...VERSIONS.map((version) => dialect.spell(`apiserver.config.@group/${version}`)),
    );
  return listOf(members.limitedResources ?? [], 'limitedResources').map((one, index) =>
    limitedOf(one, `limitedResources[${index}]`),
  );
}

function limitedOf(value: unknown, at: string): LimitedResource {
  const members = membersOf(value, at, ['apiGroup', 'resource', 'matchContains', 'matchScopes']);
  const { apiGroup = '', matchContains = [], matchScopes = [] } = members;
  const resource = textOf(members.resource, `${at}.resource`);
  if (resource === '') throw new ConfigurationError(`${at}.resource`, 'must be set');
  return {
    group: apiGroup === '' ? '' : textOf(apiGroup, `${at}.apiGroup`),
    resource,
    matchContains: listOf(matchContains, `${at}.matchContains`).map((text, index) =>
      textOf(text, `${at}.matchContains[${index}]`),
    ),
    matchScopes: listOf(matchScopes, `${at}.matchScopes`).map((scope, index) =>
      scopeOf(scope, `${at}.matchScopes[${index}]`),
    ),
  };
}

function scopeOf(value: unknown, at: string): ScopeRequirement {
  const { scopeName, operator, values = [] } = membersOf(value, at, ['scopeName', 'operator', 'values']);
  requireOneOf(scopeName, `${at}.scopeName`, SCOPES);
  // Of all scopes but this one it says nothing, and may be left out.
  if (operator !== undefined || scopeName === 'PriorityClass') requireOneOf(operator, `${at}.operator`, OPERATORS);
  listOf(values, `${at}.values`).forEach((text, index) => {
    textOf(text, `${at}.values[${index}]`);
  });
  return requirementOf({ scopeName, operator, values } as JsonObject);
}

function requireOneOf(value: unknown, path: string, known: readonly string[]): void {
  if (typeof value !== 'string' || !known.includes(value))
    throw new ConfigurationError(path, `must be one of ${known.join(', ')}`);
}
