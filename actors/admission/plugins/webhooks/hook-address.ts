// Where a webhook is connected to. One that is named by its address is where its configuration says, which only who may write
// those can choose. One that is a service is where services are (actors/service-places.ts).
import type { Registry } from '../../../../api/resources/registry.ts';
import type { ServicePlace } from '../../../../transport/outgoing/service-client.ts';
import { placeOfService } from '../../../service-places.ts';
import { readCurrent, type StoreReader } from '../../store-reader.ts';
import { readList } from '../../stored-list.ts';
import type { HookAddress } from './hook.ts';

export interface HookPlaces {
  readonly reader: StoreReader;
  readonly registry: Registry;
  /** At endpoints, instead of the cluster address. */
  readonly callsEndpoints: boolean;
}

/** The address of a webhook as a URL, which its certificate must be for. */
export function urlOf(address: HookAddress): string {
  if ('url' in address) return address.url;
  return `https://${address.service}.${address.namespace}.svc:${address.port}${address.path}`;
}

/** Where to connect to; undefined: where the URL says. Rejects with NoPlace and StatusError. */
export async function placeOf(
  { reader, registry, callsEndpoints }: HookPlaces,
  address: HookAddress,
): Promise<ServicePlace | undefined> {
  if ('url' in address) return undefined;
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
