// Attribute-based access control: a policy file with one JSON object a line (SPEC.md "Authorization" 2), in its current form
// (a Policy with a spec) or the oldest (the fields alone). Pure; reading the file is the caller's.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { AccessAttributes, User } from './attributes.ts';
import { type PolicyRule, urlMatches } from './policy-rule.ts';
import type { Decision } from './rbac-policy.ts';

/** One line. Empty texts ask for nothing; `*` takes anything. */
export interface AbacRule {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const READ_VERBS: readonly string[] = ['get', 'list', 'watch'];
const AUTHENTICATED = 'system:authenticated';
const ALL = '*';

/** A line of a policy file that cannot be used; `line` counts from 1. */
export class AbacLineError extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

/**
 * The rules of a policy file. Empty lines and those that begin with `#` say nothing. Throws AbacLineError.
 *
 * @param group the API group of policies in this dialect.
 */
export function parseAbacPolicy(text: string, group: string): readonly AbacRule[] {
  return text.split('\n').flatMap((line, index) => {
    const trimmed = line.trim();
    return trimmed === '' || trimmed.startsWith('#') ? [] : [ruleOf(trimmed, group, index + 1)];
  });
}

function ruleOf(text: string, group: string, line: number): AbacRule {
  let policy: unknown;
  try {
    policy = JSON.parse(text);
  } catch {
    throw new AbacLineError(line, 'the line is not a JSON object');
  }
  if (!isJsonObject(policy)) throw new AbacLineError(line, 'the line is not a JSON object');
  const { apiVersion = '', kind = '' } = policy;
  if (apiVersion === '' && kind === '') return oldest(fieldsOf(policy, OLDEST_FIELDS, line));
  if (kind !== 'Policy') throw new AbacLineError(line, `kind must be Policy, not ${JSON.stringify(kind)}`);
  if (apiVersion === `${group}/v0`) return oldest(fieldsOf(policy, ['apiVersion', 'kind', ...OLDEST_FIELDS], line));
  if (apiVersion !== `${group}/v1beta1`) {
    throw new AbacLineError(line, `apiVersion must be ${group}/v1beta1, not ${JSON.stringify(apiVersion)}`);
  }
  if (!isJsonObject(policy.spec)) throw new AbacLineError(line, 'spec must be an object');
  return current(fieldsOf(policy.spec, CURRENT_FIELDS, line));
}

const OLDEST_FIELDS: readonly string[] = ['user', 'group', 'readonly', 'resource', 'namespace'];
const CURRENT_FIELDS: readonly string[] = [...OLDEST_FIELDS, 'apiGroup', 'nonResourcePath'];

/** The rule's fields with their types checked. A field that is not known may narrow: the line is refused. */
function fieldsOf(given: JsonObject, known: readonly string[], line: number): AbacRule {
  for (const [field, value] of Object.entries(given)) {
    if (!known.includes(field)) throw new AbacLineError(line, `there is no field ${JSON.stringify(field)}`);
    if (typeof value !== (field === 'readonly' ? 'boolean' : 'string'))
      throw new AbacLineError(line, `${field} must be a ${field === 'readonly' ? 'boolean' : 'text'}`);
  }
  const text = (field: string): string => (given[field] as string | undefined) ?? '';
  return {
    user: text('user'),
    group: text('group'),
    readonly: given.readonly === true,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  };
}

/** The oldest form means everything by what it leaves out. */
function oldest(rule: AbacRule): AbacRule {
  const isForAll = rule.user === '' && rule.group === '';
  return {
    ...current(isForAll ? { ...rule, user: ALL } : rule),
    apiGroup: ALL,
    resource: rule.resource || ALL,
    namespace: rule.namespace || ALL,
    nonResourcePath: rule.resource === '' && rule.namespace === '' ? ALL : '',
  };
}

/** `*`, as user or as group, means everybody who is known, whatever the other of the two says. */
function current(rule: AbacRule): AbacRule {
  return rule.user === ALL || rule.group === ALL ? { ...rule, user: '', group: AUTHENTICATED } : rule;
}

/** Whether any line allows it. */
export function abacDecides(rules: readonly AbacRule[], user: User, access: AccessAttributes): Decision {
  const allowed = rules.some((rule) => subjectMatches(rule, user) && accessMatches(rule, access));
  return allowed ? { allowed, reason: '' } : { allowed, reason: 'No policy matched.' };
}

/** What the lines that mean a user allow in a namespace, as rules of roles. */
export function abacRules(rules: readonly AbacRule[], user: User, namespace: string): readonly PolicyRule[] {
  return rules
    .filter((rule) => subjectMatches(rule, user))
    .flatMap(({ readonly, apiGroup, resource, namespace: home, nonResourcePath }) => {
      const verbs = readonly ? READ_VERBS : [ALL];
      const isHere = resource !== '' && (home === ALL || home === namespace);
      return [
        ...(isHere ? [{ verbs, apiGroups: [apiGroup], resources: [resource] }] : []),
        ...(nonResourcePath === '' ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
      ];
    });
}

function subjectMatches({ user, group }: AbacRule, { name, groups }: User): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === name) && (group === '' || groups.includes(group));
}

function accessMatches(rule: AbacRule, access: AccessAttributes): boolean {
  if (rule.readonly && !READ_VERBS.includes(access.verb)) return false;
  if (!access.isResource) return urlMatches(rule.nonResourcePath === '' ? [] : [rule.nonResourcePath], access.path);
  const takes = (wanted: string, value: string): boolean => wanted === ALL || wanted === value;
  return (
    takes(rule.namespace, access.namespace) &&
    takes(rule.resource, access.resource) &&
    takes(rule.apiGroup, access.group)
  );
}
