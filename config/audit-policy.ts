// The file of `--audit-policy-file` (SPEC.md "Audit events"): an audit Policy as a plain value becomes rules, or is refused with the
// path of what is wrong. Its three versions say the same. Reading the file is bin/files/audit-files.ts's work, going by the rules
// api/audit's.
import {
  ConfigurationError,
  filledListOf,
  listOf,
  memberPath,
  membersOf,
  objectOf,
  requireText,
} from './configuration-file.ts';
import type { Dialect } from './dialect.ts';

/** How much of a request is recorded; each holds what those before it do. */
export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

/** Whether at `level` everything is recorded that is at `least`. */
export function isAtLeast(level: AuditLevel, least: AuditLevel): boolean {
  return AUDIT_LEVELS.indexOf(level) >= AUDIT_LEVELS.indexOf(least);
}

/** When in a request's life an event is made. */
const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

/** Resources of one group. Plain data. */
export interface AuditedResources {
  readonly group: string;
  /** Empty: all of the group. */
  readonly resources: readonly string[];
  /** Empty: whatever it is called. */
  readonly resourceNames: readonly string[];
}

/** What is recorded of some requests. An empty list narrows nothing. Plain data. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditedResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  /** Those of the whole policy as well. */
  readonly omitStages: readonly AuditStage[];
}

export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
}

const API_VERSIONS = ['audit.@group/v1', 'audit.@group/v1beta1', 'audit.@group/v1alpha1'];
const RULE_MEMBERS = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
] as const;
const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const GROUP_LENGTH_MAX = 253;

/** The rules that a file's content says. Throws ConfigurationError. */
export function readAuditPolicy(content: unknown, dialect: Dialect): AuditPolicy {
  const file = membersOf(content, '', ['kind', 'apiVersion', 'metadata', 'rules', 'omitStages'], 'an audit Policy');
  requireText(file, 'kind', 'Policy');
  requireText(file, 'apiVersion', ...API_VERSIONS.map(dialect.spell));
  if (file.metadata !== undefined && file.metadata !== null) objectOf(file.metadata, 'metadata');
  const omitted = stagesOf(file.omitStages, 'omitStages');
  return { rules: filledListOf(file.rules, 'rules').map((rule, index) => ruleOf(rule, `rules[${index}]`, omitted)) };
}

function ruleOf(value: unknown, path: string, omitted: readonly AuditStage[]): AuditRule {
  const members = membersOf(value, path, RULE_MEMBERS);
  const rule: AuditRule = {
    level: levelOf(members.level, memberPath(path, 'level')),
    users: textsOf(members.users, memberPath(path, 'users')),
    userGroups: textsOf(members.userGroups, memberPath(path, 'userGroups')),
    verbs: textsOf(members.verbs, memberPath(path, 'verbs')),
    resources: listOf(members.resources, memberPath(path, 'resources')).map((one, index) =>
      resourcesOf(one, `${path}.resources[${index}]`),
    ),
    namespaces: textsOf(members.namespaces, memberPath(path, 'namespaces')),
    nonResourceURLs: urlsOf(members.nonResourceURLs, memberPath(path, 'nonResourceURLs')),
    omitStages: [...new Set([...omitted, ...stagesOf(members.omitStages, memberPath(path, 'omitStages'))])],
  };
  if (rule.nonResourceURLs.length > 0 && rule.resources.length + rule.namespaces.length > 0)
    throw new ConfigurationError(
      memberPath(path, 'nonResourceURLs'),
      'rules cannot apply to both regular resources and non-resource URLs',
    );
  return rule;
}

function levelOf(value: unknown, path: string): AuditLevel {
  if (value === undefined || value === null || value === '') throw new ConfigurationError(path, 'is required');
  const level = AUDIT_LEVELS.find((one) => one === value);
  if (level === undefined) throw new ConfigurationError(path, `must be one of ${AUDIT_LEVELS.join(', ')}`);
  return level;
}

function stagesOf(value: unknown, path: string): readonly AuditStage[] {
  return listOf(value, path).map((given, index) => {
    const stage = AUDIT_STAGES.find((one) => one === given);
    if (stage === undefined)
      throw new ConfigurationError(`${path}[${index}]`, `allowed stages are ${AUDIT_STAGES.join(', ')}`);
    return stage;
  });
}

function resourcesOf(value: unknown, path: string): AuditedResources {
  const members = membersOf(value, path, ['group', 'resources', 'resourceNames']);
  const group = members.group ?? '';
  if (typeof group !== 'string' || (group !== '' && !(GROUP.test(group) && group.length <= GROUP_LENGTH_MAX)))
    throw new ConfigurationError(memberPath(path, 'group'), 'must be the name of an API group, without a version');
  const resources = textsOf(members.resources, memberPath(path, 'resources'));
  const resourceNames = textsOf(members.resourceNames, memberPath(path, 'resourceNames'));
  if (resourceNames.length > 0 && resources.length === 0)
    throw new ConfigurationError(
      memberPath(path, 'resourceNames'),
      'using resourceNames requires at least one resource',
    );
  return { group, resources, resourceNames };
}

function urlsOf(value: unknown, path: string): readonly string[] {
  const urls = textsOf(value, path);
  for (const [index, url] of urls.entries()) {
    if (url === '*') continue;
    if (!url.startsWith('/'))
      throw new ConfigurationError(`${path}[${index}]`, "non-resource URL rules must begin with a '/' character");
    if (url.slice(0, -1).includes('*'))
      throw new ConfigurationError(
        `${path}[${index}]`,
        "non-resource URL wildcards '*' must be the final character of the rule",
      );
  }
  return urls;
}

function textsOf(value: unknown, path: string): readonly string[] {
  return listOf(value, path).map((text, index) => {
    if (typeof text !== 'string') throw new ConfigurationError(`${path}[${index}]`, 'must be a text');
    return text;
  });
}
