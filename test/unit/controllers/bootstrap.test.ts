// What the API server makes for itself at start, what it keeps afterwards, and the hooks that readiness hangs on.
import test from 'ava';
import { hookChecks } from '../../../actors/controllers/bootstrap/bootstrap-objects.ts';
import type { ControllersOptions } from '../../../actors/controllers/options.ts';
import type { FeedFactory } from '../../../actors/following/feed-of-thread.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { makeSelfSigned } from '../../../transport/tls/self-signed.ts';
import type { Cluster } from './cluster.ts';
import { DIALECT, defaultOptions, type Fixture, fixture, objectOf, restarted, started } from './fixture.ts';
import type { Stored } from './stored.ts';
import { VirtualTime } from './virtual-time.ts';

const SLICES = DIALECT.spell('discovery.@group/endpointslices');
const PRIORITY_CLASSES = DIALECT.spell('scheduling.@group/priorityclasses');
const FLOW_SCHEMAS = DIALECT.spell('flowcontrol.apiserver.@group/flowschemas');
const BRAND = DIALECT.brand;
const NAMESPACES = ['default', DIALECT.nodeLeaseNamespace, DIALECT.publicNamespace, DIALECT.systemNamespace].sort();

/** More than it takes to look at what there is. */
const SLOW_TURNS = 50;

function service(f: Fixture): Stored {
  return f.cluster.get('core/services', 'default', BRAND)!;
}

function addresses(f: Fixture): unknown[] {
  const subsets = f.cluster.get('core/endpoints', 'default', BRAND)?.subsets as
    | { addresses: { ip: string }[] }[]
    | undefined;
  return (subsets ?? []).flatMap((subset) => subset.addresses.map(({ ip }) => ip));
}

function sliceAddresses(f: Fixture): unknown[] {
  const endpoints = f.cluster.get(SLICES, 'default', BRAND)?.endpoints as { addresses: string[] }[] | undefined;
  return (endpoints ?? []).flatMap((endpoint) => endpoint.addresses);
}

function isDone(f: Fixture, name: string): boolean | undefined {
  return f.hooks().find((hook) => hook.name === `poststarthook/${name}`)?.done;
}

function putEndpoints(cluster: Cluster, ips: string[]): void {
  const subsets = [{ addresses: ips.map((ip) => ({ ip })), ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] }];
  const labels = { [DIALECT.spell('endpointslice.@label/skip-mirror')]: 'true' };
  cluster.put(
    'core/endpoints',
    objectOf('Endpoints', 'default', BRAND, { metadata: { name: BRAND, labels }, subsets }),
  );
}

test('an empty store is given everything, and every hook is done, without time passing', async (t) => {
  const f = await started(WITH_ROLES);
  t.deepEqual(f.cluster.names('core/namespaces'), NAMESPACES);
  t.deepEqual(f.cluster.names(PRIORITY_CLASSES), ['system-cluster-critical', 'system-node-critical']);
  t.deepEqual(service(f).spec, {
    type: 'ClusterIP',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
    sessionAffinity: 'None',
  });
  t.deepEqual(service(f).metadata.labels, { component: 'apiserver', provider: BRAND });
  t.deepEqual(addresses(f), ['192.0.2.7']);
  t.deepEqual(sliceAddresses(f), ['192.0.2.7']);
  t.true(f.cluster.names('core/configmaps').includes(`${DIALECT.systemNamespace}/extension-apiserver-authentication`));
  t.deepEqual(
    f.hooks().filter((hook) => !hook.done),
    [],
  );
  t.is(f.time.clock.monotonicMs(), 0);
  t.true(
    f.cluster.writes.filter(({ request }) => request.verb === 'create').every(({ code }) => code === 201),
    'nothing is tried too early',
  );
});

