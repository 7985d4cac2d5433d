// The 403 that says what a user may not do, in the words that clients know.

import { forbidden, forbiddenPath } from '../status/failures.ts';
import type { Status } from '../status/status.ts';
import type { AccessAttributes } from './attributes.ts';

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** What clients named, quoted, and so that no browser takes it for markup. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[&<>]/g, (mark) => MARKUP[mark]!);
}

/** `reason`: of the authorizer that refused; empty for none. */
export function forbiddenAccess(user: string, access: AccessAttributes, reason: string): Status {
  const because = reason === '' ? '' : `: ${reason}`;
  const { verb, resource, subresource, group, namespace, name, path } = access;
  const who = `User ${quoted(user)} cannot ${verb}`;
  if (!access.isResource) return forbiddenPath(`${who} path ${quoted(path)}${because}`);
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quoted(namespace)}`;
  const detail = `${who} resource ${quoted(what)} in API group ${quoted(group)} ${where}${because}`;
  return forbidden({ group, plural: resource }, name, detail);
}
