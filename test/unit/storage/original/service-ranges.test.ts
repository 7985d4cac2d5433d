import test from 'ava';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { SharedEvent } from '../../../../storage/engines/shared-engine.ts';
import { RangeAllocations, type RangeBits } from '../../../../storage/etcd/original/range-allocation.ts';
import { type RangeWrite, ServiceRanges } from '../../../../storage/etcd/original/service-ranges.ts';
import { parseIpRange } from '../../../../values/ip.ts';
import { readWire, sealWire } from '../../../server/kubernetes-messages.ts';
import { NETWORK } from './original-rig.ts';

const ADDRESSES = '/registry/ranges/serviceips';
const PORTS = '/registry/ranges/servicenodeports';
const NEW = { whole: undefined };

const ofAddresses = (...bits: readonly number[]): RangeBits => ({ spec: '10.96.0.0/24', bits: new Set(bits), ...NEW });
const put = (key: string) => ({ key, expect: 0, value: new Uint8Array(1) });
const removal = (key: string, expect: number) => ({ key, expect, value: undefined });
const shown = (events: readonly SharedEvent[]): string[] =>
  events.map(({ key, value }) => `${value === undefined ? '-' : '+'}${key}`);

function ranges(): ServiceRanges {
  const made = new ServiceRanges(NETWORK, '/registry/');
  made.told(ADDRESSES, ofAddresses(0), 5);
  made.told(PORTS, { spec: '30000-30063', bits: new Set(), ...NEW }, 6);
  return made;
}

function planned(made: ServiceRanges, writes: Parameters<ServiceRanges['plan']>[0]): readonly RangeWrite[] {
  const plan = made.plan(writes);
  if ('takenAt' in plan) throw new Error(`taken at ${plan.takenAt}`);
  return plan.writes;
}

test('a range is a number without leading zeros, as the original has it', (t) => {
  const allocations = new RangeAllocations(DIALECTS.kubernetes, 'protobuf');
  const data = Buffer.from('020001', 'hex').toString('base64');
  const theirs = sealWire('v1', 'RangeAllocation', { metadata: {}, range: '10.96.0.0/24', data });
  const read = allocations.read(theirs);
  t.deepEqual([read.spec, [...read.bits].sort()], ['10.96.0.0/24', [0, 17]]);
  t.like(readWire(allocations.write({ ...read, bits: new Set([0, 8]) })), {
    kind: 'RangeAllocation',
    range: '10.96.0.0/24',
    data: Buffer.from('0101', 'hex').toString('base64'),
  });
  t.is(readWire(allocations.write({ ...read, bits: new Set() })).data ?? '', '');
  const json = new RangeAllocations(DIALECTS.kubernetes, 'json').write(read);
  t.deepEqual([...allocations.read(json).bits].sort(), [0, 17]);
});

test('a value that is no range says nothing, as a range of another spec', (t) => {
  const allocations = new RangeAllocations(DIALECTS.kubernetes, 'protobuf');
  const values = [
    sealWire('v1', 'ConfigMap', { metadata: {} }),
    ...['zzz', '', 'null', '[]', '{"data":5}'].map((text) => Buffer.from(text)),
  ];
  for (const value of values) {
    const { spec, bits } = allocations.read(value);
    t.deepEqual([spec, [...bits]], ['', []], value.toString());
  }
});

test('what somebody else gives out or takes back are records that come and go', (t) => {
  const made = ranges();
  t.deepEqual(
    made.records().map(({ key, revision }) => `${key}@${revision}`),
    ['internal/clusteraddresses//10.96.0.1@5'],
  );
  t.deepEqual(shown(made.told(ADDRESSES, ofAddresses(0, 6), 9)), ['+internal/clusteraddresses//10.96.0.7']);
  t.deepEqual(shown(made.told(ADDRESSES, ofAddresses(6), 11)), ['-internal/clusteraddresses//10.96.0.1']);
  t.deepEqual(shown(made.told(PORTS, { spec: '30000-30063', bits: new Set([63]), ...NEW }, 12)), [
    '+internal/nodeports//30063',
  ]);
});

