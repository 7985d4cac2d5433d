// The egress selector's file: which ways out it says, and what is refused of it.
import test from 'ava';
import { DIALECTS } from '../../../config/dialect.ts';
import { parseEgressSelector } from '../../../config/egress-selector.ts';

const V1BETA1 = 'apiserver.orch.io/v1beta1';
const file = (egressSelections: readonly object[], apiVersion = V1BETA1) => ({
  apiVersion,
  kind: 'EgressSelectorConfiguration',
  egressSelections,
});
const parse = (value: unknown) => parseEgressSelector(value, DIALECTS.orch);
const through = (transport: unknown, name = 'cluster') => ({
  name,
  connection: { proxyProtocol: 'HTTPConnect', transport },
});
const tlsConfig = { caBundle: 'ca.crt', clientCert: 'c.crt', clientKey: 'c.key' };

test('each selection is a way: straight, or a proxy over TCP, TLS or a socket', (t) => {
  t.deepEqual(
    parse(
      file([
        { name: 'etcd', connection: { proxyProtocol: 'Direct' } },
        through({ tcp: { url: 'https://[::1]:8131', tlsConfig } }),
        through({ uds: { udsName: '/run/proxy.sock' } }, 'controlplane'),
      ]),
    ),
    {
      etcd: 'direct',
      cluster: {
        host: '::1',
        port: 8131,
        socketPath: '',
        tls: { caFile: 'ca.crt', certFile: 'c.crt', keyFile: 'c.key' },
      },
      controlplane: { host: '', port: 0, socketPath: '/run/proxy.sock', tls: undefined },
    },
  );
  t.deepEqual(parse(file([through({ tcp: { url: 'http://proxy' } }, 'master')], 'apiserver.orch.io/v1alpha1')), {
    controlplane: { host: 'proxy', port: 80, socketPath: '', tls: undefined },
  });
});

test('the control plane may be called master, and names may be written in any case', (t) => {
  const socket = { host: '', port: 0, socketPath: '/s', tls: undefined };
  const uds = { udsName: '/s' };
  for (const apiVersion of [V1BETA1, 'apiserver.orch.io/v1alpha1'])
    t.deepEqual(parse(file([through({ uds }, 'Master'), through({ uds }, 'Cluster')], apiVersion)), {
      controlplane: socket,
      cluster: socket,
    });
});

test('what is null is not there', (t) => {
  const straight = { name: 'etcd', connection: { proxyProtocol: 'Direct', transport: null } };
  const plain = through({ tcp: { url: 'http://proxy:81', tlsConfig: null }, uds: null });
  const socket = through({ tcp: null, uds: { udsName: '/s' } }, 'controlplane');
  t.deepEqual(parse(file([straight, plain, socket])), {
    etcd: 'direct',
    cluster: { host: 'proxy', port: 81, socketPath: '', tls: undefined },
    controlplane: { host: '', port: 0, socketPath: '/s', tls: undefined },
  });
});

test('a file that names no selection has everything go straight', (t) => {
  const { egressSelections, ...rest } = file([]);
  for (const nothing of [{ ...rest, egressSelections }, { ...rest, egressSelections: null }, rest])
    t.deepEqual(parse(nothing), {});
});

const REFUSED: readonly (readonly [value: unknown, message: RegExp])[] = [
  [{}, /^kind: must be EgressSelectorConfiguration/],
  [file([], 'v1'), /^apiVersion: must be apiserver\.orch\.io\/v1beta1 or /],
  [{ ...file([]), egressSelections: {} }, /^egressSelections: must be a list/],
  [file([through({ uds: { udsName: '/s' } }, 'nodes')]), /^egressSelections\[0\]\.name: must be cluster/],
  [
    file([through({ uds: { udsName: '/s' } }, 'controlplane'), through({ uds: { udsName: '/s' } }, 'master')]),
    /^egressSelections\[1\]\.name: controlplane is named twice/,
  ],
  [
    file([through({ uds: { udsName: '/s' } }), through({ uds: { udsName: '/t' } })]),
    /^egressSelections\[1\]\.name: cluster is named twice/,
  ],
  [file([{ name: 'cluster', connection: { proxyProtocol: 'GRPC' } }]), /GRPC is not spoken here/],
  [file([{ name: 'cluster', connection: { proxyProtocol: 'SOCKS' } }]), /must be Direct, HTTPConnect or GRPC/],
  [file([{ name: 'cluster', connection: { proxyProtocol: 'Direct', transport: {} } }]), /must be left out/],
  [file([through(undefined)]), /transport: is missing/],
  [file([through(null)]), /transport: is missing/],
  [file([through({ tcp: { url: 'nonsense' } })]), /url: must be an http or https address/],
  [file([through({ tcp: { url: 'http://user@proxy' } })]), /url: must be an http or https address/],
  [file([through({ tcp: { url: 'https://p', tlsConfig: null } })]), /tlsConfig: is missing/],
  [file([through({ tcp: null, uds: null })]), /must have either tcp or uds/],
  [file([through({})]), /must have either tcp or uds/],
  [file([through({ tcp: { url: 'http://p' }, uds: { udsName: '/s' } })]), /must have either tcp or uds/],
  [file([through({ uds: { udsName: 'relative' } })]), /udsName: must be an absolute path/],
  [file([through({ tcp: { url: 'ftp://p' } })]), /url: must be an http or https address/],
  [file([through({ tcp: { url: 'https://p' } })]), /tlsConfig: is missing/],
  [file([through({ tcp: { url: 'http://p', tlsConfig } })]), /tlsConfig: must be left out/],
  [file([through({ tcp: { url: 'https://p', tlsConfig: { clientCert: 'c' } } })]), /together/],
];

for (const [value, message] of REFUSED) {
  test(`it is refused: ${JSON.stringify(value)}`, (t) => {
    t.throws(() => parse(value), { message });
  });
}
