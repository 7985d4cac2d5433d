// How the API server reaches node agents and other networks.
import { optionGroup, SERVER } from './option.ts';

export const nodeAgentOptions = optionGroup('Node agents', SERVER, [
  {
    name: 'orchlet-timeout',
    type: 'duration',
    aliases: ['kubelet-timeout'],
    default: '5s',
    description: 'Time until a connection to a node agent must stand; 0 for no limit.',
    effect: ['in force', 'logs, exec and proxies fail after it'],
  },
  {
    name: 'orchlet-preferred-address-types',
    type: 'list',
    aliases: ['kubelet-preferred-address-types'],
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    values: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    description: 'Which address of a node is tried first.',
    effect: ['in force', 'where logs, exec and proxies connect to'],
  },
  {
    name: 'orchlet-certificate-authority',
    type: 'path',
    aliases: ['kubelet-certificate-authority'],
    description: "Authorities of the node agents' certificates; without, any certificate is believed.",
    effect: ['in force', 'which node agents are believed'],
  },
  {
    name: 'orchlet-client-certificate',
    type: 'path',
    aliases: ['kubelet-client-certificate'],
    description: 'Client certificate shown to node agents.',
    effect: ['in force', 'whom node agents see'],
  },
  {
    name: 'orchlet-client-key',
    type: 'path',
    aliases: ['kubelet-client-key'],
    description: 'Private key of --orchlet-client-certificate.',
    effect: ['in force', 'whom node agents see'],
  },
  {
    name: 'orchlet-port',
    type: 'int',
    formerNames: ['kubelet-port'],
    default: '10250',
    bounds: [1, 65_535],
    description: 'Port of the node agents that do not report theirs.',
    effect: ['in force', 'where logs, exec and proxies connect to'],
  },
  {
    name: 'orchlet-permit-loopback',
    type: 'bool',
    default: 'false',
    description:
      'Connect to node agents on loopback addresses too: whoever writes nodes then reaches what listens there.',
    effect: ['in force', 'whether logs, exec and proxies connect to loopback addresses'],
  },
  {
    name: 'egress-selector-config-file',
    type: 'path',
    description: 'Which way out connections of the server take: straight, or through a proxy (HTTPConnect).',
    effect: ['in force', 'how the cluster, its extension servers and webhooks are connected to'],
  },
]);
