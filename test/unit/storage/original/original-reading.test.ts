// What etcd tells in the original's layout, as a store is told it, and what is kept up with it: ranges, and what services claim.
import test from 'ava';
import type { SharedValue } from '../../../../storage/engines/shared-engine.ts';
import { originalLayout } from '../../../../storage/etcd/original/assembled-engine.ts';
import type { OriginalForms } from '../../../../storage/etcd/original/original-forms.ts';
import { OriginalReading } from '../../../../storage/etcd/original/original-reading.ts';
import { settingsFor, storedFormOf } from './original-rig.ts';

const SERVICE = 'core/services/default/s';
const SERVICE_PATH = '/registry/services/specs/default/s';
const ADDRESSES = '/registry/ranges/serviceips';
const RECORD = 'internal/clusteraddresses//10.96.0.5';
const FIRST_RECORD = 'internal/clusteraddresses//10.96.0.1';

const withAddress = (key: string, kind: string): Uint8Array =>
  storedFormOf(key, {
    kind,
    apiVersion: 'v1',
    metadata: { name: 's', namespace: 'default', uid: 'u' },
    spec: { clusterIP: '10.96.0.5', clusterIPs: ['10.96.0.5'] },
  });
const service = withAddress(SERVICE, 'Service');
const transactionOf = (value: Uint8Array | undefined, last?: Uint8Array) => ({
  guards: [],
  writes: [{ key: SERVICE, expect: 0, value, ...(last && { last }) }],
  place: 0,
});

/** Values lie there in our stored form, and each would be encrypted otherwise now. */
function rig() {
  const { keys, ranges, allocations } = originalLayout(settingsFor());
  const born: number[] = [];
  const forms = {
    read: (_key: string, _path: string, bytes: Uint8Array, bornRevision: number): Uint8Array => {
      born.push(bornRevision);
      return bytes;
    },
    open: (_key: string, _path: string, bytes: Uint8Array): Uint8Array => bytes,
    isStale: () => true,
  } as unknown as OriginalForms;
  const range = (...bits: readonly number[]): Uint8Array =>
    allocations.write({ spec: '10.96.0.0/24', bits: new Set(bits), whole: undefined });
  return { reading: new OriginalReading({ keys, forms, ranges, allocations }), ranges, range, born };
}

const planned = { compare: [], writes: [], rangeWrites: [], leaseSeconds: 0 };

test('what a service claims is known by its own commit, by what others write, and from the start', async (t) => {
  const told: unknown[] = [];
  const follower = {
    value: (...given: readonly unknown[]) => void told.push(given),
    again: () => t.fail(),
    revision: () => t.fail(),
    lost: () => t.fail(),
  };
  const pair = { key: SERVICE_PATH, createRevision: 7, modRevision: 9, version: 1, value: service };
  const [own, others, start] = [rig(), rig(), rig()];
  own.reading.own({ counter: 'c', transaction: transactionOf(service), planned }, 9);
  t.deepEqual(await others.reading.arrived([pair], 9)(), [
    { key: SERVICE, value: service, place: undefined, isStale: true },
  ]);
  await start.reading.load(pair, follower);
  t.deepEqual(told, [[SERVICE, 9, service, true]]);
  t.deepEqual([others.born, start.born], [[7], [7]]);
  for (const { ranges } of [own, others, start]) t.deepEqual(ranges.unnoted(), [RECORD]);
  own.reading.own({ counter: 'c', transaction: transactionOf(undefined, service), planned }, 10);
  await others.reading.arrived([{ key: SERVICE_PATH, createRevision: 0, modRevision: 10, value: undefined }], 10)();
  for (const { ranges } of [own, others]) t.deepEqual(ranges.unnoted(), []);
});

test('who removes is told what it was when it went', (t) => {
  const flight = { counter: 'c', transaction: transactionOf(undefined, service), planned };
  t.deepEqual(rig().reading.own(flight, 9), [{ key: SERVICE, value: undefined, place: undefined, last: service }]);
});

test('a range that comes, changes and goes is the records that come and go', async (t) => {
  const { reading, ranges, range } = rig();
  const tell = async (value: Uint8Array | undefined, revision: number): Promise<readonly string[]> => {
    const event = { key: ADDRESSES, createRevision: 1, modRevision: revision, value };
    const events = await reading.arrived([event], revision)();
    return events.map(({ key, value }) => `${value === undefined ? '-' : '+'}${key}`);
  };
  t.deepEqual(await tell(range(0), 5), [`+${FIRST_RECORD}`]);
  t.deepEqual(await tell(range(0, 4), 6), [`+${RECORD}`]);
  t.deepEqual(await tell(undefined, 7), [`-${FIRST_RECORD}`, `-${RECORD}`]);
  await tell(range(0), 8);
  t.is(ranges.records().length, 1);
  reading.clear();
  t.deepEqual(ranges.records(), []);
});

test('a range that somebody has damaged is what services have, and stops nobody', async (t) => {
  const { reading, ranges, range } = rig();
  const told = async (value: Uint8Array, revision: number): Promise<readonly string[]> => {
    const event = { key: ADDRESSES, createRevision: 3, modRevision: revision, value };
    const events = await reading.arrived([event], revision)();
    return events.map(({ key, value: record }) => `${record === undefined ? '-' : '+'}${key}`).sort();
  };
  reading.own({ counter: 'c', transaction: transactionOf(service), planned }, 3);
  t.deepEqual(await told(range(0, 4), 4), [`+${FIRST_RECORD}`, `+${RECORD}`]);
  t.deepEqual(await told(Buffer.from('zzz'), 5), [`-${FIRST_RECORD}`]);
  t.deepEqual([...ranges.repairs()[0]!.state.bits], [4]);
});

test('a view has the records of the services in it, of nothing that only looks like one, and behind them what no service has', async (t) => {
  const { reading, range } = rig();
  const told = { key: ADDRESSES, createRevision: 3, value: range(0, 4) };
  await reading.arrived([{ ...told, modRevision: 3 }], 3)();
  await reading.arrived([{ ...told, modRevision: 11, value: range(0, 4, 6) }], 11)();
  const key = 'core/configmaps/default/s';
  const values = [
    { key, modRevision: 10, value: withAddress(key, 'ConfigMap') },
    { key: SERVICE, modRevision: 9, value: service },
  ];
  const records = reading.recordsAt(10);
  const shown = (some: readonly SharedValue[]) => some.map((record) => [record.key, record.modRevision]);
  t.deepEqual(shown(records.takeOf(values)), [[RECORD, 3]]);
  t.deepEqual(shown(records.takeOf(values)), []);
  t.deepEqual(shown(records.takeRest()), [[FIRST_RECORD, 3]]);
  t.deepEqual(records.takeRest(), []);
});
