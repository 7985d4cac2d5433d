import test from 'ava';
import { OriginalKeys } from '../../../../storage/etcd/original/original-keys.ts';
import { REGISTRY } from './original-rig.ts';

const KEYS = new OriginalKeys(REGISTRY, '/registry/');

/** As a kube-apiserver of 1.21 has them. */
const PATHS: Readonly<Record<string, string>> = {
  'core/pods/default/p': '/registry/pods/default/p',
  'core/nodes//n': '/registry/minions/n',
  'core/replicationcontrollers/default/r': '/registry/controllers/default/r',
  'core/services/default/s': '/registry/services/specs/default/s',
  'core/endpoints/default/s': '/registry/services/endpoints/default/s',
  'core/events/default/e.17': '/registry/events/default/e.17',
  'core/namespaces//default': '/registry/namespaces/default',
  'core/persistentvolumes//v': '/registry/persistentvolumes/v',
  'apps/deployments/default/d': '/registry/deployments/default/d',
  'batch/cronjobs/default/c': '/registry/cronjobs/default/c',
  'networking.k8s.io/ingresses/default/i': '/registry/ingress/default/i',
  'networking.k8s.io/networkpolicies/default/n': '/registry/networkpolicies/default/n',
  'policy/podsecuritypolicies//p': '/registry/podsecuritypolicy/p',
  'policy/poddisruptionbudgets/default/p': '/registry/poddisruptionbudgets/default/p',
  'rbac.authorization.k8s.io/clusterroles//system:node': '/registry/clusterroles/system:node',
  'coordination.k8s.io/leases/kube-system/kube-scheduler': '/registry/leases/kube-system/kube-scheduler',
  'discovery.k8s.io/endpointslices/default/s-x': '/registry/endpointslices/default/s-x',
  'storage.k8s.io/csinodes//n': '/registry/csinodes/n',
  'flowcontrol.apiserver.k8s.io/flowschemas//exempt': '/registry/flowschemas/exempt',
  'apiregistration.k8s.io/apiservices//v1.apps': '/registry/apiregistration.k8s.io/apiservices/v1.apps',
  'apiextensions.k8s.io/customresourcedefinitions//tabs.example.com':
    '/registry/apiextensions.k8s.io/customresourcedefinitions/tabs.example.com',
  'example.com/tabs/default/t': '/registry/example.com/tabs/default/t',
  'example.com/racks//r': '/registry/example.com/racks/r',
  'coordination.k8s.io/leases/kube-system/kube-apiserver-endpoint-10.0.0.1': '/registry/masterleases/10.0.0.1',
  'coordination.k8s.io/leases/kube-system/kube-apiserver-endpoint-fd00--1': '/registry/masterleases/fd00::1',
  // What only looks like one.
  'coordination.k8s.io/leases/default/kube-apiserver-endpoint-10.0.0.1':
    '/registry/leases/default/kube-apiserver-endpoint-10.0.0.1',
  'coordination.k8s.io/leases/kube-system/kube-apiserver-endpoints-10.0.0.1':
    '/registry/leases/kube-system/kube-apiserver-endpoints-10.0.0.1',
  'coordination.k8s.io/leases/kube-system/some-apiserver-endpoint-10.0.0.1':
    '/registry/leases/kube-system/some-apiserver-endpoint-10.0.0.1',
  'core/configmaps/kube-system/kube-apiserver-endpoint-10.0.0.1':
    '/registry/configmaps/kube-system/kube-apiserver-endpoint-10.0.0.1',
};

test('every object lies where the original has it, and is found there', (t) => {
  for (const [key, path] of Object.entries(PATHS)) {
    t.is(KEYS.pathOf(key), path);
    t.is(KEYS.keyOf(path), key);
  }
});

/** `--etcd-prefix`, and where a kube-apiserver that is given it has a pod. */
const PREFIXES: Readonly<Record<string, string>> = {
  '/': '/pods/default/p',
  '': '/pods/default/p',
  '//': '/pods/default/p',
  registry: '/registry/pods/default/p',
  'registry/': '/registry/pods/default/p',
  '/a//b/': '/a/b/pods/default/p',
};

test('a prefix with slashes too few or too many, or with nothing else, means to both servers the same', (t) => {
  for (const [prefix, path] of Object.entries(PREFIXES)) {
    const keys = new OriginalKeys(REGISTRY, prefix);
    t.is(keys.pathOf('core/pods/default/p'), path, prefix);
    t.is(keys.keyOf(path), 'core/pods/default/p', prefix);
    t.true(keys.root < path && path < keys.rootEnd, prefix);
  }
});

test('every built-in type has one place, which leads back to it', (t) => {
  const types = REGISTRY.known().filter(({ persisted, needsConversion }) => persisted && !needsConversion);
  t.true(types.length > 40);
  const paths = types.map(({ storageKey, namespaced }) => {
    const key = `${storageKey}/${namespaced ? 'ns' : ''}/name`;
    t.is(KEYS.keyOf(KEYS.pathOf(key)), key);
    return KEYS.pathOf(key);
  });
  t.is(new Set(paths).size, types.length);
});

test('what is no object of ours has no key', (t) => {
  for (const path of [
    '/registry/ranges/serviceips',
    '/registry/orch/identity',
    '/registry/orch/writers/x.1',
    '/registry/masterleases/elsewhere',
    '/registry/widgets/default/w',
    '/registry/pods/default',
    '/registry/pods/default/a/b',
    '/registry/minions/',
    '/registry/example.com/tabs/a/b/c',
    // A built-in type under its group: the original keeps none there.
    '/registry/rbac.authorization.k8s.io/clusterroles/x',
    '/elsewhere/pods/default/p',
    'compact_rev_key',
  ]) {
    t.is(KEYS.keyOf(path), undefined, path);
  }
});

test('the prefix is the operator’s, with or without a slash', (t) => {
  for (const prefix of ['cluster-a', '/cluster-a', '/cluster-a/']) {
    t.is(new OriginalKeys(REGISTRY, prefix).pathOf('core/pods/default/p'), '/cluster-a/pods/default/p');
  }
});
