// Fields that say the same, which clients of either age write: addresses of pods, ranges of nodes.
import test, { type ExecutionContext } from 'ava';
import { AdmissionWorld, type Answer, type Answered, refusal } from './admission-world.ts';

const PODS = '/api/v1/namespaces/default/pods';
const POD = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const STATUS = `${PODS}/p/status`;
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';
const [A, B, C] = ['10.0.0.1', '10.0.0.2', 'fd00::1'];

const ips = (...texts: readonly (string | undefined)[]) => texts.map((ip) => ({ ip }));

interface Addresses {
  readonly podIP?: string;
  readonly podIPs?: readonly object[];
}

const addressesOf = (pod: Answer | undefined): Addresses => {
  const { podIP, podIPs } = (pod?.status ?? {}) as Addresses;
  return { ...(podIP === undefined ? {} : { podIP }), ...(podIPs === undefined ? {} : { podIPs }) };
};

/** From an address A to what a status says. */
const CHANGES: readonly (readonly [what: string, said: object, comesTo: Addresses])[] = [
  ['podIP alone', { podIP: B }, { podIP: B, podIPs: ips(B) }],
  ['podIPs alone, beside which podIP stays,', { podIPs: ips(B) }, { podIP: A, podIPs: ips(A) }],
  ['podIPs without podIP', { podIP: null, podIPs: ips(B, C) }, { podIP: B, podIPs: ips(B, C) }],
  ['podIP taken away', { podIP: null }, { podIP: A, podIPs: ips(A) }],
  ['podIPs taken away', { podIPs: null }, { podIP: A, podIPs: ips(A) }],
  ['both taken away', { podIP: null, podIPs: null }, {}],
  ['both, which differ,', { podIP: B, podIPs: ips(A, C) }, { podIP: B, podIPs: ips(B) }],
  ['both, which agree,', { podIP: B, podIPs: ips(B, C) }, { podIP: B, podIPs: ips(B, C) }],
];

async function withAddress(): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start();
  await world.created(PODS, POD);
  await world.write('patch', STATUS, { body: { status: { podIP: A } } });
  return world;
}

async function hasAddresses(t: ExecutionContext, world: AdmissionWorld, answer: Answer, wanted: Addresses) {
  t.deepEqual(addressesOf(answer), wanted);
  const stored = await world.stored(`${PODS}/p`);
  t.deepEqual(addressesOf(stored), wanted);
  t.deepEqual(stored, answer);
}

for (const [what, said, comesTo] of CHANGES) {
  test(`a merge patch of ${what} leaves a pod's addresses in step`, async (t) => {
    const world = await withAddress();
    const { code, body } = await world.write('patch', STATUS, { body: { status: said } });
    t.is(code, 200);
    await hasAddresses(t, world, body, comesTo);
    await world.stop();
  });
}

/** The code of a refusal, and the fields that it names. */
function refusedFields(answer: Answered): readonly unknown[] {
  const { code, details } = refusal(answer);
  return [code, ...(details?.causes?.map(({ field }) => field) ?? [])];
}

test('a PUT of a status says a pod’s addresses in either field', async (t) => {
  const world = await withAddress();
  for (const [status, comesTo] of [
    [{ podIP: B }, { podIP: B, podIPs: ips(B) }],
    [{ podIPs: ips(C, A) }, { podIP: C, podIPs: ips(C, A) }],
    [
      { podIP: A, podIPs: ips(B) },
      { podIP: A, podIPs: ips(A) },
    ],
    [{}, {}],
  ] as const) {
    const { code, body } = await world.write('update', STATUS, { body: { ...POD, status } });
    t.is(code, 200);
    await hasAddresses(t, world, body, comesTo);
  }
  await world.stop();
});

test('a strategic patch adds an address behind the one that podIP says', async (t) => {
  const world = await withAddress();
  const status = { '$setElementOrder/podIPs': ips(A, C), podIPs: ips(C) };
  const request = { body: { status }, contentType: STRATEGIC };
  const { body } = await world.write('patch', STATUS, request);
  t.deepEqual(addressesOf(body), { podIP: A, podIPs: ips(A, C) });
  await world.stop();
});

test('who applies an address in one field finds it in both, owns the one, and changes nothing by saying it again', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(PODS, POD);
  for (const [status, comesTo] of [
    [{ podIP: B }, { podIP: B, podIPs: ips(B) }],
    [{ podIPs: ips(C) }, { podIP: C, podIPs: ips(C) }],
  ] as const) {
    const request = {
      body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status },
      contentType: APPLY,
      parameters: { fieldManager: 'agent', force: 'true' },
    };
    const { code, body } = await world.write('patch', STATUS, request);
    t.is(code, 200);
    await hasAddresses(t, world, body, comesTo);
    const again = await world.write('patch', STATUS, request);
    t.is(again.body.metadata.resourceVersion, body.metadata.resourceVersion);
    await world.write('update', STATUS, { body: { ...POD, status: {} } });
  }
  await world.stop();
});

test('who changes a pod’s address owns both fields', async (t) => {
  const world = await withAddress();
  const pod = await world.stored(`${PODS}/p`);
  const owned = pod?.metadata.managedFields?.map(({ fieldsV1 }) => (fieldsV1 as { 'f:status'?: object })['f:status']);
  t.deepEqual(owned?.flatMap((status) => Object.keys(status ?? {})).sort(), ['f:podIP', 'f:podIPs']);
  await world.stop();
});

test('a podIP that is no address is refused as the first of podIPs', async (t) => {
  const world = await withAddress();
  const reply = await world.write('patch', STATUS, { body: { status: { podIP: 'here' } } });
  t.deepEqual(refusedFields(reply), [422, 'status.podIPs[0]']);
  await world.stop();
});

