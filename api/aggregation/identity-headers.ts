// The headers by which an extension server is told who asks, and what of a client's own must not reach it: whoever sends them
// could be anybody. Pure.
import { headerValueOf } from '../../values/header-text.ts';
import type { User } from '../authorization/attributes.ts';

type Headers = readonly (readonly [name: string, value: string])[];

const USER = 'x-remote-user';
const GROUP = 'x-remote-group';
const EXTRA_PREFIX = 'x-remote-extra-';
/** What a header's name may hold (RFC 9110 5.6.2); the percent sign is the escape. */
const NAME_BYTES = /[^a-zA-Z0-9!#$&'*+.^_`|~-]/g;
/** What would be read as something else at the other end: blanks around a value are not part of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about.
const UNSENDABLE = /^$|[\x00-\x08\x0a-\x1f\x7f]|^[\t ]|[\t ]$/;

/** Undefined for a user whose name, groups or extra fields no header can say. */
export function identityHeaders({ name, groups, extra }: User): Headers | undefined {
  const headers: (readonly [string, string])[] = [[USER, name], ...groups.map((group) => [GROUP, group] as const)];
  for (const [key, values] of Object.entries(extra))
    for (const value of values) headers.push([EXTRA_PREFIX + escaped(key), value]);
  if (headers.some(([, value]) => UNSENDABLE.test(value))) return undefined;
  return headers;
}

function escaped(key: string): string {
  return headerValueOf(key).replace(
    NAME_BYTES,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** What names users to whom believes a proxy, in lower case. */
export interface IdentityNames {
  readonly names: readonly string[];
  readonly groups: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** A client's headers without those by which it would say who it is. */
export function withoutIdentity(headers: Headers, own: IdentityNames | undefined): Headers {
  const exact = new Set([...(own?.names ?? []), ...(own?.groups ?? [])]);
  const prefixes = (own?.extraPrefixes ?? []).filter((prefix) => prefix !== '');
  return headers.filter(([name]) => !exact.has(name) && !prefixes.some((prefix) => name.startsWith(prefix)));
}
