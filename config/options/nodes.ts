// How the API server reaches node agents and other networks.
import { optionGroup, SERVER } from './option.ts';

export const nodeAgentOptions = optionGroup('Node agents', SERVER, [
  {
    name: 'orchlet-timeout',
    type: 'duration',
    default: '5s',
    description: 'Time an operation at a node agent may take.',
  },
  {
    name: 'orchlet-preferred-address-types',
    type: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    values: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    description: 'Which address of a node is tried first.',
  },
  {
    name: 'orchlet-certificate-authority',
    type: 'path',
    description: "Authorities of the node agents' certificates.",
  },
  { name: 'orchlet-client-certificate', type: 'path', description: 'Client certificate shown to node agents.' },
  { name: 'orchlet-client-key', type: 'path', description: 'Private key of --orchlet-client-certificate.' },
  {
    name: 'egress-selector-config-file',
    type: 'path',
    description: 'Which way out connections of the server take.',
    refuseUntilInForce: true,
  },
]);
