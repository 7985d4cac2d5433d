import test from 'ava';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import type { EtcdCluster } from '../../../storage/etcd/etcd-cluster.ts';
import { inspectKeyspace, type KeyspaceInspection } from '../../../storage/etcd/etcd-inspection.ts';
import { KeyspaceRepair } from '../../../storage/etcd/etcd-repair.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { writeStoredValue } from '../../../storage/forms/stored-value.ts';
import { EtcdModel } from '../../simulation/etcd-model.ts';

const ROOT = '/registry/orch/';
const DYING = 1024;
const timers = {
  after: () => ({ cancel: () => {} }),
  every: () => ({ cancel: () => {} }),
  soon: () => {},
} as never;

interface Written {
  readonly labels?: Readonly<Record<string, string>>;
  readonly packedLabels?: Readonly<Record<string, string>>;
  readonly more?: object;
  readonly place?: number;
  readonly revisionOffset?: number;
}

function stored(key: string, written: Written = {}): Buffer {
  const [, , namespace = '', name = ''] = key.split('/');
  const { labels, more = {}, place = 0 } = written;
  const metadata = {
    name,
    ...(namespace === '' ? {} : { namespace }),
    uid: `uid-${name}`,
    ...(labels ? { labels } : {}),
  };
  const { text, revisionOffset, itemOffset } = encodeStored({ metadata, ...more }, 'v1', 'Thing');
  const attributes = packAttributes(written.packedLabels ?? labels, []);
  const head = {
    revision: place,
    bornRevision: 0,
    schemaGeneration: 0,
    revisionOffset: written.revisionOffset ?? revisionOffset,
    itemOffset,
  };
  const target = Buffer.alloc(4096);
  return target.subarray(0, writeStoredValue(target, 0, key, head, attributes, Buffer.from(text), 'json'));
}

const IDENTITY = { format: 1, dialect: 'orch', tokenKey: Buffer.alloc(32).toString('base64'), base: 0 };

/** Puts under the root, all at one revision. */
async function put(cluster: EtcdCluster, pairs: Readonly<Record<string, Uint8Array | string>>): Promise<void> {
  const success = Object.entries(pairs).map(([key, value]) => ({
    put: { key: ROOT + key, value: Buffer.from(value) },
  }));
  await cluster.transact({ compare: [], success, failure: [] });
}

function modelClient(): EtcdCluster {
  return new EtcdModel({
    after: (_delayMs, callback) => void setImmediate(callback),
    nextFate: () => ({ delayMs: 0, loses: undefined }),
    watchDelayMs: () => 0,
  }).client();
}

async function inspected(objects: Readonly<Record<string, Uint8Array>>, more: Readonly<Record<string, string>> = {}) {
  const cluster = modelClient();
  const pairs = Object.entries(objects).map(([key, value]) => [`objects/${key}`, value] as const);
  await put(cluster, { identity: JSON.stringify(IDENTITY), newest: '{}', ...Object.fromEntries(pairs), ...more });
  return { cluster, found: await inspect(cluster) };
}

function inspect(cluster: EtcdCluster): Promise<KeyspaceInspection> {
  return inspectKeyspace({ cluster, prefix: '/registry', timers, dyingPlace: DYING });
}

const SERVICE = 'core/services/a/s';
const RECORD = 'internal/clusteraddresses//10.0.0.9';
const spec = { type: 'ClusterIP', clusterIPs: ['10.0.0.9'] };
const owner = { namespace: 'a', name: 's', uid: 'uid-s' };

test('a keyspace whose objects, labels, addresses and counters agree has no problems', async (t) => {
  const { found } = await inspected(
    {
      'core/pods/a/p': stored('core/pods/a/p', { labels: { app: 'x' } }),
      'core/pods/a/gone': stored('core/pods/a/gone', { place: DYING + 3 }),
      [SERVICE]: stored(SERVICE, { more: { spec } }),
      [RECORD]: stored(RECORD, { more: { owner } }),
    },
    { 'writers/w': '1', 'writers/w/3': '', compaction: '0', 'damaged/core/pods/a/x': 'anything' },
  );
  t.deepEqual(found.problems, []);
  t.is(found.objects, 3);
});

const MOVES: readonly (readonly [direction: 'in' | 'out', isDone: boolean, RegExp])[] = [
  ['in', false, /a move from \/f is not finished; run orch store move again/],
  ['out', false, /a move to \/f is not finished; run orch store move again/],
  ['out', true, /the objects were moved to \/f$/],
];

for (const [direction, isDone, why] of MOVES) {
  test(`a keyspace that is${isDone ? ' no more' : ' yet'} to be moved ${direction} is served by nobody, and not damaged`, async (t) => {
    const identity = JSON.stringify({ ...IDENTITY, move: { direction, folder: '/f', isDone } });
    const { found } = await inspected({}, { identity });
    t.deepEqual(found.problems, []);
    t.is(found.unserved?.code, 'StoreUnusable');
    t.regex(found.unserved?.message ?? '', why);
  });
}

