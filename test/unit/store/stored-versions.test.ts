// Values of another version than the server stores: what they are once they have been read back.
import test from 'ava';
import { StoredVersions } from '../../../actors/store/log/stored-versions.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { StoredValue } from '../../../storage/forms/stored-value.ts';

const registry = createRegistry(DIALECTS.orch);
const KEY = 'batch/cronjobs/default/a';

function storedAs(apiVersion: string, revision: number): StoredValue {
  const object = { metadata: { name: 'a', namespace: 'default' }, spec: { schedule: '* * * * *' } };
  const { text, ...offsets } = encodeStored(object, apiVersion, 'CronJob');
  return { json: Buffer.from(text), revision, attributes: '', ...offsets } as unknown as StoredValue;
}

test('a value of another version is converted, and is of the revision that it was of', (t) => {
  const versions = new StoredVersions(() => registry);
  const converted = versions.current(KEY, storedAs('batch/v1beta1', 1234));
  const { apiVersion, metadata, spec } = JSON.parse(converted.json.toString()) as Record<string, object>;
  t.is(apiVersion as unknown as string, registry.storageType('batch/cronjobs')!.storageApiVersion);
  t.like(metadata, { name: 'a', resourceVersion: '1234' });
  t.like(spec, { schedule: '* * * * *' });
  t.is(versions.converted, 1);
});

test('a value of the version that is stored, and one of no type that is known, are left as they are', (t) => {
  const versions = new StoredVersions(() => registry);
  const own = storedAs(registry.storageType('batch/cronjobs')!.storageApiVersion, 7);
  t.is(versions.current(KEY, own), own);
  const unknown = storedAs('batch/v1beta1', 7);
  t.is(versions.current('example.com/things/default/a', unknown), unknown);
  t.is(versions.converted, 0);
});
