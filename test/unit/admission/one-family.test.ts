// What closing the gate IPv6DualStack changes: services say no families and have one address, pods and nodes one of each.
import test from 'ava';
import { AdmissionWorld } from './admission-world.ts';

const SERVICES = '/api/v1/namespaces/default/services';
const CLOSED = { featureGates: 'IPv6DualStack=false' };
const PORTS = [{ port: 80 }];

const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: PORTS, ...spec } });

interface Spec {
  readonly clusterIP: string;
  readonly clusterIPs: readonly string[];
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
}

test('without the gate a service has one address of the first range and says no families', async (t) => {
  const world = await AdmissionWorld.start(CLOSED);
  const asked = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' };
  const spec = (await world.created(SERVICES, service('a', asked))).spec as unknown as Spec;
  t.regex(spec.clusterIP, /^10\./);
  t.deepEqual(spec.clusterIPs, [spec.clusterIP]);
  t.is(spec.ipFamilies, undefined);
  t.is(spec.ipFamilyPolicy, undefined);
  const chosen = (await world.created(SERVICES, service('b', { clusterIP: '10.0.0.77' }))).spec as unknown as Spec;
  t.deepEqual([chosen.clusterIP, chosen.clusterIPs, chosen.ipFamilies], ['10.0.0.77', ['10.0.0.77'], undefined]);
  const taken = await world.write('create', SERVICES, { body: service('c', { clusterIP: '10.0.0.77' }) });
  t.is(taken.code, 422);
  t.regex(String(taken.body.message), /provided IP is already allocated/);
  const foreign = await world.write('create', SERVICES, { body: service('d', { clusterIP: 'fd00::7' }) });
  t.regex(String(foreign.body.message), /provided IP is not in the valid range/);
  const headless = (await world.created(SERVICES, service('e', { clusterIP: 'None' }))).spec as unknown as Spec;
  t.deepEqual([headless.clusterIPs, headless.ipFamilies], [['None'], undefined]);
  await world.stop();
});

test('without the gate an update keeps the address, and a deletion gives it back', async (t) => {
  const world = await AdmissionWorld.start(CLOSED);
  const made = await world.created(SERVICES, service('a', { clusterIP: '10.0.0.78' }));
  const changed = { ...made, spec: { ports: [{ port: 81 }] } };
  const updated = await world.write('update', `${SERVICES}/a`, { body: changed });
  t.is(updated.code, 200);
  const { clusterIP, clusterIPs, ipFamilies } = (updated.body as unknown as { spec: Spec }).spec;
  t.deepEqual([clusterIP, clusterIPs, ipFamilies], ['10.0.0.78', ['10.0.0.78'], undefined]);
  t.is((await world.write('delete', `${SERVICES}/a`, {})).code, 200);
  await world.created(SERVICES, service('b', { clusterIP: '10.0.0.78' }));
  await world.stop();
});

test('without the gate a node has one range of pods and a pod one address', async (t) => {
  const node = { metadata: { name: 'n' }, spec: { podCIDRs: ['10.1.0.0/24', 'fd01::/64'] } };
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const podIPs = [{ ip: '10.1.0.5' }, { ip: 'fd01::5' }];
  for (const [options, most] of [
    [{}, 2],
    [CLOSED, 1],
  ] as const) {
    const world = await AdmissionWorld.start(options);
    const { spec } = await world.created('/api/v1/nodes', node);
    t.is((spec as unknown as { podCIDRs: string[] }).podCIDRs.length, most);
    const made = await world.created('/api/v1/namespaces/default/pods', pod);
    const body = { ...made, status: { podIP: '10.1.0.5', podIPs } };
    const said = await world.write('update', '/api/v1/namespaces/default/pods/p/status', { body });
    t.deepEqual((said.body as unknown as { status: { podIPs: object[] } }).status.podIPs, podIPs.slice(0, most));
    await world.stop();
  }
});
