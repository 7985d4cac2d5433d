// What installers of clusters write into the command line of an API server of this release and that does nothing any more, there or
// here: it is taken with a line, and a value that asked for something is refused where it would be missed.
import { ADMISSION_PLUGINS, BUILT_ADMISSION_PLUGINS } from '../admission-plugins.ts';
import { optionGroup, SERVER } from './option.ts';

const LEAVE_IT_OUT = 'leave it out';
const PLAIN_HTTP = 'the API is served over HTTPS only';
const NO_TUNNELS = 'nodes are connected to by the network, not through SSH';

export const deprecatedServerOptions = optionGroup('Deprecated', SERVER, [
  {
    name: 'insecure-port',
    type: 'int',
    default: '0',
    bounds: [0, 65_535],
    aliases: ['port'],
    valuesInForce: ['0'],
    description: 'Port of plain HTTP; 0 for none.',
    deprecated: LEAVE_IT_OUT,
    effect: ['refused', PLAIN_HTTP],
  },
  {
    name: 'insecure-bind-address',
    type: 'ip',
    aliases: ['address'],
    description: 'Address of the port of plain HTTP.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', PLAIN_HTTP],
  },
  {
    name: 'admission-control',
    type: 'list',
    values: ADMISSION_PLUGINS.map(({ name }) => name),
    valuesInForce: BUILT_ADMISSION_PLUGINS,
    description: 'Admission plugins to run, and no others; their order does not matter.',
    deprecated: 'use --enable-admission-plugins or --disable-admission-plugins',
    effect: ['in force', 'what the plugins below say of themselves'],
  },
  {
    name: 'target-ram-mb',
    type: 'int',
    default: '0',
    description: 'Memory from which sizes of caches followed.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', 'caches go by --store-history-bytes and --encoding-cache-bytes'],
  },
  {
    name: 'deserialization-cache-size',
    type: 'int',
    default: '0',
    description: 'Objects in a cache that is gone.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', 'there is no such cache'],
  },
  {
    name: 'enable-logs-handler',
    type: 'bool',
    default: 'false',
    valuesInForce: ['false'],
    description: 'Serve the files of /var/log under /logs.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', 'the server shows no files of its machine'],
  },
  {
    name: 'enable-swagger-ui',
    type: 'bool',
    default: 'false',
    valuesInForce: ['false'],
    description: 'Serve a page about the API.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', 'the API is described under /openapi/v2'],
  },
  {
    name: 'kubelet-https',
    type: 'bool',
    default: 'true',
    valuesInForce: ['true'],
    description: 'Connect to node agents by HTTPS.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', 'node agents are always connected to by HTTPS'],
  },
  {
    name: 'kubelet-read-only-port',
    type: 'int',
    default: '10255',
    bounds: [0, 65_535],
    description: 'Port of the node agents that asks for no credentials.',
    deprecated: LEAVE_IT_OUT,
    effect: ['not in force', 'nothing is asked there'],
  },
  {
    name: 'ssh-user',
    type: 'string',
    description: 'User of tunnels to the nodes.',
    deprecated: LEAVE_IT_OUT,
    effect: ['refused', NO_TUNNELS],
  },
  {
    name: 'ssh-keyfile',
    type: 'path',
    description: 'Key of tunnels to the nodes.',
    deprecated: LEAVE_IT_OUT,
    effect: ['refused', NO_TUNNELS],
  },
  {
    name: 'cloud-provider-gce-lb-src-cidrs',
    type: 'ipRanges',
    default: '130.211.0.0/22,209.85.152.0/22,209.85.204.0/22,35.191.0.0/16',
    description: 'Ranges that load balancing traffic and health checks of that cloud come from.',
    deprecated: LEAVE_IT_OUT,
    effect: ['refused', 'no cloud is known here'],
  },
]);
