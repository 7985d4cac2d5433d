// Where a webhook is connected to. One that is named by its address is where its configuration says, which only who may write
// those can choose. One that is a service is at the service's cluster address, or at one of its endpoints: what objects say
// of those is not believed where it leads to this machine or to no pod.
import { hasAddress, isIpText, serviceCandidates } from '../../../../api/connect/backends.ts';
import { addressProblem } from '../../../../api/connect/proxyable-address.ts';
import type { JsonObject } from '../../../../api/json-value.ts';
import { asTexts, booleanAt, partAt, partsAt, textAt } from '../../../../api/object-fields.ts';
import { metadataOf } from '../../../../api/object-meta.ts';
import type { Registry } from '../../../../api/resources/registry.ts';
import type { ServicePlace } from '../../../../transport/outgoing/service-client.ts';
import { readCurrent, type StoreReader } from '../../store-reader.ts';
import { readList } from '../../stored-list.ts';
import type { HookAddress } from './hook.ts';

/** Why a webhook has no place. */
export class NoPlace extends Error {}

export interface PlaceFinder {
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
export async function placeOf(finder: PlaceFinder, address: HookAddress): Promise<ServicePlace | undefined> {
  if ('url' in address) return undefined;
  const { namespace, service: name, port } = address;
  const service = await found(finder, 'core/services', namespace, name);
  if (service === undefined) throw new NoPlace(`service "${name}" not found`);
  const spec = partAt(service, 'spec');
  if (!partsAt(spec, 'ports').some((one) => one.port === port) && textAt(spec, 'type') !== 'ExternalName')
    throw new NoPlace(`no service port ${port} found for service "${name}"`);
  if (textAt(spec, 'type') === 'ExternalName')
    return { host: checkedHost(textAt(spec, 'externalName')), port, addressProblem: (text) => addressProblem(text) };
  if (finder.callsEndpoints) return endpointOf(finder, service, name, namespace, port);
  return { host: checkedHost(textAt(spec, 'clusterIP')), port };
}

/** One of the addresses that stand for a pod of the namespace, which still has it. */
async function endpointOf(
  finder: PlaceFinder,
  service: JsonObject,
  name: string,
  namespace: string,
  port: number,
): Promise<ServicePlace> {
  const endpoints =
    (await found(finder, 'core/endpoints', namespace, name)) ?? (await slicesOf(finder, namespace, name));
  const { random } = finder.reader.context;
  const wanted = { scheme: 'https', name, port: String(port) } as const;
  for (const { backend, podName } of serviceCandidates(service, endpoints, wanted, () => random.next())) {
    const pod = await found(finder, 'core/pods', namespace, podName);
    if (pod !== undefined && hasAddress(pod, backend.host)) return backend;
  }
  throw new NoPlace(`no endpoints available for service "${name}"`);
}

/** What the slices of a service say, in the form of Endpoints: for clusters whose controllers make no others. */
async function slicesOf({ reader, registry }: PlaceFinder, namespace: string, service: string): Promise<JsonObject> {
  const { dialect } = registry;
  const type = registry.storageType(dialect.spell('discovery.@group/endpointslices'));
  if (type === undefined) return {};
  const label = dialect.spell('@label/service-name');
  const slices = (await readList(reader, type, namespace)).map(({ object }) => object);
  const subsets = slices
    .filter((slice) => metadataOf(slice).labels?.[label] === service)
    .map((slice) => ({
      ports: partsAt(slice, 'ports'),
      addresses: partsAt(slice, 'endpoints')
        .filter((endpoint) => booleanAt(partAt(endpoint, 'conditions'), 'ready', true))
        .flatMap(({ addresses, targetRef }) => asTexts(addresses).map((ip) => ({ ip, targetRef }))),
    }));
  return { subsets };
}

/** A name is looked at again when it is resolved. */
function checkedHost(host: string): string {
  if (host === '' || host === 'None') throw new NoPlace('the service has no address');
  const problem = isIpText(host) ? addressProblem(host) : undefined;
  if (problem !== undefined) throw new NoPlace(problem);
  return host;
}

async function found(
  { reader, registry }: PlaceFinder,
  storageKey: string,
  namespace: string,
  name: string,
): Promise<JsonObject | undefined> {
  const type = registry.storageType(storageKey);
  const stored = type === undefined ? null : await readCurrent(reader, type, namespace, name);
  return stored?.object;
}
