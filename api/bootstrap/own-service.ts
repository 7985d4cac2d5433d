// The service under which pods reach the API server, and its endpoints. Whoever writes them adds the other servers'
// addresses and takes its own away when it stops.
import type { Dialect } from '../../config/dialect.ts';
import type { BootstrapObject } from './bootstrap-object.ts';

export interface OwnServiceSettings {
  /** IP address that cluster members reach this server at. */
  readonly advertiseAddress: string;
  /** The secure port there. */
  readonly port: number;
  /** First usable address of the service range. */
  readonly serviceIp: string;
  /** Makes the service of type NodePort; absent: ClusterIP. */
  readonly serviceNodePort?: number;
}

const SERVICE_PORT = 443;

/** Service, Endpoints and EndpointSlice in namespace `default`. */
export function ownService(dialect: Dialect, settings: OwnServiceSettings): readonly BootstrapObject[] {
  const { advertiseAddress, port } = settings;
  return [
    service(dialect, settings),
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        namespace: 'default',
        name: dialect.brand,
        // The slice below is ours too: nobody is to mirror these.
        labels: { [dialect.spell('endpointslice.@label/skip-mirror')]: 'true' },
      },
      subsets: [{ addresses: [{ ip: advertiseAddress }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
    },
    {
      apiVersion: dialect.spell('discovery.@group/v1'),
      kind: 'EndpointSlice',
      metadata: {
        namespace: 'default',
        name: dialect.brand,
        labels: { [dialect.spell('@label/service-name')]: dialect.brand },
      },
      addressType: ipFamily(advertiseAddress),
      endpoints: [{ addresses: [advertiseAddress], conditions: { ready: true } }],
      ports: [{ name: 'https', protocol: 'TCP', port }],
    },
  ];
}

function service(dialect: Dialect, { port, serviceIp, serviceNodePort }: OwnServiceSettings): BootstrapObject {
  const nodePort = serviceNodePort === undefined ? {} : { nodePort: serviceNodePort };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'default',
      name: dialect.brand,
      labels: { component: 'apiserver', provider: dialect.brand },
    },
    spec: {
      type: serviceNodePort === undefined ? 'ClusterIP' : 'NodePort',
      clusterIP: serviceIp,
      clusterIPs: [serviceIp],
      ipFamilies: [ipFamily(serviceIp)],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'https', protocol: 'TCP', port: SERVICE_PORT, targetPort: port, ...nodePort }],
      sessionAffinity: 'None',
    },
  };
}

function ipFamily(address: string): 'IPv4' | 'IPv6' {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