const WITH_ROLES: Partial<ControllersOptions> = { isServed: () => true };
const ROLES_HOOK = 'poststarthook/rbac/bootstrap-roles';
const PRIORITY_HOOK = 'poststarthook/scheduling/bootstrap-system-priority-classes';
const FLOW_HOOK = 'poststarthook/priority-and-fairness-config-producer';
const OTHER_HOOKS = [
  'poststarthook/bootstrap-controller',
  ROLES_HOOK,
  FLOW_HOOK,
  'poststarthook/start-cluster-authentication-info-controller',
];

const BEFORE = ['start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced'];
const AFTER = [
  'start-orch-aggregator-informers',
  'apiservice-registration-controller',
  'apiservice-status-available-controller',
  'orch-apiserver-autoregistration',
];
/** With those of definitions and APIServices. */
const among = (names: readonly string[]): readonly string[] => [
  ...BEFORE.map((name) => `poststarthook/${name}`),
  ...names,
  ...AFTER.map((name) => `poststarthook/${name}`),
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
];

test('the hooks are those that the health endpoints list', async (t) => {
  const f = await started(WITH_ROLES);
  const names = f.hooks().map(({ name }) => name);
  t.deepEqual([...names].sort(), [...among([PRIORITY_HOOK, ...OTHER_HOOKS])].sort());
  t.deepEqual(names, hookChecks(DIALECT, defaultOptions()));
});

test('what is not served is not made, and what waits for nothing else is no hook', async (t) => {
  const withoutPriorities: Partial<ControllersOptions> = { isServed: ({ resource }) => resource !== 'priorityclasses' };
  const f = await started(withoutPriorities);
  t.deepEqual(f.cluster.names(PRIORITY_CLASSES), []);
  t.deepEqual(
    f.hooks().map(({ name, done }) => [name, done]),
    among(OTHER_HOOKS).map((name) => [name, true]),
  );
  t.deepEqual(hookChecks(DIALECT, { ...defaultOptions(), ...withoutPriorities }), among(OTHER_HOOKS));
  const withoutCore = await started({ isServed: ({ group }) => group !== '' });
  t.deepEqual(
    withoutCore.hooks().map(({ name, done }) => [name, done]),
    among([ROLES_HOOK, PRIORITY_HOOK, FLOW_HOOK]).map((name) => [name, true]),
  );
  t.false(withoutCore.cluster.writes.some(({ request }) => request.target.group === ''));
});

test('in the other dialect everything is made under its names', async (t) => {
  const other = DIALECTS.kubernetes;
  const f = await started({ ...WITH_ROLES, dialect: other.name });
  t.deepEqual(
    f.hooks().filter((hook) => !hook.done),
    [],
  );
  t.deepEqual(
    f.cluster.names('core/namespaces'),
    ['default', other.nodeLeaseNamespace, other.publicNamespace, other.systemNamespace].sort(),
  );
  t.true(f.cluster.names('core/services').includes(`default/${other.brand}`));
  t.true(f.cluster.names(other.spell('discovery.@group/endpointslices')).includes(`default/${other.brand}`));
});

test('no hook is done before the stream has been taken up', async (t) => {
  const f = await fixture();
  f.onSubscribe(() => new Promise(() => {}));
  await f.actor.start?.();
  await f.time.settle();
  t.true(f.hooks().every(({ done }) => !done));
});

test('hooks wait for their own objects to be told, and not for all that there are', async (t) => {
  const f = await started();
  f.die();
  f.cluster.putNamespace('late');
  await f.cluster.settle();
  const whatWasDone: boolean[] = [];
  const slow: FeedFactory = (...parts) => {
    const feed = f.cluster.feedFactory(...parts);
    return {
      apply: (batch) => feed.apply(batch),
      *begin(present, size) {
        const told = feed.begin(present, size);
        told.next();
        for (let turn = 0; turn < SLOW_TURNS; turn++) yield;
        whatWasDone.push(
          g.hooks().every(({ done }) => done),
          hasAccount(),
        );
        while (told.next().done !== true) yield;
      },
    };
  };
  const g = await fixture({}, { cluster: f.cluster, feedFactory: slow });
  const hasAccount = (): boolean => g.cluster.names('core/serviceaccounts').includes('late/default');
  await g.actor.start?.();
  await g.time.settle();
  t.deepEqual(whatWasDone, [true, false]);
  t.true(hasAccount());
});

