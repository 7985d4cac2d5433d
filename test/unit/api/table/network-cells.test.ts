// What the columns of services, endpoints and ingresses show.
import test from 'ava';
import { type CellsCase, META, testCells } from './cells-case.ts';

const SERVICES: readonly CellsCase[] = [
  {
    type: 'v1 Service',
    title: 'one inside the cluster',
    object: {
      metadata: META,
      spec: {
        type: 'ClusterIP',
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1', 'fd00::1'],
        selector: { app: 'web' },
        ports: [{ port: 80, protocol: 'TCP' }],
      },
    },
    shows: {
      Name: 'it',
      Type: 'ClusterIP',
      'Cluster-IP': '10.0.0.1',
      'External-IP': '<none>',
      'Port(s)': '80/TCP',
      Age: '30s',
      Selector: 'app=web',
    },
  },
  {
    type: 'v1 Service',
    title: 'a headless one without ports',
    object: { metadata: META, spec: { type: 'ClusterIP', clusterIPs: ['None'] } },
    shows: { 'Cluster-IP': 'None', 'Port(s)': '<none>', Selector: '<none>' },
  },
  {
    type: 'v1 Service',
    title: 'one that only has the older single address',
    object: { metadata: META, spec: { type: 'ClusterIP', clusterIP: '10.0.0.2' } },
    shows: { 'Cluster-IP': '10.0.0.2' },
  },
  {
    type: 'v1 Service',
    title: 'one on the ports of nodes, with addresses of its own',
    object: {
      metadata: META,
      spec: {
        type: 'NodePort',
        externalIPs: ['192.0.2.1', '192.0.2.2'],
        ports: [
          { port: 80, nodePort: 30080, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      },
    },
    shows: { 'Cluster-IP': '<none>', 'External-IP': '192.0.2.1,192.0.2.2', 'Port(s)': '80:30080/TCP,53/UDP' },
  },
  {
    type: 'v1 Service',
    title: 'a load balancer that is not there yet',
    object: { metadata: META, spec: { type: 'LoadBalancer' }, status: { loadBalancer: {} } },
    shows: { 'External-IP': '<pending>' },
  },
  {
    type: 'v1 Service',
    title: 'a load balancer with addresses, sorted and each once, before its own',
    object: {
      metadata: META,
      spec: { type: 'LoadBalancer', externalIPs: ['192.0.2.9'] },
      status: {
        loadBalancer: {
          ingress: [{ hostname: 'lb.example.com' }, { ip: '192.0.2.4' }, { ip: '192.0.2.4', hostname: 'unused' }],
        },
      },
    },
    shows: { 'External-IP': '192.0.2.4,lb.example.com,192.0.2.9' },
  },
  {
    type: 'v1 Service',
    title: 'a name outside the cluster',
    object: { metadata: META, spec: { type: 'ExternalName', externalName: 'db.example.com' } },
    shows: { 'Cluster-IP': '<none>', 'External-IP': 'db.example.com', 'Port(s)': '<none>' },
  },
  {
    type: 'v1 Service',
    title: 'a type nobody knows',
    object: { metadata: META, spec: { type: 'Tunnel' } },
    shows: { Type: 'Tunnel', 'External-IP': '<unknown>' },
  },
];

const EP = 'v1 Endpoints';
const SLICE = 'discovery.orch.io/v1 EndpointSlice';

const ENDPOINTS: readonly CellsCase[] = [
  { type: EP, title: 'none without subsets', object: { metadata: META }, shows: { Endpoints: '<none>', Age: '30s' } },
  {
    type: EP,
    title: 'empty with nothing ready',
    object: { metadata: META, subsets: [{ notReadyAddresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] },
    shows: { Endpoints: '' },
  },
  {
    type: EP,
    title: 'every address with every port, IPv6 in brackets',
    object: {
      metadata: META,
      subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }] }],
    },
    shows: { Endpoints: '10.0.0.1:80,[fd00::1]:80' },
  },
  {
    type: EP,
    title: 'bare addresses where there are no ports',
    object: { metadata: META, subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }] },
    shows: { Endpoints: '10.0.0.1,10.0.0.2' },
  },
  {
    type: EP,
    title: 'three, and how many more over all subsets',
    object: {
      metadata: META,
      subsets: [
        { addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports: [{ port: 80 }, { port: 443 }] },
        { addresses: [{ ip: '10.0.0.3' }] },
      ],
    },
    shows: { Endpoints: '10.0.0.1:80,10.0.0.2:80,10.0.0.1:443 + 2 more...' },
  },
  {
    type: SLICE,
    title: 'unset where the only port has neither number nor name',
    object: { metadata: META, addressType: 'IPv4', ports: [{ name: '', protocol: 'TCP' }], endpoints: [] },
    shows: { Ports: '<unset>' },
  },
  {
    type: SLICE,
    title: 'ports by number, by name, and any',
    object: {
      metadata: META,
      addressType: 'IPv4',
      ports: [{ port: 80, name: 'http' }, { name: 'metrics' }, {}],
      endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }, { addresses: ['10.0.0.3'] }, { addresses: ['10.0.0.4'] }],
    },
    shows: {
      AddressType: 'IPv4',
      Ports: '80,metrics,*',
      Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
      Age: '30s',
    },
  },
  {
    type: 'v1 Endpoints',
    title: 'more addresses at more ports than could be written out',
    object: {
      metadata: META,
      subsets: [
        {
          addresses: new Array<object>(150_000).fill({ ip: '10.0.0.1' }),
          ports: new Array<object>(50_000).fill({ port: 80 }),
        },
        { addresses: new Array<object>(150_000).fill({ ip: '10.0.0.2' }) },
      ],
    },
    shows: { Endpoints: '10.0.0.1:80,10.0.0.1:80,10.0.0.1:80 + 7500149997 more...' },
  },
  {
    type: SLICE,
    title: 'more ports than fit',
    object: { metadata: META, ports: [{ port: 1 }, { port: 2 }, { port: 3 }, { port: 4 }, { port: 5 }] },
    shows: { Ports: '1,2,3 + 2 more...', Endpoints: '<unset>' },
  },
  {
    type: SLICE,
    title: 'nothing set',
    object: { metadata: META, endpoints: [] },
    shows: { AddressType: '', Ports: '<unset>', Endpoints: '<unset>' },
  },
];

