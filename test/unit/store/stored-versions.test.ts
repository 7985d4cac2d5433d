// Values of another version than the server stores: what they are once they have been read back.
import test from 'ava';
import { StoredVersions } from '../../../actors/store/log/stored-versions.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { packAttributes, unpackAttributes } from '../../../storage/forms/attributes.ts';
import type { StoredValue } from '../../../storage/forms/stored-value.ts';

const registry = createRegistry(DIALECTS.orch);
const KEY = 'batch/cronjobs/default/a';

const NO_ATTRIBUTES = packAttributes(undefined, []);

function storedAs(apiVersion: string, revision: number, kind = 'CronJob'): StoredValue {
  const metadata = { name: 'a', namespace: 'default', labels: { tier: 'back' } };
  const { text, ...offsets } = encodeStored({ metadata, spec: { schedule: '* * * * *' } }, apiVersion, kind);
  return { json: Buffer.from(text), revision, attributes: NO_ATTRIBUTES, ...offsets } as unknown as StoredValue;
}

test('a value of another version is converted, and is of the revision that it was of', (t) => {
  const versions = new StoredVersions(() => registry);
  const converted = versions.current(KEY, storedAs('batch/v1beta1', 1234));
  const { apiVersion, metadata, spec } = JSON.parse(converted.json.toString()) as Record<string, object>;
  t.is(apiVersion as unknown as string, registry.storageType('batch/cronjobs')!.storageApiVersion);
  t.like(metadata, { name: 'a', resourceVersion: '1234' });
  t.like(spec, { schedule: '* * * * *' });
  t.is(versions.converted, 1);
  t.is(converted.revision, 1234);
  t.deepEqual(unpackAttributes(converted.attributes).labels, { tier: 'back' });
  t.regex(converted.json.toString('latin1', converted.revisionOffset), /^"1234"/);
  const own = storedAs(registry.storageType('batch/cronjobs')!.storageApiVersion, 1234);
  t.deepEqual([converted.revisionOffset, converted.itemOffset], [own.revisionOffset, own.itemOffset]);
});

test('a value of another kind than its key says, or of a version that nobody knows, is left as it is', (t) => {
  const versions = new StoredVersions(() => registry);
  for (const value of [storedAs('batch/v1', 7, 'Job'), storedAs('batch/v1beta1', 7, 'Job'), storedAs('batch/v9', 7)])
    t.is(versions.current(KEY, value), value);
  t.is(versions.converted, 0);
});

test('a value of the version that is stored, and one of no type that is known, are left as they are', (t) => {
  const versions = new StoredVersions(() => registry);
  const own = storedAs(registry.storageType('batch/cronjobs')!.storageApiVersion, 7);
  t.is(versions.current(KEY, own), own);
  const unknown = storedAs('batch/v1beta1', 7);
  t.is(versions.current('example.com/things/default/a', unknown), unknown);
  t.is(versions.converted, 0);
});