test('a store that has everything is not written to', async (t) => {
  const f = await started();
  f.cluster.writes.length = 0;
  const g = await restarted(f);
  t.deepEqual(g.cluster.writes, []);
  t.deepEqual(
    g.hooks().filter((hook) => !hook.done),
    [],
  );
});

test('a failing object holds back its own hook, with the reason, until it succeeds', async (t) => {
  const f = await fixture();
  let isRefused = true;
  f.cluster.fault = ({ target }) =>
    isRefused && target.resource === 'priorityclasses' ? { code: 500, body: { message: 'not now' } } : undefined;
  await f.actor.start?.();
  await f.time.advance(1_000);
  t.is(isDone(f, 'scheduling/bootstrap-system-priority-classes'), false);
  t.is(f.hooks().find(({ failure }) => failure !== '')?.failure, 'not now');
  t.is(isDone(f, 'bootstrap-controller'), true);
  isRefused = false;
  await f.time.advance(60_000);
  t.deepEqual(
    f.hooks().filter((hook) => !hook.done || hook.failure !== ''),
    [],
  );
});

test('an object that is there and cannot be set right keeps the server from being ready only where others go by what it says', async (t) => {
  const f = await started(WITH_ROLES);
  f.cluster.fault = () => ({ code: 500, body: { message: 'failed calling webhook' } });
  const schema = f.cluster.get(FLOW_SCHEMAS, '', 'catch-all')!;
  f.cluster.put(FLOW_SCHEMAS, { ...schema, spec: { ...schema.spec, matchingPrecedence: 9_999 } });
  await f.cluster.settle();
  const g = await restarted(f, { ...WITH_ROLES, securePort: 7443 });
  t.like(service(g).spec?.ports, [{ targetPort: 6443 }]);
  t.deepEqual(
    g.hooks().filter((hook) => !hook.done),
    [{ name: FLOW_HOOK, done: false, failure: 'failed calling webhook' }],
  );
  g.cluster.fault = () => undefined;
  await g.time.advance(60_000);
  t.like(service(g).spec?.ports, [{ targetPort: 7443 }], 'it goes on trying');
  t.is(isDone(g, 'priority-and-fairness-config-producer'), true);
});

test('an object of a first start that cannot be made keeps the server from being ready, and on later starts only where others go by what it says', async (t) => {
  const refusal = { code: 403, body: { message: 'exceeded quota' } };
  const f = await fixture(WITH_ROLES);
  f.cluster.fault = ({ target }) => (target.resource === 'services' ? refusal : undefined);
  await f.actor.start?.();
  await f.time.advance(1_000);
  t.deepEqual(
    f.hooks().filter((hook) => !hook.done),
    [{ name: 'poststarthook/bootstrap-controller', done: false, failure: 'exceeded quota' }],
  );
  f.cluster.fault = () => undefined;
  await f.time.advance(60_000);
  f.cluster.delete('core/services', 'default', BRAND);
  f.cluster.remove(PRIORITY_CLASSES, '', 'system-node-critical');
  await f.cluster.settle();
  f.cluster.fault = () => refusal;
  const g = await restarted(f, WITH_ROLES);
  t.false(g.cluster.names('core/services').includes(`default/${BRAND}`));
  t.deepEqual(
    g.hooks().filter((hook) => !hook.done),
    [{ name: PRIORITY_HOOK, done: false, failure: 'exceeded quota' }],
  );
  g.cluster.fault = () => undefined;
  await g.time.advance(60_000);
  t.truthy(service(g), 'it goes on trying');
  t.is(isDone(g, 'scheduling/bootstrap-system-priority-classes'), true);
});

const FAILURES: readonly [title: string, failure: OrchError | { code: number; body: object }][] = [
  ['Overloaded', new OrchError('Overloaded', 'full')],
  ['ActorDown', new OrchError('ActorDown', 'gone')],
  ['DeadlineExceeded', new OrchError('DeadlineExceeded', 'late')],
  ['Refused', new OrchError('Refused', 'threw')],
  ['409', { code: 409, body: {} }],
  ['503', { code: 503, body: {} }],
];

