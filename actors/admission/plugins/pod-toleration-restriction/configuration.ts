// The settings of PodTolerationRestriction: what pods of namespaces without annotations of their own get, and may say.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { toleration } from '../../../../api/validation/kinds/placement.ts';
import { Report } from '../../../../api/validation/report.ts';
import {
  ConfigurationError,
  listOf,
  type Members,
  membersOf,
  objectOf,
  requireText,
  textOf,
} from '../../../../config/configuration-file.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import type { ConfigurationFile } from '../plugin.ts';

export interface TolerationSettings {
  readonly standard: readonly JsonObject[];
  readonly allowed: readonly JsonObject[];
}

const TEXTS = ['key', 'operator', 'value', 'effect'] as const;
const MEMBERS_OF_ONE = [...TEXTS, 'tolerationSeconds'];
const MEMBERS = ['kind', 'apiVersion', 'default', 'whitelist'];
const OPERATORS = ['', 'Exists', 'Equal'];
const EFFECTS = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Throws ConfigurationError. */
export function readTolerationSettings({ content, dialect }: ConfigurationFile): TolerationSettings {
  const members = membersOf(content, '', MEMBERS);
  requireText(members, 'kind', 'Configuration');
  requireText(members, 'apiVersion', dialect.spell('podtolerationrestriction.admission.@group/v1alpha1'));
  return {
    standard: validTolerations(members.default, 'default', dialect),
    allowed: validTolerations(members.whitelist, 'whitelist', dialect),
  };
}

/** Tolerations that a pod may have: one that it may not would make every pod invalid that is given it. */
function validTolerations(value: unknown, path: string, dialect: Dialect): readonly JsonObject[] {
  const tolerations = tolerationsOf(value, path, (item, at) => membersOf(item, at, MEMBERS_OF_ONE));
  const report = new Report(dialect, { allowPrivileged: false, gate: () => false });
  for (const [index, one] of tolerations.entries()) {
    requireOneOf(one.operator, OPERATORS, `${path}[${index}].operator`);
    requireOneOf(one.effect, EFFECTS, `${path}[${index}].effect`);
    report.begin(one);
    toleration(one, report);
    const [error] = report.end();
    if (error !== undefined) throw new ConfigurationError(`${path}[${index}].${error.path}`, error.message);
  }
  return tolerations;
}

/**
 * Tolerations as settings and annotations list them; `take` takes one apart. By default members of no meaning are passed over: an
 * annotation is written through the API, which passes over fields that it does not know. What a text may be is looked at where a pod is
 * given it. Throws ConfigurationError.
 */
export function tolerationsOf(
  value: unknown,
  path: string,
  take: (item: unknown, at: string) => Members = objectOf,
): readonly JsonObject[] {
  return listOf(value, path).map((item, index) => {
    const at = `${path}[${index}]`;
    const members = take(item, at);
    const texts: Record<string, unknown> = {};
    for (const name of TEXTS) {
      const text = textOf(members[name], `${at}.${name}`);
      if (text !== '') texts[name] = text;
    }
    const { tolerationSeconds: seconds } = members;
    if (seconds === undefined || seconds === null) return texts;
    if (!Number.isSafeInteger(seconds))
      throw new ConfigurationError(`${at}.tolerationSeconds`, 'must be a whole number');
    return { ...texts, tolerationSeconds: seconds };
  });
}

function requireOneOf(value: unknown, texts: readonly string[], path: string): void {
  if (!texts.includes((value ?? '') as string))
    throw new ConfigurationError(path, `must be one of ${texts.slice(1).join(', ')}`);
}
