// The fields of services that belong together: what a client leaves out, and what an update keeps or gives up.
import test from 'ava';
import {
  completedSpec,
  type IpFamily,
  type ServiceFields,
  updatedSpec,
  withFamilies,
} from '../../../../api/services/service-fields.ts';

const BOTH: readonly IpFamily[] = ['IPv4', 'IPv6'];
const IPV4: readonly IpFamily[] = ['IPv4'];

const STORED: ServiceFields = {
  type: 'NodePort',
  clusterIP: '10.0.0.5',
  clusterIPs: ['10.0.0.5'],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
  externalTrafficPolicy: 'Cluster',
  ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }],
};

test('an address in the older field alone is the only address', (t) => {
  t.deepEqual(completedSpec({ clusterIP: '10.0.0.5' }).clusterIPs, ['10.0.0.5']);
  t.is(completedSpec({ clusterIPs: ['10.0.0.5'] }).clusterIP, undefined);
});

const UPDATES: readonly (readonly [what: string, change: ServiceFields, expected: ServiceFields])[] = [
  [
    'what was allocated and is left out is kept',
    { clusterIP: '', clusterIPs: [], ports: [{ port: 80, protocol: 'TCP' }] },
    STORED,
  ],
  [
    'a client that knows the older field only changes both',
    { clusterIP: '10.0.0.6' },
    { ...STORED, clusterIP: '10.0.0.6', clusterIPs: ['10.0.0.6'] },
  ],
  [
    'a client that knows the older field only, and takes the address away, changes both',
    { clusterIP: 'None', clusterIPs: [] },
    { ...STORED, clusterIP: 'None', clusterIPs: ['None'] },
  ],
  [
    'a port keeps its node port by its name, whatever its number',
    { ports: [{ port: 81, protocol: 'TCP' }] },
    { ...STORED, ports: [{ port: 81, protocol: 'TCP', nodePort: 30_080 }] },
  ],
  [
    'a port of another name has no node port yet',
    { ports: [{ name: 'web', port: 80, protocol: 'TCP' }] },
    { ...STORED, ports: [{ name: 'web', port: 80, protocol: 'TCP' }] },
  ],
  [
    'a node port that moved to another port is not given twice',
    {
      ports: [
        { port: 80, protocol: 'TCP' },
        { port: 81, protocol: 'TCP', nodePort: 30_080 },
      ],
    },
    {
      ...STORED,
      ports: [
        { port: 80, protocol: 'TCP' },
        { port: 81, protocol: 'TCP', nodePort: 30_080 },
      ],
    },
  ],
];

for (const [what, change, expected] of UPDATES) {
  test(`on update ${what}`, (t) => {
    t.deepEqual(updatedSpec({ ...STORED, ...change }, STORED), expected);
  });
}

test('a service that becomes another type loses what only the former one had', (t) => {
  const { externalTrafficPolicy: _, ...inside } = STORED;
  t.deepEqual(updatedSpec({ ...STORED, type: 'ClusterIP' }, STORED), {
    ...inside,
    type: 'ClusterIP',
    ports: [{ port: 80, protocol: 'TCP' }],
  });
  const named = updatedSpec({ ...STORED, type: 'ExternalName', externalName: 'a.b' }, STORED);
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) t.false(field in named, field);
  const balanced: ServiceFields = {
    ...STORED,
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30_100,
    loadBalancerClass: 'a/b',
  };
  const less = updatedSpec({ ...balanced, type: 'NodePort', externalTrafficPolicy: 'Cluster' }, balanced);
  t.false('healthCheckNodePort' in less);
  t.false('loadBalancerClass' in less);
});

test('a service that says no ports as it becomes one without any has none, and no empty list of them', (t) => {
  const { ports: _, ...portless } = STORED;
  t.false('ports' in updatedSpec({ ...portless, type: 'ExternalName', externalName: 'a.b' }, STORED));
});

