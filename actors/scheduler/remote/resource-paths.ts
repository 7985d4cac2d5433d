// Where the objects of a type are on the server.
import type { Registry } from '../../../api/resources/registry.ts';

/** `/api/v1/pods` and the like: all objects of a type, in the order in which versions are to be tried. */
export function collectionPaths(registry: Registry, storageKey: string): readonly string[] {
  const types = registry.known().filter((type) => type.persisted && type.storageKey === storageKey);
  const [stored, others] = [registry.storageType(storageKey), types];
  const ordered = [...(stored === undefined ? [] : [stored]), ...others.filter((type) => type !== stored)];
  return ordered.map(({ group, version, plural }) => `${groupPath(group, version)}/${plural}`);
}

/** One object, or what is below it; the namespace is empty for those without. */
export function objectPath(
  apiVersion: string,
  resource: string,
  namespace: string,
  ...names: readonly string[]
): string {
  const slash = apiVersion.indexOf('/');
  const base =
    slash < 0 ? groupPath('', apiVersion) : groupPath(apiVersion.slice(0, slash), apiVersion.slice(slash + 1));
  const place = namespace === '' ? base : `${base}/namespaces/${encodeURIComponent(namespace)}`;
  return [place, resource, ...names.map(encodeURIComponent)].join('/');
}

function groupPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
