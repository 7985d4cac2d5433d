// What controllers write to, and how they name it in maps and queues; and whether it is on its way out.
import { asText, partAt } from '../../api/json/object-fields.ts';
import type { WriteTarget } from '../admission/protocol.ts';
import type { ApiObject } from './controller.ts';

/** True once the object's deletion was requested. */
export function isTerminating(object: ApiObject): boolean {
  return asText(partAt(object, 'metadata').deletionTimestamp) !== '';
}

/** A write target of the core group. */
export function coreTarget(resource: string, namespace: string, name: string, subresource = ''): WriteTarget {
  return { group: '', version: 'v1', resource, subresource, namespace, name };
}

/** How an object is named in maps and queues of one type; the namespace is empty for cluster-scoped types. */
export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The parts of a key made by `keyOf`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