const SPOILED: readonly (readonly [
  string,
  Readonly<Record<string, Uint8Array>>,
  Readonly<Record<string, string>>,
  RegExp,
])[] = [
  [
    'labels',
    { 'g/r/a/o': stored('g/r/a/o', { labels: { a: '1' }, packedLabels: { a: '2' } }) },
    {},
    /g\/r\/a\/o has other labels/,
  ],
  [
    'a key',
    { 'g/r/a/o': stored('g/r/a/o', { more: { metadata: { name: 'b', namespace: 'a' } } }) },
    {},
    /is of another object: a\/b/,
  ],
  ['a place', { 'g/r/a/o': stored('g/r/a/o', { place: 200 }) }, {}, /says place 200 of its batch/],
  ['a slot', { 'g/r/a/o': stored('g/r/a/o', { revisionOffset: 3 }) }, {}, /has no place for its version/],
  [
    'an envelope',
    { 'g/r/a/o': Buffer.from('none of ours at all, but as long as one') },
    {},
    /does not match its checksum/,
  ],
  ['an outline', {}, { newest: '[' }, /orch\/newest cannot be read/],
  ['an identity', {}, { identity: '{' }, /orch\/identity cannot be read/],
  ['a counter', {}, { 'writers/w': '7' }, /writers\/w was written 1 times, and does not say so/],
  ['a stranger', {}, { unheard: 'x' }, /orch\/unheard is none of ours/],
  [
    'an address that is not noted',
    { [SERVICE]: stored(SERVICE, { more: { spec } }) },
    {},
    /core\/services\/a\/s has what .*10\.0\.0\.9 should note/,
  ],
  [
    'an address of nobody',
    { [RECORD]: stored(RECORD, { more: { owner } }) },
    {},
    /10\.0\.0\.9 is noted as a\/s's, which does not have it/,
  ],
];

for (const [what, objects, more, line] of SPOILED) {
  test(`a keyspace in which ${what} is wrong has one problem that says so`, async (t) => {
    const { found } = await inspected(objects, more);
    t.is(found.problems.length, 1, found.problems.join('\n'));
    t.regex(found.problems[0]!, line);
  });
}

test('a key that was written by none of ours is told from the outline, and a keyspace that is none is refused', async (t) => {
  const { cluster } = await inspected({});
  await put(cluster, { 'objects/core/pods/a/p': stored('core/pods/a/p') });
  t.regex((await inspect(cluster)).problems[0]!, /core\/pods\/a\/p was written at revision \d+, by none of ours/);
  await t.throwsAsync(inspect(modelClient()), { message: /there is no store at \/registry\/orch\/identity/ });
});

test('a repair changes nothing that was written since it was looked at', async (t) => {
  const { cluster, found } = await inspected({ 'g/r/a/o': Buffer.from('none of ours at all, but as long as one') });
  const repair = new KeyspaceRepair({ cluster, prefix: '/registry', timers, dyingPlace: DYING }, found);
  const [spoiled] = found.unreadable;
  await put(cluster, { newest: '{}', 'objects/g/r/a/o': stored('g/r/a/o') });
  t.is(await repair.repair(spoiled!), undefined);
  t.deepEqual((await inspect(cluster)).problems, []);
  await put(cluster, { newest: '{}', 'objects/g/r/a/o': Buffer.from('spoiled again, as long as a header of ours is') });
  const again = (await inspect(cluster)).unreadable[0]!;
  const done = await repair.repair(again);
  t.is(done?.keptRevision, again.modRevision - 1);
  t.deepEqual((await inspect(cluster)).problems, []);
});

test('a repair notes what a service has where nothing does, unless the service was changed meanwhile', async (t) => {
  const lost = { [SERVICE]: stored(SERVICE, { more: { spec } }) };
  const { cluster, found } = await inspected(lost);
  const [one] = found.unnoted;
  const repair = new KeyspaceRepair({ cluster, prefix: '/registry', timers, dyingPlace: DYING }, found);
  t.true(await repair.note(one!));
  const { problems, objects, unnoted } = await inspect(cluster);
  t.deepEqual([problems, objects, unnoted], [[], 2, []]);
  t.false(await repair.note(one!), 'it is noted');

  const other = await inspected(lost);
  await put(other.cluster, { newest: '{}', [`objects/${SERVICE}`]: stored(SERVICE) });
  const late = new KeyspaceRepair(
    { cluster: other.cluster, prefix: '/registry', timers, dyingPlace: DYING },
    other.found,
  );
  t.false(await late.note(other.found.unnoted[0]!));
  t.deepEqual((await inspect(other.cluster)).problems, []);
});

test('what a service has and a record notes as that of another is left to who knows better', async (t) => {
  const of = { ...owner, uid: 'uid-x' };
  const { found } = await inspected({
    [SERVICE]: stored(SERVICE, { more: { spec } }),
    [RECORD]: stored(RECORD, { more: { owner: of } }),
  });
  t.is(found.problems.length, 1);
  t.deepEqual([found.unnoted, found.orphans], [[], []]);
});
