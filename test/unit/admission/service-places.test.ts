// Where a service is connected to that is called by its name, and why it is not.
import test from 'ava';
import { NoPlace, type PlaceFinder, placeOfService } from '../../../actors/outside/service-places.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const dialect = DIALECTS.orch;
const SLICES = dialect.spell('discovery.@group/endpointslices');
const WANTED = { namespace: 'shop', service: 'hook', port: 443 };

interface World {
  readonly spec?: JsonObject;
  readonly endpoints?: JsonObject;
  readonly slices?: readonly JsonObject[];
  /** By name, where each pod is. */
  readonly pods?: Readonly<Record<string, string>>;
}

/** Finds what there is in the namespace of the service. */
function finderIn({ spec, endpoints, slices = [], pods = {} }: World, callsEndpoints = false): PlaceFinder {
  const metadata = { name: 'hook', namespace: 'shop' };
  const found: Readonly<Record<string, JsonObject | undefined>> = {
    'core/services/hook': spec && { metadata, spec },
    'core/endpoints/hook': endpoints && { metadata, ...endpoints },
    ...Object.fromEntries(Object.entries(pods).map(([name, podIP]) => [`core/pods/${name}`, { status: { podIP } }])),
  };
  return {
    dialect,
    callsEndpoints,
    find: async (key, namespace, name) => (namespace === 'shop' ? found[`${key}/${name}`] : undefined),
    list: async (key, namespace) => (key === SLICES && namespace === 'shop' ? slices : []),
    random: () => 0,
  };
}

const clusterIp = (clusterIP: string, port = 443): JsonObject => ({
  type: 'ClusterIP',
  clusterIP,
  ports: [{ name: 'tls', port }],
});
const OWN_MACHINE = 'the address 127.0.0.1 is not one the server connects to';

const REFUSED: readonly (readonly [what: string, world: World, callsEndpoints: boolean, message: string])[] = [
  ['is not there', {}, false, 'service "hook" not found'],
  ['has no such port', { spec: clusterIp('10.0.0.1', 80) }, false, 'no service port 443 found for service "hook"'],
  [
    'has no such port at its endpoints',
    { spec: clusterIp('10.0.0.1', 80) },
    true,
    'no service port 443 found for service "hook"',
  ],
  ['is headless', { spec: clusterIp('None') }, false, 'cannot route to service with ClusterIP "None"'],
  [
    'is headless and has no such port',
    { spec: clusterIp('None', 80) },
    false,
    'cannot route to service with ClusterIP "None"',
  ],
  ['has an address of this machine alone', { spec: clusterIp('127.0.0.1') }, false, OWN_MACHINE],
  ['has no address yet', { spec: clusterIp('') }, false, 'the service has no address'],
  ['is elsewhere, at this machine', { spec: { type: 'ExternalName', externalName: '127.0.0.1' } }, false, OWN_MACHINE],
  [
    'is elsewhere, where endpoints are called',
    { spec: { type: 'ExternalName', externalName: 'hooks.example.com', ports: [{ port: 443 }] } },
    true,
    'unsupported service type "ExternalName"',
  ],
  [
    'is elsewhere and says no ports, where endpoints are called',
    { spec: { type: 'ExternalName', externalName: 'hooks.example.com' } },
    true,
    'no service port 443 found for service "hook"',
  ],
  ['has no endpoints', { spec: clusterIp('None') }, true, 'no endpoints available for service "hook"'],
];

for (const [what, world, callsEndpoints, message] of REFUSED) {
  test(`a service that ${what} is not called, and that is why`, async (t) => {
    await t.throwsAsync(placeOfService(finderIn(world, callsEndpoints), WANTED), { instanceOf: NoPlace, message });
  });
}

test('a service is called at the address of the cluster, or where its name leads', async (t) => {
  t.deepEqual(await placeOfService(finderIn({ spec: clusterIp('10.0.0.1') }), WANTED), { host: '10.0.0.1', port: 443 });
  const elsewhere = await placeOfService(
    finderIn({ spec: { type: 'ExternalName', externalName: 'hooks.example.com' } }),
    WANTED,
  );
  t.like(elsewhere, { host: 'hooks.example.com', port: 443 });
  t.is(elsewhere.addressProblem?.('127.0.0.1'), OWN_MACHINE, 'looked at again when it is resolved');
  t.is(elsewhere.addressProblem?.('10.1.1.1'), undefined);
});

const of = (name: string): JsonObject => ({ kind: 'Pod', namespace: 'shop', name });

test('a service is called at an endpoint that is a pod of the namespace, which still has the address', async (t) => {
  const addresses = [
    { ip: '10.1.0.1', targetRef: of('moved') },
    { ip: '10.1.0.2' },
    { ip: '10.1.0.3', targetRef: of('there') },
  ];
  const world = {
    spec: clusterIp('None'),
    endpoints: { subsets: [{ addresses, ports: [{ name: 'tls', port: 8443 }] }] },
    pods: { moved: '10.1.9.9', there: '10.1.0.3' },
  };
  t.like(await placeOfService(finderIn(world, true), WANTED), { host: '10.1.0.3', port: 8443 });
  await t.throwsAsync(placeOfService(finderIn({ ...world, pods: {} }, true), WANTED), {
    message: 'no endpoints available for service "hook"',
  });
});

test('where there are no Endpoints the slices of the service say them, without those that are not ready', async (t) => {
  const slice = (service: string, ...endpoints: readonly JsonObject[]): JsonObject => ({
    metadata: { labels: { [dialect.spell('@label/service-name')]: service } },
    ports: [{ name: 'tls', port: 8443 }],
    endpoints,
  });
  const slices = [
    slice('other', { addresses: ['10.1.0.1'], targetRef: of('a') }),
    slice('hook', { addresses: ['10.1.0.2'], targetRef: of('b'), conditions: { ready: false } }),
    slice('hook', { addresses: ['10.1.0.3'], targetRef: of('c') }),
  ];
  const world = { spec: clusterIp('10.0.0.1'), slices, pods: { a: '10.1.0.1', b: '10.1.0.2', c: '10.1.0.3' } };
  t.like(await placeOfService(finderIn(world, true), WANTED), { host: '10.1.0.3', port: 8443 });
  await t.throwsAsync(placeOfService(finderIn({ ...world, slices: slices.slice(0, 2) }, true), WANTED), {
    instanceOf: NoPlace,
  });
});
