// Endpoint slices: the topology of an endpoint is from before v1. It cannot be written through v1, and v1beta1 has the node's name in it
// as well.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

interface EndpointFields {
  readonly nodeName?: string;
  readonly topology?: Readonly<Record<string, string>>;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
}

function meant(slice: JsonObject, facts: WriteFacts): JsonObject {
  return facts.type.version === 'v1' ? withoutTopology(slice, facts) : withWholeTopology(slice, facts);
}

/** As it will be read: who sends an endpoint again with its node's name alone changes nothing. */
function withWholeTopology(slice: JsonObject, { dialect }: WriteFacts): JsonObject {
  const { endpoints } = slice as { endpoints?: readonly EndpointFields[] | null };
  const hostname = dialect.spell('@label/hostname');
  const lacksIt = ({ nodeName, topology }: EndpointFields): boolean =>
    nodeName !== undefined && (topology?.[hostname] ?? '') === '';
  if (!endpoints?.some(lacksIt)) return slice;
  const whole = endpoints.map((endpoint) =>
    lacksIt(endpoint) ? { ...endpoint, topology: { ...endpoint.topology, [hostname]: endpoint.nodeName } } : endpoint,
  );
  return { ...slice, endpoints: whole };
}

/** A node that only the topology named stays the endpoint's node. What is stored already may be repeated. */
function withoutTopology(slice: JsonObject, { dialect, old }: WriteFacts): JsonObject {
  const { endpoints } = slice as { endpoints?: readonly EndpointFields[] | null };
  if (!endpoints?.some(({ deprecatedTopology }) => deprecatedTopology !== undefined)) return slice;
  if (old !== undefined && deepEqual(old.endpoints, endpoints)) return slice;
  const hostname = dialect.spell('@label/hostname');
  const before = ((old?.endpoints ?? []) as readonly EndpointFields[]).map(
    ({ deprecatedTopology }) => deprecatedTopology?.[hostname],
  );
  const writable = endpoints.map(({ deprecatedTopology, ...endpoint }) => {
    const nodeName = deprecatedTopology?.[hostname];
    if (nodeName === undefined || endpoint.nodeName !== undefined || !before.includes(nodeName)) return endpoint;
    return { ...endpoint, nodeName };
  });
  return { ...slice, endpoints: writable };
}

export const endpointSlice: Strategy = { meant };
