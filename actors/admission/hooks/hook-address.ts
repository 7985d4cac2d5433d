// Where a webhook is connected to. One that is named by its address is where its configuration says, which only who may write
// those can choose. One that is a service is where services are (actors/outside/service-places.ts).
import type { Registry } from '../../../api/resources/registry.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ServicePlace } from '../../../transport/outgoing/service-client.ts';
import { isOwnService, type OwnService, placeOfItself } from '../../outside/own-service.ts';
import { placeOfService } from '../../outside/service-places.ts';
import { readCurrent, type StoreReader } from '../stored/store-reader.ts';
import { readList } from '../stored/stored-list.ts';
import type { HookAddress } from './hook.ts';

export interface HookPlaces {
  readonly reader: StoreReader;
  readonly registry: Registry;
  /** At endpoints, instead of the cluster address. */
  readonly callsEndpoints: boolean;
  /** The server itself, where it can be asked by itself. */
  readonly ownService?: OwnService | undefined;
}

/** True for a webhook that is a path of this very server. */
export function isOwnHook(dialect: Dialect, address: HookAddress): boolean {
  return !('url' in address) && isOwnService(dialect, address);
}

/** The address of a webhook as a URL, which its certificate must be for. */
export function urlOf(address: HookAddress): string {
  if ('url' in address) return address.url;
  return `https://${address.service}.${address.namespace}.svc:${address.port}${address.path}`;
}

/** Where to connect to; undefined: where the URL says. Rejects with NoPlace and StatusError. */
export async function placeOf(
  { reader, registry, callsEndpoints, ownService }: HookPlaces,
  address: HookAddress,
): Promise<ServicePlace | undefined> {
  if ('url' in address) return undefined;
  if (ownService !== undefined && isOwnHook(registry.dialect, address)) return placeOfItself(ownService);
  const { random } = reader.context;
  return placeOfService(
    {
      dialect: registry.dialect,
      callsEndpoints,
      find: async (storageKey, namespace, name) => {
        const type = registry.storageType(storageKey);
        return type === undefined ? undefined : (await readCurrent(reader, type, namespace, name))?.object;
      },
      list: async (storageKey, namespace) => {
        const type = registry.storageType(storageKey);
        return type === undefined ? [] : (await readList(reader, type, namespace)).map(({ object }) => object);
      },
      random: () => random.next(),
    },
    address,
  );
}