test('a service with address and port is one write of each range, if both are as they were', (t) => {
  const made = ranges();
  const writes = planned(made, [put('internal/clusteraddresses//10.96.0.3'), put('internal/nodeports//30001')]);
  t.deepEqual(
    writes.map(({ compare, state }) => [compare.key, compare.value, [...state.bits]]),
    [
      [ADDRESSES, 5, [0, 2]],
      [PORTS, 6, [1]],
    ],
  );
  made.wrote(writes, 20);
  t.deepEqual(made.plan([put('internal/nodeports//30001')]), { takenAt: 20 });
  t.deepEqual(made.plan([removal('internal/nodeports//30001', 19)]), { takenAt: 20 });
  t.deepEqual([...planned(made, [removal('internal/nodeports//30001', 20)])[0]!.state.bits], []);
});

test('an address of no range is noted nowhere', (t) => {
  t.deepEqual(planned(ranges(), [put('internal/clusteraddresses//192.168.0.1')]), []);
});

test('of two families the second has a range of its own', (t) => {
  const clusterIpRanges = [parseIpRange('10.96.0.0/24')!, parseIpRange('fd00::/64')!];
  const made = new ServiceRanges({ ...NETWORK, clusterIpRanges }, '/registry/');
  t.deepEqual(
    made.paths.map(({ path, spec }) => `${path} ${spec}`),
    [`${ADDRESSES} 10.96.0.0/24`, '/registry/ranges/secondaryserviceips fd00::/64', `${PORTS} 30000-30063`],
  );
  const [write] = planned(made, [put('internal/clusteraddresses//fd00::3')]);
  t.deepEqual([write!.path, [...write!.state.bits]], ['/registry/ranges/secondaryserviceips', [2]]);
});

test('what a service claims is noted, and what none has claimed three times is free again', (t) => {
  const made = ranges();
  made.noteService('core/services/a/s', {
    spec: { type: 'ClusterIP', clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] },
  });
  const [first] = made.repairs();
  t.deepEqual([first!.path, [...first!.state.bits]], [ADDRESSES, [0, 8]]);
  made.wrote([first!], 30);
  t.deepEqual(made.repairs(), []);
  const [third] = made.repairs();
  t.deepEqual([...third!.state.bits], [8]);
  made.wrote([third!], 31);
  made.noteService('core/services/a/s', undefined);
  t.deepEqual([made.repairs(), made.repairs()], [[], []]);
  t.deepEqual([...made.repairs()[0]!.state.bits], []);
});

test('a range of another spec is made anew from the services', (t) => {
  const made = ranges();
  made.noteService('core/services/a/s', { spec: { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] } });
  made.told(ADDRESSES, { spec: '10.0.0.0/24', bits: new Set([1, 2, 3]), ...NEW }, 40);
  t.deepEqual(
    made.records().map(({ key }) => key),
    ['internal/clusteraddresses//10.96.0.9'],
  );
  const [write] = made.repairs();
  t.deepEqual([write!.compare.value, write!.state.spec, [...write!.state.bits]], [40, '10.96.0.0/24', [8]]);
});

test('a range that is removed is made anew of what services have, and by whoever finds it gone', (t) => {
  const made = ranges();
  made.noteService('core/services/a/s', { spec: { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] } });
  t.deepEqual(shown(made.told(ADDRESSES, undefined, 40)).sort(), [
    '+internal/clusteraddresses//10.96.0.9',
    '-internal/clusteraddresses//10.96.0.1',
  ]);
  const [write] = made.repairs();
  t.deepEqual([write!.compare.value, [...write!.state.bits]], [0, [8]]);
});

test('a number behind the end of a range is nothing that could be given', (t) => {
  const made = ranges();
  t.deepEqual(made.told(PORTS, { spec: '30000-30063', bits: new Set([64, 900]), ...NEW }, 12), []);
  t.deepEqual(made.told(PORTS, { spec: '30000-30063', bits: new Set(), ...NEW }, 13), []);
});

