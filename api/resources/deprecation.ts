// What a client is told when it uses a version on its way out (SPEC.md "Deprecation signals"). Texts only; the header
// and the metric are the ingress's.
import type { KnownType } from './resource-table.ts';
import { apiVersionOf } from './resource-table.ts';

/** The minor release whose API this server speaks, 1.21. */
export const API_MINOR_VERSION = 21;

/**
 * The text of the Warning header for requests to a deprecated version, such as
 * `policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+`; undefined when it is not deprecated.
 */
export function deprecationWarning(type: KnownType): string | undefined {
  const { deprecatedIn, removedIn, replacement } = type.lifecycle;
  if (deprecatedIn === null || minorOf(deprecatedIn) > API_MINOR_VERSION) return undefined;
  const removal = removedIn === null ? '' : `, unavailable in v${removedIn}+`;
  const instead =
    replacement === null ? '' : `; use ${apiVersionOf(replacement.group, replacement.version)} ${replacement.kind}`;
  return `${type.apiVersion} ${type.kind} is deprecated in v${deprecatedIn}+${removal}${instead}`;
}

function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}