const ING = 'networking.orch.io/v1 Ingress';
const hosts = (...names: (string | undefined)[]): object[] => names.map((host) => (host === undefined ? {} : { host }));

const INGRESSES: readonly CellsCase[] = [
  {
    type: ING,
    title: 'one for any host',
    object: { metadata: META, spec: { rules: hosts(undefined) } },
    shows: { Class: '<none>', Hosts: '*', Address: '', Ports: '80', Age: '30s' },
  },
  {
    type: ING,
    title: 'one with TLS that is reachable',
    object: {
      metadata: META,
      spec: { ingressClassName: 'edge', tls: [{ hosts: ['a'] }], rules: hosts('a', undefined, 'b') },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { hostname: 'h' }, { ip: '192.0.2.1' }] } },
    },
    shows: { Class: 'edge', Hosts: 'a,b', Address: '192.0.2.1,192.0.2.2,h', Ports: '80, 443' },
  },
  {
    type: ING,
    title: 'exactly three hosts need no more',
    object: { metadata: META, spec: { rules: hosts('a', 'b', 'c') } },
    shows: { Hosts: 'a,b,c' },
  },
  {
    type: 'extensions/v1beta1 Ingress',
    title: 'what is left out counts rules',
    object: { metadata: META, spec: { rules: hosts('a', undefined, 'b', 'c', 'd') } },
    shows: { Hosts: 'a,b,c + 2 more...' },
  },
  {
    type: 'networking.orch.io/v1 IngressClass',
    title: 'its controller and parameters',
    object: {
      metadata: META,
      spec: { controller: 'example.com/edge', parameters: { apiGroup: 'example.com', kind: 'Edge', name: 'main' } },
    },
    shows: { Controller: 'example.com/edge', Parameters: 'Edge.example.com/main', Age: '30s' },
  },
  {
    type: 'networking.orch.io/v1 IngressClass',
    title: 'parameters of the core group, and none',
    object: { metadata: META, spec: { controller: 'c', parameters: { kind: 'ConfigMap', name: 'main' } } },
    shows: { Parameters: 'ConfigMap/main' },
  },
  {
    type: 'networking.orch.io/v1 IngressClass',
    title: 'no parameters',
    object: { metadata: META, spec: { controller: 'c' } },
    shows: { Parameters: '<none>' },
  },
  {
    type: 'networking.orch.io/v1 NetworkPolicy',
    title: 'the pods it is for',
    object: { metadata: META, spec: { podSelector: { matchLabels: { app: 'web' } } } },
    shows: { Name: 'it', 'Pod-Selector': 'app=web', Age: '30s' },
  },
  {
    type: 'networking.orch.io/v1 NetworkPolicy',
    title: 'all pods',
    object: { metadata: META, spec: { podSelector: {} } },
    shows: { 'Pod-Selector': '<none>' },
  },
];

testCells(test, SERVICES);
testCells(test, ENDPOINTS);
testCells(test, INGRESSES);
