// Endpoint slices: v1beta1 keeps the node and the zone of an endpoint in its topology, v1 in fields of their own, and what
// else the topology held as deprecated.
import type { JsonObject } from '../json/json-value.ts';
import { eachOf, type Pair, type StepTable } from './step.ts';

const ZONE = 'topology.@label/zone';
const HOSTNAME = '@label/hostname';

const endpoint: Pair = {
  up: ({ topology, ...rest }, { dialect }) => {
    const zone = dialect.spell(ZONE);
    const hostname = dialect.spell(HOSTNAME);
    const others: Record<string, unknown> = { ...(topology as JsonObject | undefined) };
    const result: Record<string, unknown> = rest;
    if (others[zone] !== undefined) result.zone = others[zone];
    delete others[zone];
    // A topology may say something else than the node's name, as odd as that is. Then it stays.
    if (rest.nodeName !== undefined && others[hostname] === rest.nodeName) delete others[hostname];
    if (Object.keys(others).length > 0) result.deprecatedTopology = others;
    return result;
  },
  down: ({ deprecatedTopology, zone, ...rest }, { dialect }) => {
    const topology: Record<string, unknown> = { ...(deprecatedTopology as JsonObject | undefined) };
    if (zone !== undefined) topology[dialect.spell(ZONE)] = zone;
    if (rest.nodeName !== undefined) topology[dialect.spell(HOSTNAME)] ||= rest.nodeName;
    return Object.keys(topology).length === 0 ? rest : { ...rest, topology };
  },
};

export const discoverySteps: StepTable = {
  'discovery/v1beta1.EndpointSlice': { hub: 'discovery/v1.EndpointSlice', ...eachOf('endpoints', endpoint) },
};
