// Which methods the paths of a type serve (SPEC.md "Resource paths"). The registry says which verbs a type has; this file,
// on which of its paths: a name belongs in a namespace, and across all namespaces there is only reading.
import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { methodNotAllowed, notFound, resourceNotFound, verbNotSupported } from '../../../api/status/failures.ts';
import type { Status } from '../../../api/status/status.ts';
import { isListing, isOnCollection, PROXY_METHODS, type Verb } from '../../../api/verbs.ts';

/** Why a request is not served: 404 when there is no such path, 405 when it does not take the method. */
export function refusalOfPath(type: KnownType, info: ResourceRequestInfo, method: string): Status | undefined {
  const { verb, namespace, name, subresource } = info;
  const listing = isListing(verb);
  if (namespace !== '' && !type.namespaced) return resourceNotFound();
  if (subresource !== '') return refusalOfSubresource(type, info, method);
  const isNamed = name !== '' && !listing;
  if (isNamed && namespace === '' && type.namespaced) return resourceNotFound();
  const isServed = (type.verbs as ReadonlySet<string>).has(verb) && isNamed !== isOnCollection(verb);
  if (isServed && (listing || namespace !== '' || !type.namespaced)) {
    return isRead(type, method) || !(listing || method === 'HEAD') ? undefined : notServed(type, verb);
  }
  return hasMethods(type, info, isNamed) ? notServed(type, verb) : resourceNotFound();
}

function notServed(type: KnownType, verb: string): Status {
  return type.custom === undefined ? methodNotAllowed() : verbNotSupported(type, verb);
}

/** A HEAD is authorized as a get, and of what is stored served by custom types only. */
function isRead({ custom }: KnownType, method: string): boolean {
  return method === 'GET' || (method === 'HEAD' && custom !== undefined);
}

const VERBS_OF_ONE: readonly Verb[] = ['get', 'update', 'patch', 'delete'];

/**
 * Whether there is anything at a path: types that are only created have no names, and are not listed across namespaces. Those
 * of custom types are nowhere else than in their namespaces for whoever does not read them.
 */
function hasMethods(type: KnownType, { verb, namespace }: ResourceRequestInfo, isNamed: boolean): boolean {
  if (verb === 'proxy') return false;
  if (isNamed) return VERBS_OF_ONE.some((one) => type.verbs.has(one));
  if (!type.namespaced || namespace !== '') return true;
  return type.verbs.has('list') && (type.custom === undefined || isListing(verb));
}

function refusalOfSubresource(type: KnownType, info: ResourceRequestInfo, method: string): Status | undefined {
  const { verb, namespace, name, subresource, rest } = info;
  const served = type.subresources.get(subresource);
  const isPlaced = namespace !== '' || !type.namespaced;
  // What a custom type does not have below its objects is told as if the object were not there.
  if (served === undefined && type.custom !== undefined && isPlaced) return notFound(type, name);
  if (served === undefined || (rest !== '' && subresource !== 'proxy')) return resourceNotFound();
  if (!isPlaced) return resourceNotFound();
  if (subresource === 'proxy') return PROXY_METHODS.includes(method) ? undefined : methodNotAllowed();
  if (method === 'HEAD' && !isRead(type, method)) return methodNotAllowed();
  return (served.verbs as readonly string[]).includes(verb) ? undefined : notServed(type, verb);
}
