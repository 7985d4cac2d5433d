// What is found in a keyspace by reading it, and what a repair makes of what nobody can read.
import test from 'ava';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';
import { type EtcdCluster, EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import { inspectKeyspace, type KeyspaceInspection } from '../../../storage/etcd/etcd-inspection.ts';
import { KeyspaceRepair } from '../../../storage/etcd/etcd-repair.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { clearRevisions, writeStoredValue } from '../../../storage/forms/stored-value.ts';
import { EtcdModel } from '../../simulation/etcd-model.ts';
import { encryption, keyed } from './encryption/encryption-world.ts';

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
  readonly bornRevision?: number;
  readonly revisionOffset?: number;
  /** In place of the object. */
  readonly text?: string;
}

function stored(key: string, written: Written = {}): Buffer {
  const [, , namespace = '', name = ''] = key.split('/');
  const { labels, more = {}, place = 0, bornRevision = 0 } = written;
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
    bornRevision,
    schemaGeneration: 0,
    revisionOffset: written.revisionOffset ?? revisionOffset,
    itemOffset,
  };
  const target = Buffer.alloc(4096);
  return target.subarray(
    0,
    writeStoredValue(target, 0, key, head, attributes, Buffer.from(written.text ?? text), 'json'),
  );
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

type Range = EtcdCluster['range'];

/** A cluster that answers what is read in another way. */
const reading = (cluster: EtcdCluster, range: Range): EtcdCluster =>
  ({ range, transact: (transaction) => cluster.transact(transaction) }) as EtcdCluster;

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
  [
    'a label that the object does not have',
    { 'g/r/a/o': stored('g/r/a/o', { packedLabels: { a: '2' } }) },
    {},
    /g\/r\/a\/o has other labels/,
  ],
  [
    'a namespace',
    { 'g/r/a/o': stored('g/r/a/o', { more: { metadata: { name: 'o', namespace: 'b' } } }) },
    {},
    /is of another object: b\/o$/,
  ],
  ['an object of no name', { 'g/r//o': stored('g/r//o', { more: { metadata: {} } }) }, {}, /is of another object: \/$/],
  ['a text that is no object', { 'g/r//o': stored('g/r//o', { text: '{' }) }, {}, /g\/r\/\/o is not JSON$/],
  ['the name of a key', { 'g/r': stored('g/r') }, {}, /the value of g\/r lies under a key that no object has/],
  ['a birth', { 'g/r/a/o': stored('g/r/a/o', { bornRevision: -1 }) }, {}, /says that it was made at -1$/],
  ['a place below all', { 'g/r/a/o': stored('g/r/a/o', { place: -1 }) }, {}, /says place -1 of its batch/],
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

test('a keyspace without its identity is said to miss it', async (t) => {
  const cluster = modelClient();
  await put(cluster, { newest: '{}' });
  t.deepEqual((await inspect(cluster)).problems, ['/registry/orch/identity is missing']);
});

test('a keyspace of many keys is read to its end, as it was when that began', async (t) => {
  const cluster = modelClient();
  const keyOf = (index: number): string => `core/pods/a/p${String(index).padStart(4, '0')}`;
  let bytes = 0;
  for (let at = 0; at < 1100; at += 100) {
    const keys = Array.from({ length: 100 }, (_, index) => keyOf(at + index));
    const values = keys.map((key) => [`objects/${key}`, stored(key)] as const);
    bytes += values.reduce((sum, [, value]) => sum + value.byteLength, 0);
    await put(cluster, { newest: '{}', ...Object.fromEntries(values) });
  }
  await put(cluster, { identity: JSON.stringify(IDENTITY), newest: '{}' });
  let pages = 0;
  const busy = reading(cluster, async (request) => {
    const answer = await cluster.range(request);
    if (pages++ === 0) await put(cluster, { newest: '{}', [`objects/${keyOf(1099)}`]: stored(keyOf(1099)) });
    return answer;
  });
  const found = await inspect(busy);
  t.deepEqual([found.problems, found.objects, pages], [[], 1100, 3]);
  t.is(found.bytes, bytes + JSON.stringify(IDENTITY).length + '{}'.length);
});

test('what is encrypted is counted, and looked into only with its key', async (t) => {
  const key = 'core/secrets/default/s';
  const sealing = encryption([keyed('secretbox', 'k', 1)]);
  const spoiled = await sealing.seal(key, stored(key, { packedLabels: { a: '1' } }));
  const { cluster, found } = await inspected({ [key]: spoiled, 'g/r/a/o': stored('g/r/a/o') });
  t.like(found, { objects: 2, encrypted: 1, problems: [], unreadable: [] });
  const look = (by: ReturnType<typeof encryption>) =>
    inspectKeyspace({ cluster, prefix: '/registry', timers, dyingPlace: DYING, encryption: by });
  t.deepEqual((await look(sealing)).problems, [`the value of ${key} has other labels beside it than in it`]);
  const other = await look(encryption([keyed('secretbox', 'other', 2)]));
  t.is(other.problems.length, 1);
  t.regex(other.problems[0]!, /default\/s cannot be opened: /);
  t.deepEqual(other.unreadable, [], 'the configuration may be the wrong one');
});

