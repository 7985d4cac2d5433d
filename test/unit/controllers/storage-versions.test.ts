// What servers say of the versions they store objects in: each of its own types, and nothing of servers that are gone.
import test from 'ava';
import { DIALECT, type Fixture, objectOf, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const VERSIONS = DIALECT.spell('internal.apiserver.@group/storageversions');
const LEASES = DIALECT.spell('coordination.@group/leases');
const HOOK = 'poststarthook/built-in-resources-storage-version-updater';
const OPTIONS = { identityLeases: { durationSeconds: 60, renewIntervalSeconds: 10 }, keepsStorageVersions: true };

interface Status {
  readonly storageVersions: readonly { apiServerID: string; encodingVersion: string; decodableVersions: string[] }[];
  readonly commonEncodingVersion?: string;
  readonly conditions: readonly Record<string, unknown>[];
}

const statusOf = (f: Fixture, name: string): Status => f.cluster.get(VERSIONS, '', name)!.status as unknown as Status;
const ownId = (f: Fixture): string =>
  f.cluster
    .names(LEASES)
    .find((key) => key.startsWith('orch-system/orch-apiserver-'))!
    .split('/')[1]!;
const isDone = (f: Fixture): boolean | undefined => f.hooks().find(({ name }) => name === HOOK)?.done;

const leaseOf = (name: string): Stored =>
  objectOf('Lease', 'orch-system', name, {
    metadata: { name, namespace: 'orch-system', labels: { [DIALECT.spell('@group/component')]: 'orch-apiserver' } },
    spec: { leaseDurationSeconds: 60, renewTime: '2026-01-01T00:00:00.000000Z' },
  });

const versionOf = (name: string, apiServerID: string, encodingVersion: string): Stored => ({
  apiVersion: DIALECT.spell('internal.apiserver.@group/v1alpha1'),
  kind: 'StorageVersion',
  metadata: { name },
  spec: {},
  status: {
    storageVersions: [{ apiServerID, encodingVersion, decodableVersions: [encodingVersion] }],
    commonEncodingVersion: encodingVersion,
  },
});

test('a server says of each type which version it stores it in, and is ready when it has', async (t) => {
  const f = await started(OPTIONS, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.settle();
  const names = f.cluster.names(VERSIONS);
  t.deepEqual(names.slice(0, 3), ['apps.deployments', 'apps.replicasets', 'core.configmaps']);
  t.is(names.length, 8);
  const { conditions, ...status } = statusOf(f, 'apps.deployments');
  t.deepEqual(status, {
    storageVersions: [
      { apiServerID: ownId(f), encodingVersion: 'apps/v1', decodableVersions: ['apps/v1', 'apps/v1beta1'] },
    ],
    commonEncodingVersion: 'apps/v1',
  });
  t.like(conditions[0], { type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet' });
  t.deepEqual(statusOf(f, 'core.pods').storageVersions[0]!.decodableVersions, ['v1']);
  t.true(isDone(f));
  const written = f.cluster.writes.length;
  f.cluster.remove(VERSIONS, '', 'core.pods');
  await f.time.settle();
  t.is(statusOf(f, 'core.pods').commonEncodingVersion, 'v1', 'made again');
  t.is(f.cluster.writes.length, written + 2);
});

test('servers that store a type in different versions do not agree, until one of them is gone', async (t) => {
  const f = await started(OPTIONS, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.put(LEASES, leaseOf('orch-apiserver-other'));
    cluster.put(VERSIONS, versionOf('apps.deployments', 'orch-apiserver-other', 'apps/v1beta1'));
    cluster.put(VERSIONS, versionOf('things.test.things', 'orch-apiserver-other', 'things.test/v1'));
    cluster.put(VERSIONS, versionOf('core.pods', 'orch-apiserver-gone', 'v0'));
  });
  await f.time.settle();
  const both = statusOf(f, 'apps.deployments');
  t.deepEqual(
    both.storageVersions.map(({ apiServerID, encodingVersion }) => [apiServerID, encodingVersion]),
    [
      ['orch-apiserver-other', 'apps/v1beta1'],
      [ownId(f), 'apps/v1'],
    ],
  );
  t.is(both.commonEncodingVersion, undefined);
  t.like(both.conditions[0], { status: 'False', reason: 'CommonEncodingVersionUnset' });
  t.deepEqual(
    statusOf(f, 'core.pods').storageVersions.map(({ apiServerID }) => apiServerID),
    [ownId(f)],
  );
  t.true(f.cluster.names(VERSIONS).includes('things.test.things'), 'another server has that type');
  f.cluster.remove(LEASES, 'orch-system', 'orch-apiserver-other');
  await f.time.settle();
  t.is(statusOf(f, 'apps.deployments').commonEncodingVersion, 'apps/v1');
  t.like(statusOf(f, 'apps.deployments').conditions[0], { status: 'True', reason: 'CommonEncodingVersionSet' });
  t.false(f.cluster.names(VERSIONS).includes('things.test.things'));
});

test('what others change in the word of this server is set right, and their own word stays', async (t) => {
  const f = await started(OPTIONS, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.put(LEASES, leaseOf('orch-apiserver-other'));
  });
  await f.time.settle();
  f.cluster.put(VERSIONS, versionOf('core.pods', ownId(f), 'v0'));
  await f.time.settle();
  t.is(statusOf(f, 'core.pods').commonEncodingVersion, 'v1');
  f.cluster.put(VERSIONS, versionOf('core.pods', 'orch-apiserver-other', 'v1'));
  await f.time.settle();
  const { storageVersions, commonEncodingVersion } = statusOf(f, 'core.pods');
  t.deepEqual(
    storageVersions.map(({ apiServerID }) => apiServerID),
    ['orch-apiserver-other', ownId(f)],
  );
  t.is(commonEncodingVersion, 'v1');
});

test('nothing is said before this server has its lease', async (t) => {
  const f = await started(OPTIONS, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.fault = ({ target }) => (target.resource === 'leases' ? new Error('no leases') : undefined);
  });
  await f.time.settle();
  t.deepEqual(f.cluster.names(VERSIONS), []);
  t.false(isDone(f));
  f.cluster.fault = () => undefined;
  await f.time.advance(60_000);
  t.true(isDone(f));
});

test('without the gates, and where the resource is not served, nothing is said and nothing waits for it', async (t) => {
  for (const overrides of [
    { identityLeases: OPTIONS.identityLeases },
    { keepsStorageVersions: true },
    { ...OPTIONS, isServed: ({ resource }: { resource: string }) => resource !== 'storageversions' },
  ]) {
    const f = await started(overrides, (cluster) => cluster.putNamespace('orch-system'));
    await f.time.advance(30_000);
    t.deepEqual(f.cluster.names(VERSIONS), []);
    t.is(isDone(f), undefined);
  }
});
