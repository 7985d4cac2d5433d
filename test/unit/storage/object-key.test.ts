import test from 'ava';
import { objectKey, parseKey } from '../../../storage/object-key.ts';

const CASES: readonly (readonly [storageKey: string, namespace: string, name: string, key: string])[] = [
  ['core/pods', 'default', 'web-1', 'core/pods/default/web-1'],
  ['core/namespaces', '', 'default', 'core/namespaces//default'],
  ['apps/deployments', 'a', 'b', 'apps/deployments/a/b'],
  ['rbac/clusterroles', '', 'system:größe', 'rbac/clusterroles//system:größe'],
  ['example.com/things', 'ns', '🙂', 'example.com/things/ns/🙂'],
];

for (const [storageKey, namespace, name, key] of CASES) {
  test(`${key} is made of its parts and taken apart again`, (t) => {
    t.is(objectKey(storageKey, namespace, name), key);
    t.deepEqual(parseKey(key), { storageKey, namespace, name });
  });
}

test('a name that UTF-8 cannot carry becomes the one that the disk would give back', (t) => {
  const key = objectKey('rbac/clusterroles', '', 'a\ud800b');
  t.is(key, Buffer.from(key, 'utf8').toString('utf8'));
  t.is(key, objectKey('rbac/clusterroles', '', 'a\udfffb'));
});