const DAMAGED = Buffer.from('none of ours at all, but as long as one');
const PLACE = 'objects/g/r/a/o';

function repairOf(cluster: EtcdCluster, found: KeyspaceInspection): KeyspaceRepair {
  return new KeyspaceRepair({ cluster, prefix: '/registry', timers, dyingPlace: DYING }, found);
}

/** What lies at a place under the root. */
async function lying(cluster: EtcdCluster, place: string): Promise<Buffer | undefined> {
  const [pair] = (await cluster.range({ key: ROOT + place })).pairs;
  return pair && Buffer.from(pair.value);
}

/** A keyspace whose object was damaged behind these values of it, and the repair of that. */
async function repaired(...values: readonly Uint8Array[]) {
  const cluster = modelClient();
  await put(cluster, { identity: JSON.stringify({ ...IDENTITY, base: 7 }), newest: '{}' });
  for (const value of [...values, DAMAGED]) await put(cluster, { newest: '{}', [PLACE]: value });
  const found = await inspect(cluster);
  return { cluster, found, repair: () => repairOf(cluster, found).repair(found.unreadable[0]!) };
}

test('a repair puts what was there before in the place of what nobody can read, and that aside', async (t) => {
  const { cluster, found, repair } = await repaired(stored('g/r/a/o', { place: 3 }));
  const { modRevision } = found.unreadable[0]!;
  t.deepEqual(await repair(), { key: 'g/r/a/o', keptRevision: modRevision - 1, keptIn: `${ROOT}damaged/g/r/a/o` });
  t.deepEqual(await lying(cluster, 'damaged/g/r/a/o'), DAMAGED);
  const kept = clearRevisions((await lying(cluster, PLACE))!);
  t.deepEqual(kept, { revision: 0, bornRevision: 7 + (modRevision - 1) * REVISION_STRIDE + 3 });
  t.deepEqual((await inspect(cluster)).problems, []);
});

test('what a repair puts back keeps the time when it was made', async (t) => {
  const { cluster, repair } = await repaired(stored('g/r/a/o', { bornRevision: 5 }));
  await repair();
  t.is(clearRevisions((await lying(cluster, PLACE))!).bornRevision, 5);
});

const USELESS: readonly (readonly [what: string, values: readonly Uint8Array[]])[] = [
  ['there was nothing before', []],
  ['what was before is damaged as well', [Buffer.from('another that is none of ours, and as long as one')]],
  ['what was before cannot be read', [stored('g/r/a/o', { text: '{' })]],
  ['the object was gone before', [stored('g/r/a/o', { place: DYING })]],
];

for (const [what, values] of USELESS) {
  test(`a repair takes away what nobody can read where ${what}`, async (t) => {
    const { cluster, repair } = await repaired(...values);
    t.like(await repair(), { keptRevision: undefined, keptIn: `${ROOT}damaged/g/r/a/o` });
    t.is(await lying(cluster, PLACE), undefined);
    t.deepEqual(await lying(cluster, 'damaged/g/r/a/o'), DAMAGED);
  });
}

test('a repair does without what etcd does not remember, and not without what it does not tell', async (t) => {
  const { cluster, found } = await repaired(stored('g/r/a/o'));
  const refusing = (error: EtcdError): EtcdCluster =>
    reading(cluster, (request) => (request.revision === undefined ? cluster.range(request) : Promise.reject(error)));
  const [spoiled] = found.unreadable;
  const refused = repairOf(refusing(new EtcdError('refused', 'permission denied')), found).repair(spoiled!);
  t.like(await t.throwsAsync(refused, { message: 'permission denied' }), { code: 'StoreUnusable' });
  const done = await repairOf(refusing(new EtcdError('compacted', 'gone')), found).repair(spoiled!);
  t.like(done, { keptRevision: undefined });
  t.is(await lying(cluster, PLACE), undefined);
});

test('a repair leaves what is gone meanwhile, and a keyspace whose identity was written meanwhile', async (t) => {
  const { cluster, found, repair } = await repaired(stored('g/r/a/o'));
  await put(cluster, { identity: JSON.stringify(IDENTITY) });
  t.like(await t.throwsAsync(repair(), { message: `${ROOT}identity was changed: is a move running?` }), {
    code: 'StoreUnusable',
  });
  t.deepEqual(await lying(cluster, PLACE), DAMAGED);
  await cluster.transact({ compare: [], success: [{ delete: { key: ROOT + PLACE } }], failure: [] });
  t.is(await repairOf(cluster, found).repair(found.unreadable[0]!), undefined);
});

test('a repair takes away the record of an address that nobody has, unless somebody has changed it meanwhile', async (t) => {
  const { cluster, found } = await inspected({ [RECORD]: stored(RECORD, { more: { owner } }) });
  const [orphan] = found.orphans;
  await put(cluster, { newest: '{}', [`objects/${RECORD}`]: stored(RECORD, { more: { owner } }) });
  t.false(await repairOf(cluster, found).remove(orphan!));
  const now = await inspect(cluster);
  t.true(await repairOf(cluster, now).remove(now.orphans[0]!));
  t.deepEqual((await inspect(cluster)).problems, []);
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
