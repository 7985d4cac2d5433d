// The headers in which an authenticating proxy says who asks (SPEC.md "Authenticating proxy"). Reads them; whether the proxy
// is believed is decided by the auth actor, by its certificate.

import type { HttpRequest } from '../../../transport/http.ts';
import { decodePercent } from '../../../values/percent.ts';
import type { ProxiedIdentity } from '../../auth/protocol.ts';

/** Names of headers in lower case, as `--requestheader-*` set them. */
export interface IdentityHeaders {
  readonly names: readonly string[];
  readonly groups: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** What the headers say; undefined where none of them names a user. */
export function proxiedIdentityOf(request: HttpRequest, headers: IdentityHeaders): ProxiedIdentity | undefined {
  let name = '';
  for (const header of headers.names) name ||= valuesOf(request, header)[0] ?? '';
  if (name === '') return undefined;
  const groups = headers.groups.flatMap((header) => valuesOf(request, header));
  const extra = new Map<string, string[]>();
  for (const prefix of headers.extraPrefixes) {
    for (const [header, value] of request.headersWithPrefix(prefix)) {
      const key = unescaped(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  }
  return { name, groups, extra: Object.fromEntries(extra) };
}

/** A header may come several times, each with one value. */
function valuesOf(request: HttpRequest, name: string): readonly string[] {
  return request
    .headersWithPrefix(name)
    .filter(([header, value]) => header === name && value !== '')
    .map(([, value]) => value);
}

/** Keys are escaped as in addresses, since a header's name can hold little. What is not escaped so stands for itself. */
export function unescaped(key: string): string {
  return decodePercent(key) ?? key;
}
