// What follows from the types that are served at the moment: the documents of discovery, and what OpenAPI is made of.
import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import { createDiscovery, type Discovery, type DiscoverySettings } from '../../../api/discovery/discovery.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import type { PresentApi } from './openapi-worker.ts';

/** The documents of the types that are served at the time; the same as long as those are. */
export function presentDiscovery(
  registry: Registry,
  remotes: RemoteGroups,
  settings: DiscoverySettings,
): () => Discovery {
  let edition = -1;
  let remoteEdition = -1;
  let discovery: Discovery | undefined;
  return () => {
    if (discovery === undefined || registry.edition !== edition || remotes.edition !== remoteEdition) {
      edition = registry.edition;
      remoteEdition = remotes.edition;
      discovery = createDiscovery(registry, registry.dialect, settings, remotes.ordering());
    }
    return discovery;
  };
}

/** What the OpenAPI documents of the moment are made of beside the built-in types. */
export function presentApi(registry: Registry): PresentApi {
  const definitions = registry.all().flatMap(({ custom }) => (custom === undefined ? [] : [custom.definition]));
  return { edition: registry.edition, definitions: [...new Set(definitions)] };
}