for (const [title, failure] of FAILURES) {
  test(`bootstrapping goes through when every write first fails with ${title}`, async (t) => {
    const f = await fixture();
    const failed = new Set<string>();
    f.cluster.fault = ({ verb, target, payload }) => {
      const what = `${verb} ${target.resource} ${target.namespace} ${new TextDecoder().decode(payload)}`;
      if (failed.has(what)) return undefined;
      failed.add(what);
      return failure;
    };
    await f.actor.start?.();
    await f.time.advance(2_000);
    t.deepEqual(
      f.hooks().filter((hook) => !hook.done),
      [],
    );
    t.deepEqual(f.cluster.names('core/namespaces'), NAMESPACES);
    t.deepEqual(addresses(f), ['192.0.2.7']);
  });
}

test('a write that was done without an answer is not done twice', async (t) => {
  const f = await fixture();
  const lost = new Set<string>();
  f.cluster.fault = (request) => {
    const name = (JSON.parse(new TextDecoder().decode(request.payload)) as Stored).metadata.name;
    if (request.target.resource !== 'namespaces' || lost.has(name)) return undefined;
    lost.add(name);
    f.cluster.putNamespace(name);
    return new OrchError('DeadlineExceeded', 'late');
  };
  await f.actor.start?.();
  await f.time.advance(2_000);
  t.deepEqual(f.cluster.names('core/namespaces'), NAMESPACES);
  t.deepEqual(
    f.hooks().filter((hook) => !hook.done),
    [],
  );
});

test('a deleted namespace of the system is made again within a minute', async (t) => {
  const f = await started();
  f.cluster.delete('core/namespaces', '', DIALECT.nodeLeaseNamespace);
  await f.time.advance(1_000);
  t.false(f.cluster.names('core/namespaces').includes(DIALECT.nodeLeaseNamespace));
  await f.time.advance(60_000);
  t.deepEqual(f.cluster.names('core/namespaces'), NAMESPACES);
});

test('a deleted service, endpoints or slice is made again within ten seconds', async (t) => {
  const f = await started();
  for (const type of ['core/services', 'core/endpoints', SLICES]) f.cluster.delete(type, 'default', BRAND);
  await f.time.advance(11_000);
  t.is(service(f).spec?.clusterIP, '10.0.0.1');
  t.deepEqual([addresses(f), sliceAddresses(f)], [['192.0.2.7'], ['192.0.2.7']]);
});

test('a deleted priority class is made again by the next start only', async (t) => {
  const f = await started();
  f.cluster.remove(PRIORITY_CLASSES, '', 'system-node-critical');
  await f.time.advance(600_000);
  t.deepEqual(f.cluster.names(PRIORITY_CLASSES), ['system-cluster-critical']);
  const g = await restarted(f);
  t.is(g.cluster.names(PRIORITY_CLASSES).length, 2);
});

test('what somebody has deleted since the start is not made again when the stream of the store begins anew', async (t) => {
  const f = await started(WITH_ROLES);
  const roles = DIALECT.spell('rbac.authorization.@group/clusterroles');
  const deleted = [
    [PRIORITY_CLASSES, 'system-node-critical'],
    [FLOW_SCHEMAS, 'service-accounts'],
    [roles, 'system:heapster'],
  ] as const;
  for (const [type, name] of deleted) f.cluster.remove(type, '', name);
  await f.time.settle();
  f.lost();
  await f.time.settle();
  for (const [type, name] of deleted) t.is(f.cluster.get(type, '', name), undefined, name);
  t.not(f.cluster.get(FLOW_SCHEMAS, '', 'catch-all'), undefined);
});

test('with a node port the service is of type NodePort', async (t) => {
  const f = await started({ serviceNodePort: 30_443 });
  t.is(service(f).spec?.type, 'NodePort');
  t.like(service(f).spec?.ports, [{ port: 443, targetPort: 6443, nodePort: 30_443 }]);
});

