// What clients of a deprecated version of a custom kind are told.

import { byPriority } from '../../version-order.ts';
import type { CustomType } from './custom-type.ts';

/** Undefined for a version that is not deprecated. */
export function customDeprecation({ definition, version }: CustomType): string | undefined {
  if (!version.deprecated) return undefined;
  if (version.deprecationWarning !== '') return version.deprecationWarning;
  const { group, names, versions } = definition;
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  const [newest] = versions
    .filter(({ served, deprecated, name }) => served && !deprecated && byPriority(name, version.name) < 0)
    .map(({ name }) => name)
    .sort(byPriority);
  return newest === undefined ? text : `${text}; use ${group}/${newest} ${names.kind}`;
}
