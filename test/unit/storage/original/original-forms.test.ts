// What lies under a path of the original: encrypted as it has it, by the providers that it goes by.
import test from 'ava';
import type { StoredEncryption } from '../../../../storage/encryption/stored-encryption.ts';
import { OriginalForms } from '../../../../storage/etcd/original/original-forms.ts';
import { OriginalKeys } from '../../../../storage/etcd/original/original-keys.ts';
import { OriginalValues } from '../../../../storage/etcd/original/original-values.ts';
import { encryption, keyed } from '../encryption/encryption-world.ts';
import { objectOf, REGISTRY, storedFormOf } from './original-rig.ts';

const KEY = 'core/secrets/default/s';
const PATH = '/registry/secrets/default/s';
const SECRET = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's', namespace: 'default', uid: 'u' } };
const STORED = storedFormOf(KEY, SECRET);
const LEASES = 'coordination.k8s.io/leases';
const ADDRESS = '10.0.0.1';
const LEASE_KEY = `${LEASES}/kube-system/kube-apiserver-endpoint-${ADDRESS}`;
const LEASE_PATH = `/registry/masterleases/${ADDRESS}`;

function formsWith(values: StoredEncryption | undefined): OriginalForms {
  const keys = new OriginalKeys(REGISTRY, '/registry');
  const parts = { registry: REGISTRY, keys, media: 'protobuf', features: () => true, defaultFamily: 'IPv4' } as const;
  return new OriginalForms({
    dialect: REGISTRY.dialect,
    keys,
    values: new OriginalValues(parts),
    encryption: values,
  });
}

test('a value is encrypted for its path, and read from there alone', async (t) => {
  const forms = formsWith(encryption([keyed('aesgcm', 'a', 1)], { prefix: 'k8s:enc:' }));
  const sealed = forms.write(KEY, PATH, STORED);
  t.true(forms.isSealed(sealed));
  t.like(objectOf(KEY, (await forms.read(KEY, PATH, sealed, 7))!), SECRET);
  t.throws(() => forms.read(KEY, `${PATH}2`, sealed, 7), { message: /secrets\/default\/s2 cannot be read/ });
  const later = formsWith(encryption([keyed('aesgcm', 'b', 2), keyed('aesgcm', 'a', 1)], { prefix: 'k8s:enc:' }));
  t.deepEqual([forms.isStale(KEY, sealed), later.isStale(KEY, sealed)], [false, true]);
  t.throws(() => formsWith(undefined).read(KEY, PATH, sealed, 7), {
    message: `the stored value of ${PATH} cannot be read: it is encrypted, and there is no --encryption-provider-config`,
  });
});

test('what cannot be decoded is said by its path, and no damaged form is written', (t) => {
  const forms = formsWith(undefined);
  t.throws(() => forms.read(KEY, PATH, Buffer.from('???'), 7), {
    message: `the stored value of ${PATH} cannot be read: it is neither Protobuf nor JSON`,
  });
  t.throws(() => forms.write(KEY, PATH, STORED.subarray(1)), { message: /does not match its checksum/ });
  t.false(forms.isStale(KEY, forms.write(KEY, PATH, STORED)));
});

test("servers' leases are not encrypted as leases are, which the original could not read", async (t) => {
  const forms = formsWith(encryption([keyed('aesgcm', 'a', 1)], { prefix: 'k8s:enc:', resource: LEASES }));
  const lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'x' }, spec: {} };
  const written = forms.write(LEASE_KEY, LEASE_PATH, storedFormOf(LEASE_KEY, lease));
  t.false(forms.isSealed(written));
  t.false(forms.isStale(LEASE_KEY, written));
  t.like(objectOf(LEASE_KEY, (await forms.read(LEASE_KEY, LEASE_PATH, written, 7))!), {
    spec: { holderIdentity: ADDRESS },
  });
  const other = `${LEASES}/kube-system/kube-scheduler`;
  t.true(forms.isSealed(forms.write(other, '/registry/leases/kube-system/kube-scheduler', storedFormOf(other, lease))));
});
