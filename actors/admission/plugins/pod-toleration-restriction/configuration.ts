// The settings of PodTolerationRestriction: what pods of namespaces without annotations of their own get, and may say.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { ConfigurationError, listOf, membersOf, requireText, textOf } from '../../../../config/configuration-file.ts';
import type { ConfigurationFile } from '../plugin.ts';

export interface TolerationSettings {
  readonly standard: readonly JsonObject[];
  readonly allowed: readonly JsonObject[];
}

const TEXTS = ['key', 'operator', 'value', 'effect'] as const;
const MEMBERS = ['kind', 'apiVersion', 'default', 'whitelist'];
const OPERATORS = ['', 'Exists', 'Equal'];
const EFFECTS = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Throws ConfigurationError. */
export function readTolerationSettings({ content, dialect }: ConfigurationFile): TolerationSettings {
  const members = membersOf(content, '', MEMBERS);
  requireText(members, 'kind', 'Configuration');
  requireText(members, 'apiVersion', dialect.spell('podtolerationrestriction.admission.@group/v1alpha1'));
  return {
    standard: tolerationsOf(members.default, 'default'),
    allowed: tolerationsOf(members.whitelist, 'whitelist'),
  };
}

/** Tolerations as settings and annotations list them. Throws ConfigurationError. */
export function tolerationsOf(value: unknown, path: string): readonly JsonObject[] {
  return listOf(value, path).map((item, index) => {
    const at = `${path}[${index}]`;
    const members = membersOf(item, at, [...TEXTS, 'tolerationSeconds']);
    const toleration: Record<string, unknown> = {};
    for (const name of TEXTS) {
      const text = textOf(members[name], `${at}.${name}`);
      if (text !== '') toleration[name] = text;
    }
    requireOneOf(toleration.operator, OPERATORS, `${at}.operator`);
    requireOneOf(toleration.effect, EFFECTS, `${at}.effect`);
    const { tolerationSeconds: seconds } = members;
    if (seconds === undefined || seconds === null) return toleration;
    if (!Number.isSafeInteger(seconds))
      throw new ConfigurationError(`${at}.tolerationSeconds`, 'must be a whole number');
    return { ...toleration, tolerationSeconds: seconds };
  });
}

function requireOneOf(value: unknown, texts: readonly string[], path: string): void {
  if (!texts.includes((value ?? '') as string))
    throw new ConfigurationError(path, `must be one of ${texts.slice(1).join(', ')}`);
}
