// Endpoint slices: the topology of an endpoint is from before v1 and cannot be written through it.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Strategy, WriteFacts } from '../strategy.ts';

interface EndpointFields {
  readonly nodeName?: string;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
}

/** A node that only the topology named stays the endpoint's node. What is stored already may be repeated. */
function withoutTopology(slice: JsonObject, { type, dialect, old }: WriteFacts): JsonObject {
  if (type.version !== 'v1') return slice;
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

export const endpointSlice: Strategy = { meant: withoutTopology };