test('what is there already is not taken again, and what is not there or is another is not given back', (t) => {
  const made = ranges();
  const [first, second] = ['internal/clusteraddresses//10.96.0.1', 'internal/clusteraddresses//10.96.0.2'];
  t.deepEqual(made.plan([put(first)]), { takenAt: 5 });
  t.deepEqual(made.plan([removal(second, 0)]), { takenAt: 5 });
  t.deepEqual(made.plan([removal(first, 4)]), { takenAt: 5 });
  t.deepEqual(made.plan([put(second), put(second)]), { takenAt: 5 });
  const several = planned(made, [removal(first, 5), put(second), put('internal/clusteraddresses//10.96.0.3')]);
  t.deepEqual(
    several.map(({ path, state }) => [path, [...state.bits]]),
    [[ADDRESSES, [1, 2]]],
  );
});

test('who is seen to claim a number again has it for as long as before', (t) => {
  const made = ranges();
  const claim = (): void =>
    made.noteService('core/services/a/s', { spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'] } });
  t.deepEqual([made.repairs(), made.repairs()], [[], []]);
  claim();
  t.deepEqual(made.repairs(), []);
  made.noteService('core/services/a/s', { spec: { type: 'ExternalName' } });
  t.deepEqual([made.repairs(), made.repairs()], [[], []]);
  t.deepEqual([...made.repairs()[0]!.state.bits], []);
  t.deepEqual([made.repairs(), made.repairs()], [[], []], 'where that was not written it is looked at anew');
});

test('who is given a number that somebody gave back has as long to claim it as anybody', (t) => {
  const made = ranges();
  made.told(ADDRESSES, ofAddresses(1), 7);
  t.deepEqual([made.repairs(), made.repairs()], [[], []]);
  made.told(ADDRESSES, ofAddresses(), 8);
  made.told(ADDRESSES, ofAddresses(1), 9);
  t.deepEqual([made.repairs(), made.repairs()], [[], []]);
  t.deepEqual([...made.repairs()[0]!.state.bits], []);
});

test('while there is a service that cannot be read no number is free that it may claim', (t) => {
  const made = ranges();
  made.serviceUnread('core/services/a/s');
  for (let look = 0; look < 5; look++) t.deepEqual(made.repairs(), []);
  made.noteService('core/services/a/s', undefined);
  t.deepEqual([made.repairs(), made.repairs()], [[], []]);
  t.deepEqual([...made.repairs()[0]!.state.bits], []);
});

test('what a service has and no range notes is told, and nothing is once nothing is known', (t) => {
  const made = ranges();
  made.noteService('core/services/a/s', { spec: { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] } });
  t.deepEqual(made.unnoted(), ['internal/clusteraddresses//10.96.0.9']);
  made.clear();
  t.deepEqual([made.unnoted(), made.records()], [[], []]);
  t.deepEqual(shown(made.told(ADDRESSES, ofAddresses(0), 50)), ['+internal/clusteraddresses//10.96.0.1']);
});

test('the records of a service are named as ranges name them, and keep what else an object says', (t) => {
  const clusterIpRanges = [parseIpRange('fd00::/64')!];
  const made = new ServiceRanges({ ...NETWORK, clusterIpRanges }, '/registry/');
  const [record] = made.recordsOf({
    metadata: { name: 's', namespace: 'a', uid: 'u' },
    spec: { clusterIP: 'FD00:0::3', clusterIPs: ['FD00:0::3'] },
  });
  t.is(record!.key, 'internal/clusteraddresses//fd00::3');
  const whole = { metadata: { labels: { kept: 'yes' } } };
  made.told(ADDRESSES, { spec: 'fd00::/64', bits: new Set(), whole }, 5);
  t.deepEqual(planned(made, [put(record!.key)])[0]!.state.whole, whole);
});

test('ranges that are not there are made, though no service has anything', (t) => {
  const made = new ServiceRanges(NETWORK, '/registry/');
  t.deepEqual(
    made.repairs().map(({ compare, state }) => [compare.key, compare.value, state.spec, [...state.bits]]),
    [
      [ADDRESSES, 0, '10.96.0.0/24', []],
      [PORTS, 0, '30000-30063', []],
    ],
  );
});