test('a new pod has no address, whatever its body says', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(PODS, { ...POD, status: { podIP: A } });
  t.deepEqual(addressesOf(made), {});
  await world.stop();
});

const NODES = '/api/v1/nodes';
const [R, S, T] = ['10.1.0.0/24', '10.2.0.0/24', 'fd01::/64'];
const FIXED = 'Forbidden: node updates may not change podCIDR except from "" to valid';

test('a new node says its ranges in either field', async (t) => {
  const world = await AdmissionWorld.start();
  for (const [name, said, comesTo] of [
    ['field', { podCIDR: R }, { podCIDR: R, podCIDRs: [R] }],
    ['list', { podCIDRs: [R, T] }, { podCIDR: R, podCIDRs: [R, T] }],
    ['both', { podCIDR: S, podCIDRs: [R, T] }, { podCIDR: S, podCIDRs: [S] }],
    ['none', {}, {}],
  ] as const) {
    const made = await world.created(NODES, { metadata: { name }, spec: said });
    t.deepEqual({ ...made.spec, taints: undefined }, { ...comesTo, taints: undefined }, name);
    t.deepEqual((await world.stored(`${NODES}/${name}`))?.spec, made.spec);
  }
  await world.stop();
});

test('a range that is none is refused as the first of podCIDRs', async (t) => {
  const world = await AdmissionWorld.start();
  const body = { metadata: { name: 'n' }, spec: { podCIDR: 'here' } };
  t.deepEqual(refusedFields(await world.write('create', NODES, { body })), [422, 'spec.podCIDRs[0]']);
  await world.stop();
});

const SERVICES = '/api/v1/namespaces/default/services';

test('families that a service cannot have are told of once nothing else is wrong with it', async (t) => {
  const world = await AdmissionWorld.start();
  const refusedFor = async (spec: object) => {
    const body = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], ...spec } };
    return refusedFields(await world.write('create', SERVICES, { body }));
  };
  t.deepEqual(await refusedFor({ ipFamilies: ['IPv4', 'IPv4'], ipFamilyPolicy: 'SingleStack' }), [
    422,
    'spec.ipFamilies[1]',
  ]);
  t.deepEqual(await refusedFor({ ipFamilies: ['IPv6'], sessionAffinity: 'x' }), [422, 'spec.sessionAffinity']);
  t.deepEqual(await refusedFor({ ipFamilies: ['IPv6'] }), [422, 'spec.ipFamilies[0]']);
  t.deepEqual(await refusedFor({ clusterIP: 'fd00::5' }), [422, 'spec.clusterIPs[0]']);
  await world.stop();
});

const BOTH_PROTOCOLS = [
  { name: 'a', port: 80, protocol: 'TCP', nodePort: 31_000 },
  { name: 'b', port: 81, protocol: 'UDP', nodePort: 31_001 },
];

test('a balanced service has one protocol, unless it had several already', async (t) => {
  const world = await AdmissionWorld.start();
  const body = (spec: object) => ({ metadata: { name: 's' }, spec });
  const balanced = { type: 'LoadBalancer', ports: BOTH_PROTOCOLS };
  t.deepEqual(refusedFields(await world.write('create', SERVICES, { body: body(balanced) })), [422, 'spec.ports']);
  await world.created(SERVICES, body({ type: 'NodePort', ports: BOTH_PROTOCOLS }));
  const patched = await world.write('patch', `${SERVICES}/s`, { body: { spec: { type: 'LoadBalancer' } } });
  t.is(patched.code, 200);
  await world.stop();
});

test('a port of the node is given to one port of a new service, and a health port that cannot be is refused', async (t) => {
  const world = await AdmissionWorld.start();
  const create = (spec: object) =>
    world.write('create', SERVICES, { body: { metadata: { name: 's' }, spec: { type: 'NodePort', ...spec } } });
  const [first, second] = BOTH_PROTOCOLS;
  t.deepEqual(refusedFields(await create({ ports: [first, { ...second, nodePort: 31_000 }] })), [
    422,
    'spec.ports[1].nodePort',
  ]);
  const health = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 80 };
  t.deepEqual(refusedFields(await create({ ...health, ports: [first] })), [422, 'spec.healthCheckNodePort']);
  t.is((await create({ ports: [first, { ...second, port: 80, nodePort: 31_000 }] })).code, 201);
  await world.stop();
});

test('the ranges of a node are given once, in either field, and stay', async (t) => {
  const world = await AdmissionWorld.start();
  const node = `${NODES}/n`;
  await world.created(NODES, { metadata: { name: 'n' } });
  const patched = (spec: object) => world.write('patch', node, { body: { spec } });
  const given = await patched({ podCIDR: R });
  t.deepEqual([given.code, given.body.spec.podCIDRs], [200, [R]]);
  for (const spec of [{ podCIDR: S }, { podCIDR: null, podCIDRs: [R, T] }, { podCIDR: null, podCIDRs: null }]) {
    const { code, details } = refusal(await patched(spec));
    t.is(code, 422, JSON.stringify(spec));
    const [ofRanges, ofNode] = (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
    t.is(ofRanges, `spec.podCIDRs: ${FIXED}`);
    t.regex(
      ofNode ?? '',
      /^\[\]: Forbidden: node updates may only change labels, taints, or capacity \(or configSource/,
    );
  }
  for (const spec of [{ podCIDR: null }, { podCIDRs: null }, { podCIDRs: [S] }]) {
    const { code, body } = await patched(spec);
    t.deepEqual([code, body.spec.podCIDR, body.spec.podCIDRs], [200, R, [R]], JSON.stringify(spec));
  }
  await world.stop();
});