test('ports and type of the service follow the flags at the next start, the address stays', async (t) => {
  const f = await started();
  const stored = service(f);
  f.cluster.put('core/services', {
    ...stored,
    spec: { ...stored.spec, clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
  });
  const g = await restarted(f, { serviceNodePort: 30_443, securePort: 7443 });
  t.like(service(g).spec, { type: 'NodePort', clusterIP: '10.0.0.9' });
  t.like(service(g).spec?.ports, [{ port: 443, targetPort: 7443, nodePort: 30_443 }]);
});

test("an operator's change of the service holds until the next start", async (t) => {
  const f = await started();
  const stored = service(f);
  f.cluster.put('core/services', { ...stored, spec: { ...stored.spec, ports: [{ name: 'other', port: 1 }] } });
  await f.time.advance(60_000);
  t.like(service(f).spec?.ports, [{ name: 'other' }]);
});

test('changed endpoints and slices are set right within ten seconds', async (t) => {
  const f = await started();
  putEndpoints(f.cluster, ['198.51.100.1', '192.0.2.7']);
  const slice = f.cluster.get(SLICES, 'default', BRAND)!;
  f.cluster.put(SLICES, { ...slice, endpoints: [] });
  await f.time.advance(11_000);
  t.deepEqual([addresses(f), sliceAddresses(f)], [['192.0.2.7'], ['192.0.2.7']]);
});

test('a slice of the other address family is made anew', async (t) => {
  const f = await started();
  const g = await restarted(f, { advertiseAddress: '2001:db8::7' });
  await g.time.advance(1_000);
  t.is(g.cluster.get(SLICES, 'default', BRAND)?.addressType, 'IPv6');
  t.deepEqual(sliceAddresses(g), ['2001:db8::7']);
});

test('the master-count reconciler adds its address to those of others', async (t) => {
  const f = await started({ endpointReconcilerType: 'master-count', apiserverCount: 3 }, (cluster) => {
    cluster.putNamespace('default');
    putEndpoints(cluster, ['198.51.100.1']);
  });
  t.deepEqual(addresses(f), ['192.0.2.7', '198.51.100.1']);
});

const WITHOUT_ENDPOINTS: readonly [title: string, overrides: Partial<ControllersOptions>][] = [
  ['with reconciler type none', { endpointReconcilerType: 'none' }],
  ['with a loopback address', { advertiseAddress: '127.0.0.1' }],
  ['with no address', { advertiseAddress: '' }],
];

for (const [title, overrides] of WITHOUT_ENDPOINTS) {
  test(`${title} no endpoints are made, and the hooks are done all the same`, async (t) => {
    const f = await started(overrides);
    t.is(f.cluster.get('core/endpoints', 'default', BRAND), undefined);
    t.is(f.cluster.get(SLICES, 'default', BRAND), undefined);
    t.deepEqual(
      f.hooks().filter((hook) => !hook.done),
      [],
    );
  });
}

test('at shutdown the own address is removed, and others stay', async (t) => {
  const f = await started({ endpointReconcilerType: 'master-count', apiserverCount: 2 }, (cluster) => {
    cluster.putNamespace('default');
    putEndpoints(cluster, ['198.51.100.1']);
  });
  await f.stop();
  t.deepEqual(addresses(f), ['198.51.100.1']);
  t.deepEqual(sliceAddresses(f), []);
  const writes = f.cluster.writes.length;
  await f.time.advance(600_000);
  t.is(f.cluster.writes.length, writes, 'nothing is written after the stop');
});

test('the address is back after the next start', async (t) => {
  const f = await started();
  await f.stop();
  t.deepEqual(addresses(f), []);
  const g = await restarted(f);
  t.deepEqual([addresses(g), sliceAddresses(g)], [['192.0.2.7'], ['192.0.2.7']]);
});

test('a shutdown ends even when nothing can be written any more', async (t) => {
  const f = await started();
  f.cluster.fault = () => new OrchError('ActorDown', 'gone');
  await f.stop();
  t.deepEqual(addresses(f), ['192.0.2.7']);
});

test('the client authority is published next to that of another server', async (t) => {
  const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
  const name = 'extension-apiserver-authentication';
  const authentication = {
    clientCaPem: pem('ours'),
    requestHeaderCaPem: pem('front'),
    requestHeaderAllowedNames: ['proxy'],
    requestHeaderUsernameHeaders: ['X-Remote-User'],
    requestHeaderGroupHeaders: ['X-Remote-Group'],
    requestHeaderExtraHeaderPrefixes: ['X-Remote-Extra-'],
  };
  const f = await started({ authentication }, (cluster) => {
    cluster.putNamespace(DIALECT.systemNamespace);
    const data = { 'client-ca-file': pem('theirs'), 'requestheader-allowed-names': '["other"]', 'our-note': 'kept' };
    cluster.put('core/configmaps', objectOf('ConfigMap', DIALECT.systemNamespace, name, { data }));
  });
  t.deepEqual(f.cluster.get('core/configmaps', DIALECT.systemNamespace, name)?.data, {
    'client-ca-file': pem('theirs') + pem('ours'),
    'requestheader-client-ca-file': pem('front'),
    'requestheader-allowed-names': '["other","proxy"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'our-note': 'kept',
  });
  f.cluster.put(
    'core/configmaps',
    objectOf('ConfigMap', DIALECT.systemNamespace, name, { data: { 'requestheader-allowed-names': '{' } }),
  );
  await f.time.settle();
  const data = f.cluster.get('core/configmaps', DIALECT.systemNamespace, name)?.data;
  t.is(data?.['client-ca-file'], pem('ours'));
  t.is(data?.['requestheader-allowed-names'], '["proxy"]');
});

test('an authority that has run out is published no more, whoever wrote it', async (t) => {
  const name = 'extension-apiserver-authentication';
  const nowMs = new VirtualTime().clock.nowMs();
  const untilMinutes = async (minutes: number): Promise<string> => {
    const notAfter = new Date(nowMs + minutes * 60_000);
    const request = { commonName: `until ${minutes}`, names: [], notBefore: new Date(0), notAfter };
    return (await makeSelfSigned({ ...request, purpose: 'authority' })).certPem.trim();
  };
  const [gone, justGone, living] = await Promise.all([untilMinutes(-10), untilMinutes(-2), untilMinutes(1000)]);
  const noText = '-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----';
  const authentication = { ...defaultOptions().authentication, clientCaPem: living };
  const f = await started({ authentication }, (cluster) => {
    cluster.putNamespace(DIALECT.systemNamespace);
    const data = { 'client-ca-file': [gone, justGone, noText].join('\n') };
    cluster.put('core/configmaps', objectOf('ConfigMap', DIALECT.systemNamespace, name, { data }));
  });
  const { data } = f.cluster.get('core/configmaps', DIALECT.systemNamespace, name)!;
  t.deepEqual(data, { 'client-ca-file': [justGone, noText, living, ''].join('\n') });
});

test('bootstrap objects are written in the name of the API server', async (t) => {
  const f = await started();
  const users = f.writesOf('create namespaces').map(({ request }) => request.user);
  t.is(users.length, 4);
  for (const user of users) t.like(user, { name: 'system:apiserver', groups: ['system:masters'] });
});

test('flow control has its own field manager, as in Kubernetes', async (t) => {
  const f = await started({ isServed: () => true });
  for (const resource of ['flowschemas', 'prioritylevelconfigurations']) {
    const [made] = f.writesOf(`create ${resource}`);
    t.is(made?.request.parameters.fieldManager, 'api-priority-and-fairness-config-producer-v1');
  }
});

test('a service range without an address to use is refused when the actor is made', async (t) => {
  await t.throwsAsync(() => fixture({ serviceRange: { family: 4, address: '10.0.0.1', prefixLength: 32 } }), {
    code: 'BadConfiguration',
  });
});