test('a service of one family gives up the second address, unless the client named other ones', (t) => {
  const dual: ServiceFields = {
    ...STORED,
    clusterIPs: ['10.0.0.5', 'fd00::5'],
    ipFamilies: BOTH,
    ipFamilyPolicy: 'PreferDualStack',
  };
  const single = updatedSpec({ ...dual, ipFamilyPolicy: 'SingleStack' }, dual);
  t.deepEqual([single.clusterIPs, single.ipFamilies], [['10.0.0.5'], ['IPv4']]);
  const other = updatedSpec({ ...dual, ipFamilyPolicy: 'SingleStack', clusterIPs: ['10.0.0.5', 'fd00::6'] }, dual);
  t.deepEqual(other.clusterIPs, ['10.0.0.5', 'fd00::6']);
});

interface FamilyCase {
  readonly spec: ServiceFields;
  readonly configured: readonly IpFamily[];
  readonly families: readonly string[];
  readonly policy: string;
  readonly refused?: readonly string[];
}

const FAMILIES: Readonly<Record<string, FamilyCase>> = {
  'nothing said': { spec: {}, configured: BOTH, families: ['IPv4'], policy: 'SingleStack' },
  'both preferred': {
    spec: { ipFamilyPolicy: 'PreferDualStack' },
    configured: BOTH,
    families: BOTH,
    policy: 'PreferDualStack',
  },
  'both preferred and one there': {
    spec: { ipFamilyPolicy: 'PreferDualStack' },
    configured: IPV4,
    families: IPV4,
    policy: 'PreferDualStack',
  },
  'both required and one there': {
    spec: { ipFamilyPolicy: 'RequireDualStack' },
    configured: IPV4,
    families: IPV4,
    policy: 'RequireDualStack',
    refused: ['spec.ipFamilyPolicy'],
  },
  'the other family first': {
    spec: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
    configured: BOTH,
    families: ['IPv6', 'IPv4'],
    policy: 'RequireDualStack',
  },
  'a family that is not there': {
    spec: { ipFamilies: ['IPv6'] },
    configured: IPV4,
    families: ['IPv6'],
    policy: 'SingleStack',
    refused: ['spec.ipFamilies[0]'],
  },
  'an address of a family that is not there': {
    spec: { clusterIP: 'fd00::5', clusterIPs: ['fd00::5'] },
    configured: IPV4,
    families: ['IPv6'],
    policy: 'SingleStack',
    refused: ['spec.clusterIPs[0]'],
  },
  'two families of a headless service that wants one': {
    spec: { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: BOTH, ipFamilyPolicy: 'SingleStack' },
    configured: IPV4,
    families: BOTH,
    policy: 'SingleStack',
    refused: ['spec.ipFamilyPolicy'],
  },
  'an address says its family': {
    spec: { clusterIP: 'fd00::5', clusterIPs: ['fd00::5'] },
    configured: BOTH,
    families: ['IPv6'],
    policy: 'SingleStack',
  },
  'two addresses and no policy': {
    spec: { clusterIPs: ['10.0.0.5', 'fd00::5'] },
    configured: BOTH,
    families: BOTH,
    policy: 'SingleStack',
    refused: ['spec.ipFamilyPolicy', 'spec.ipFamilyPolicy'],
  },
  'headless without selector': {
    spec: { clusterIP: 'None', clusterIPs: ['None'] },
    configured: IPV4,
    families: BOTH,
    policy: 'RequireDualStack',
  },
  'headless with selector': {
    spec: { clusterIP: 'None', clusterIPs: ['None'], selector: { a: 'b' } },
    configured: IPV4,
    families: IPV4,
    policy: 'SingleStack',
  },
};

for (const [what, { spec, configured, families, policy, refused = [] }] of Object.entries(FAMILIES)) {
  test(`families of a service: ${what}`, (t) => {
    const { spec: complete, errors } = withFamilies({ type: 'ClusterIP', ...spec }, configured);
    t.deepEqual(complete.ipFamilies, families);
    t.is(complete.ipFamilyPolicy, policy);
    t.deepEqual(
      errors.map(({ path }) => path),
      refused,
    );
  });
}

test('a service elsewhere has no families', (t) => {
  const spec: ServiceFields = { type: 'ExternalName' };
  t.is(withFamilies(spec, BOTH).spec, spec);
});
