// The headers of a request that is to run as somebody else. Reads them; whether it may is decided by the auth actor.
import type { User } from '../../../api/authorization/attributes.ts';
import type { HttpRequest } from '../../../transport/http.ts';
import { unescaped } from './proxied-identity.ts';

const PREFIX = 'impersonate-';
const EXTRA_PREFIX = 'impersonate-extra-';

/**
 * Whom the headers name; undefined where there are none, null where they ask for groups or other facts of nobody, or are empty. Kubernetes
 * ignores an empty one; here it may have said something. The uws listener's binary takes bytes beyond ASCII for blanks where char is signed,
 * and cuts them off at both ends of a value, so that nothing is left of a name in Cyrillic: its request must not run as who sent it.
 */
export function impersonationOf(request: HttpRequest): User | null | undefined {
  if (!request.hasHeaderWithPrefix(PREFIX)) return undefined;
  let name = '';
  let uid = '';
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  for (const [header, value] of request.headersWithPrefix(PREFIX)) {
    if (value === '') return null;
    // Of several the first counts.
    if (header === 'impersonate-user') name ||= value;
    else if (header === 'impersonate-uid') uid ||= value;
    else if (header === 'impersonate-group') groups.push(value);
    else if (header.startsWith(EXTRA_PREFIX)) {
      const key = unescaped(header.slice(EXTRA_PREFIX.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  }
  if (name === '' && uid === '' && groups.length === 0 && extra.size === 0) return undefined;
  if (name === '') return null;
  return { name, uid, groups, extra: Object.fromEntries(extra) };
}
