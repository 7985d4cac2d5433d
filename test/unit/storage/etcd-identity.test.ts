// What a keyspace in etcd was made with, who may serve it, and where its keys lie.
import test from 'ava';
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';
import type { EtcdCluster } from '../../../storage/etcd/etcd-cluster.ts';
import { type Identity, type KeyspaceMove, openIdentity } from '../../../storage/etcd/etcd-identity.ts';
import { etcdKeys } from '../../../storage/etcd/etcd-keys.ts';
import { ServedKeyspace, servedKeyspaceMemory } from '../../../storage/etcd/served-keyspace.ts';
import { quietModel } from '../store/shared-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const KEY = '/registry/orch/identity';
const OWN = { tokenKey: new Uint8Array(32).fill(7), dialect: 'orch' };
const OTHER = { ...OWN, tokenKey: new Uint8Array(32).fill(8) };
const MADE: Identity = { format: 1, dialect: 'orch', tokenKey: Buffer.from('theirs').toString('base64'), base: 4096 };

async function holding(text: string): Promise<EtcdCluster> {
  const cluster = quietModel().client();
  await cluster.transact({ compare: [], success: [{ put: { key: KEY, value: Buffer.from(text) } }], failure: [] });
  return cluster;
}

test('the first makes a keyspace with what it has, and all others go by that', async (t) => {
  const cluster = quietModel().client();
  const made = await openIdentity(cluster, KEY, OWN);
  t.deepEqual(Buffer.from(made.contents.tokenKey), Buffer.from(OWN.tokenKey));
  const { pairs } = await cluster.range({ key: KEY });
  t.deepEqual(
    pairs.map(({ modRevision }) => modRevision),
    [made.writtenAt],
  );
  t.like(made, { contents: { base: 0, stride: REVISION_STRIDE, lanes: 1 } });
  t.deepEqual(await openIdentity(cluster, KEY, OTHER), made);
});

test('who comes while another makes the keyspace goes by what that one made', async (t) => {
  const cluster = quietModel().client();
  const [one, other] = await Promise.all([openIdentity(cluster, KEY, OWN), openIdentity(cluster, KEY, OTHER)]);
  t.deepEqual(one, other);
});

test('a keyspace that was moved here says where its versions begin, and when it was written', async (t) => {
  const move: KeyspaceMove = { direction: 'in', folder: '/data', isDone: true, revision: 9, run: 'r' };
  const cluster = await holding('{}');
  const value = Buffer.from(JSON.stringify({ ...MADE, move }));
  const { revision } = await cluster.transact({ compare: [], success: [{ put: { key: KEY, value } }], failure: [] });
  const { writtenAt, contents } = await openIdentity(cluster, KEY, OWN);
  t.deepEqual([writtenAt, contents.base, Buffer.from(contents.tokenKey).toString()], [revision, 4096, 'theirs']);
});

const ELSEWHERE = { folder: '/data', revision: 9, run: 'r' };

for (const [what, text, message] of [
  [
    'being moved here',
    { move: { ...ELSEWHERE, direction: 'in', isDone: false } },
    /a move from \/data is not finished/,
  ],
  ['being moved away', { move: { ...ELSEWHERE, direction: 'out', isDone: false } }, /a move to \/data is not finished/],
  ['moved away', { move: { ...ELSEWHERE, direction: 'out', isDone: true } }, /the objects were moved to \/data/],
  ['of another dialect', { dialect: 'kubernetes' }, /start with --api-dialect kubernetes/],
  ['of another layout', { layout: 'original', format: 2 }, /was made with --store-layout orch/],
  ['of a format to come', { format: 3 }, /is of format 3, which this release does not know/],
] as const) {
  test(`a keyspace that is ${what} is not served`, async (t) => {
    const cluster = await holding(JSON.stringify({ ...MADE, ...text }));
    await t.throwsAsync(openIdentity(cluster, KEY, OWN), { code: 'StoreUnusable', message });
  });
}

test('a process that has served a keyspace serves no other, and makes none where there is nothing', async (t) => {
  const memory = servedKeyspaceMemory();
  const [first, empty] = [quietModel().client(), quietModel().client()];
  const made = await openIdentity(first, KEY, { ...OWN, served: new ServedKeyspace(memory) });
  // A thread that starts again.
  const again = { ...OTHER, served: new ServedKeyspace(memory) };
  t.deepEqual(await openIdentity(first, KEY, again), made);
  const refusal = { code: 'StoreUnusable', message: /is not the one that this server has served/ };
  for (const cluster of [empty, await holding(JSON.stringify(MADE))])
    await t.throwsAsync(openIdentity(cluster, KEY, again), refusal);
  t.deepEqual((await empty.range({ key: KEY })).pairs, []);
  t.deepEqual(await openIdentity(first, KEY, again), made);
});

test('where objects are left without an identity none is made', async (t) => {
  const cluster = quietModel().client();
  const { objects: key, objectsEnd: end } = etcdKeys('/registry');
  const own = { ...OWN, objects: { key, end } };
  const put = { key: `${key}core/pods/default/a`, value: Buffer.from('a') };
  await cluster.transact({ compare: [], success: [{ put }], failure: [] });
  const message = `${KEY} is missing, and there are objects: restore a snapshot of etcd's`;
  await t.throwsAsync(openIdentity(cluster, KEY, own), { code: 'StoreUnusable', message });
  t.deepEqual((await cluster.range({ key: KEY })).pairs, []);
  await cluster.transact({ compare: [], success: [{ delete: { key: put.key } }], failure: [] });
  await t.notThrowsAsync(openIdentity(cluster, KEY, own));
});

test('an identity that cannot be read is none', async (t) => {
  const cluster = await holding('{');
  await t.throwsAsync(openIdentity(cluster, KEY, OWN), { code: 'StoreUnusable', message: `${KEY} cannot be read` });
});

test('a prefix is the same with and without its slashes, and the objects lie behind the outline', (t) => {
  const keys = etcdKeys('/registry');
  t.is(keys.identity, KEY);
  for (const prefix of ['registry', '/registry/', 'registry//']) t.deepEqual(etcdKeys(prefix), keys);
  t.true(keys.outline < keys.objects && `${keys.objects}zzz\u{10ffff}` < keys.objectsEnd);
});

test('a command that is given --store-prefix as it stands looks where a server looks, which takes the last slashes off', (t) => {
  for (const prefix of ['/registry', 'registry', '/', '//', '']) {
    const atServer = etcdKeys(prefix.replace(/\/+$/, ''));
    t.deepEqual(etcdKeys(prefix), atServer, prefix);
    t.deepEqual(etcdKeys(`${prefix}/`), atServer, `${prefix}/`);
  }
});
