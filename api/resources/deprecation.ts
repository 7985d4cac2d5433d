// What a client is told when it uses a version on its way out (SPEC.md "Deprecation signals"), and which versions are gone
// in a release (SPEC.md "Removals by release"). Texts and decisions only; the header and the metric are the ingress's.
import { customDeprecation } from '../custom/definitions/deprecation-text.ts';
import type { KnownType } from './resource-table.ts';
import { apiVersionOf } from './resource-table.ts';

/** The minor release whose API this server speaks, 1.21. */
export const API_MINOR_VERSION = 21;

/** Kinds that the text names otherwise than by the kind to use, as the original's does. */
const TOLD_AS: Readonly<Record<string, string>> = { IngressClass: 'IngressClassList' };

/** The minor release whose removals and deprecations apply, of an `--emulated-release` such as `1.22`. */
export function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}

/** True when the type's version is no longer served in a minor release. */
export function isRemoved({ lifecycle: { removedIn } }: KnownType, minorRelease: number): boolean {
  return removedIn !== null && minorOf(removedIn) <= minorRelease;
}

/**
 * The text of the Warning header for requests to a deprecated version, such as
 * `policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+`; undefined when it is not deprecated
 * in the minor release.
 */
export function deprecationWarning(type: KnownType, minorRelease: number = API_MINOR_VERSION): string | undefined {
  if (type.custom !== undefined) return customDeprecation(type.custom);
  const { deprecatedIn, removedIn, replacement } = type.lifecycle;
  if (deprecatedIn === null || minorOf(deprecatedIn) > minorRelease) return undefined;
  const removal = removedIn === null ? '' : `, unavailable in v${removedIn}+`;
  const instead =
    replacement === null
      ? ''
      : `; use ${apiVersionOf(replacement.group, replacement.version)} ${TOLD_AS[replacement.kind] ?? replacement.kind}`;
  return `${type.apiVersion} ${type.kind} is deprecated in v${deprecatedIn}+${removal}${instead}`;
}
