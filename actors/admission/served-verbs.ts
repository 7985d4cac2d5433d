// Which writes a type takes, and at which of its paths.
import type { KnownType } from '../../api/resources/resource-table.ts';
import { methodNotAllowed, resourceNotFound } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { isOnCollection } from '../../api/verbs.ts';
import type { WriteRequest } from './protocol.ts';

/** Throws 404 and 405 for what the type does not serve. */
export function requireServed(type: KnownType, request: WriteRequest): void {
  const { subresource } = request.target;
  requirePath(type, request);
  const verbs: ReadonlySet<string> =
    subresource === '' ? type.verbs : new Set(type.subresources.get(subresource)?.verbs);
  if (subresource !== '' && !type.subresources.has(subresource)) throw new StatusError(resourceNotFound());
  if (!verbs.has(request.verb)) throw new StatusError(methodNotAllowed());
}

/** Throws 404 for a path that the type does not have, 405 for one that does not take the verb. */
function requirePath(type: KnownType, { verb, target }: WriteRequest): void {
  const { namespace, name, subresource } = target;
  if (!type.namespaced && namespace !== '') throw new StatusError(resourceNotFound());
  const isCollection = name === '' && subresource === '';
  // The collection across all namespaces is there for reading only; its objects are found in their namespaces.
  if (type.namespaced && namespace === '')
    throw new StatusError(isCollection ? methodNotAllowed() : resourceNotFound());
  const isOfCollection = isOnCollection(verb) && subresource === '';
  if (isCollection !== isOfCollection) throw new StatusError(methodNotAllowed());
}
