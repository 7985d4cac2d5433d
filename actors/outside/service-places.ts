// Where a service is connected to that this server calls by its name (webhooks, extension servers): at the service's cluster address,
// or at one of its endpoints. What objects say of those is not believed where it leads to this machine or to no pod.
import type { ServicePort } from '../../api/aggregation/api-service.ts';
import { hasAddress, isIpText, serviceCandidates } from '../../api/connect/backends.ts';
import { addressProblem } from '../../api/connect/proxyable-address.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { asTexts, booleanAt, partAt, partsAt, textAt } from '../../api/json/object-fields.ts';
import { metadataOf } from '../../api/metadata/object-meta.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { ServicePlace } from '../../transport/outgoing/service-client.ts';

/** Why a service has no place. */
export class NoPlace extends Error {}

export interface PlaceFinder {
  readonly dialect: Dialect;
  /** `--enable-aggregator-routing`: at endpoints, instead of the cluster address. */
  readonly callsEndpoints: boolean;
  /** The present object; undefined where there is none. */
  readonly find: (storageKey: string, namespace: string, name: string) => Promise<JsonObject | undefined>;
  /** The present objects of a namespace. */
  readonly list: (storageKey: string, namespace: string) => Promise<readonly JsonObject[]>;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Where to connect to. Rejects with NoPlace, and with what `find` and `list` reject with. */
export async function placeOfService(finder: PlaceFinder, wanted: ServicePort): Promise<ServicePlace> {
  const { namespace, service: name, port } = wanted;
  const service = await finder.find('core/services', namespace, name);
  if (service === undefined) throw new NoPlace(`service "${name}" not found`);
  const spec = partAt(service, 'spec');
  const isElsewhere = textAt(spec, 'type') === 'ExternalName';
  if (isElsewhere && !finder.callsEndpoints)
    return { host: checkedHost(textAt(spec, 'externalName')), port, addressProblem: (text) => addressProblem(text) };
  // The words that clients of the original know.
  if (!finder.callsEndpoints && textAt(spec, 'clusterIP') === 'None')
    throw new NoPlace('cannot route to service with ClusterIP "None"');
  if (!partsAt(spec, 'ports').some((one) => one.port === port))
    throw new NoPlace(`no service port ${port} found for service "${name}"`);
  if (isElsewhere) throw new NoPlace('unsupported service type "ExternalName"');
  if (finder.callsEndpoints) return endpointOf(finder, service, wanted);
  return { host: checkedHost(textAt(spec, 'clusterIP')), port };
}

/** One of the addresses that stand for a pod of the namespace, which still has it. */
async function endpointOf(
  finder: PlaceFinder,
  service: JsonObject,
  { namespace, service: name, port }: ServicePort,
): Promise<ServicePlace> {
  const endpoints = (await finder.find('core/endpoints', namespace, name)) ?? (await slicesOf(finder, namespace, name));
  const wanted = { scheme: 'https', name, port: String(port) } as const;
  for (const { backend, podName } of serviceCandidates(service, endpoints, wanted, finder.random)) {
    const pod = await finder.find('core/pods', namespace, podName);
    if (pod !== undefined && hasAddress(pod, backend.host)) return backend;
  }
  throw new NoPlace(`no endpoints available for service "${name}"`);
}

/** What the slices of a service say, in the form of Endpoints: for clusters whose controllers make no others. */
async function slicesOf({ dialect, list }: PlaceFinder, namespace: string, service: string): Promise<JsonObject> {
  const label = dialect.spell('@label/service-name');
  const subsets = (await list(dialect.spell('discovery.@group/endpointslices'), namespace))
    .filter((slice) => metadataOf(slice).labels?.[label] === service)
    .map((slice) => ({
      ports: partsAt(slice, 'ports'),
      addresses: partsAt(slice, 'endpoints')
        .filter((endpoint) => booleanAt(partAt(endpoint, 'conditions'), 'ready', true))
        .flatMap(({ addresses, targetRef }) => asTexts(addresses).map((ip) => ({ ip, targetRef }))),
    }));
  return { metadata: { namespace }, subsets };
}

/** A name is looked at again when it is resolved. */
function checkedHost(host: string): string {
  if (host === '') throw new NoPlace('the service has no address');
  const problem = isIpText(host) ? addressProblem(host) : undefined;
  if (problem !== undefined) throw new NoPlace(problem);
  return host;
}
