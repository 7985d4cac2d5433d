// Which requests a flow schema is about: by who asks, and by what is asked for. Pure; runs on every request that is limited,
// so the rules of a user's schemas are found once per user, and only what is asked for is compared each time.
import type { User } from '../authorization/attributes.ts';
import { authorizationNamespace, type RequestInfo, type ResourceRequestInfo } from '../requests/request-info.ts';
import type { FlowRule, FlowSchema, FlowSubject, PathRule, ResourceRule } from './configuration.ts';

const ANY = '*';
const SERVICE_ACCOUNTS = 'system:serviceaccount:';
const NO_RULES: readonly FlowRule[] = [];

/** The rules of a schema that are about a user; none: the schema is not. */
export function rulesAbout(schema: FlowSchema, user: User): readonly FlowRule[] {
  const { rules } = schema;
  const isAboutUser = ({ subjects }: FlowRule): boolean => subjects.some((subject) => isAbout(subject, user));
  if (!rules.some(isAboutUser)) return NO_RULES;
  // One list for all users whom they are all about.
  return rules.every(isAboutUser) ? rules : rules.filter(isAboutUser);
}

/** Whether one of the rules is about what is asked for. */
export function isAskedFor(rules: readonly FlowRule[], info: RequestInfo): boolean {
  if (!info.isResource) return rules.some(({ paths }) => paths.some((rule) => matchesPath(rule, info.verb, info.path)));
  return rules.some(({ resources }) => resources.some((rule) => matchesResource(rule, info)));
}

function isAbout({ kind, namespace, name }: FlowSubject, user: User): boolean {
  switch (kind) {
    case 'User':
      return name === ANY || name === user.name;
    case 'Group':
      return name === ANY || user.groups.includes(name);
    case 'ServiceAccount': {
      const accounts = `${SERVICE_ACCOUNTS}${namespace}:`;
      return name === ANY ? user.name.startsWith(accounts) : user.name === accounts + name;
    }
    default:
      return false;
  }
}

function holds(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes(ANY);
}

function matchesResource(rule: ResourceRule, info: ResourceRequestInfo): boolean {
  const { verb, group, resource, subresource } = info;
  if (!holds(rule.verbs, verb) || !holds(rule.groups, group)) return false;
  if (!rule.resources.includes(ANY)) {
    if (!rule.resources.includes(subresource === '' ? resource : `${resource}/${subresource}`)) return false;
  }
  const namespace = authorizationNamespace(info);
  return namespace === '' ? rule.clusterScope : holds(rule.namespaces, namespace);
}

function matchesPath(rule: PathRule, verb: string, path: string): boolean {
  if (!holds(rule.verbs, verb)) return false;
  return rule.paths.some(
    (one) => one === path || one === ANY || (one.endsWith('/*') && path.startsWith(one.slice(0, -1))),
  );
}
