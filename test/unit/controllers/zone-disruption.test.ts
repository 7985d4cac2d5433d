// How fast the nodes of a zone may be tainted, by how much of it answers.
import test from 'ava';
import { ZoneDisruption } from '../../../actors/controllers/nodes/zone-disruption.ts';

const count = (ready: number, failing: number) => ({ ready, failing });

/** Zones with nodes `0`, `1`, … that wait. */
function waiting(zone: string, nodes: number): ZoneDisruption {
  const zones = new ZoneDisruption();
  for (let i = 0; i < nodes; i++) zones.enqueue(zone, String(i), 0);
  return zones;
}

test('of a zone in order one node goes at once, and the next every ten seconds', (t) => {
  const zones = waiting('a', 3);
  t.is(zones.review(new Map([['a', count(5, 3)]]), 0), 'go on');
  t.deepEqual(zones.take('a', 0), { nodes: ['0'], waitMs: 10_000 });
  t.deepEqual(zones.take('a', 9_000).nodes, []);
  t.deepEqual(zones.take('a', 10_000).nodes, ['1']);
  t.deepEqual(zones.take('a', 20_000), { nodes: ['2'], waitMs: undefined });
  t.deepEqual(zones.waiting, []);
});

test('what time passes unused lets no more than one go', (t) => {
  const zones = waiting('a', 3);
  zones.review(new Map([['a', count(5, 3)]]), 0);
  t.deepEqual(zones.take('a', 600_000).nodes, ['0']);
});

const rows: readonly (readonly [says: string, ready: number, failing: number, perMinute: number])[] = [
  ['two failing nodes of two in a zone beside another are a zone that fails whole', 0, 2, 6],
  ['two failing nodes of three are too few to speak of', 1, 2, 6],
  ['more than half of a small zone stops its evictions', 2, 3, 0],
  ['half of a zone is not yet too much', 5, 5, 6],
  ['just so large a part of a small zone as is too much stops its evictions', 9, 11, 0],
  ['more than half of a large zone slows its evictions', 20, 31, 0.6],
];

for (const [says, ready, failing, perMinute] of rows) {
  test(says, (t) => {
    const zones = waiting('a', 100);
    zones.review(
      new Map([
        ['a', count(ready, failing)],
        ['b', count(1, 0)],
      ]),
      0,
    );
    zones.take('a', 0);
    let nodes = 0;
    for (let s = 1; s <= 600; s++) nodes += zones.take('a', s * 1000).nodes.length;
    t.is(nodes, perMinute * 10);
  });
}

test('where nothing answers anywhere nobody is evicted, and all begins anew with the first answer', (t) => {
  const zones = waiting('a', 2);
  const lost = new Map([
    ['a', count(0, 2)],
    ['b', count(0, 1)],
  ]);
  t.is(zones.review(lost, 0), 'all is lost');
  t.is(zones.review(lost, 5_000), 'go on');
  t.deepEqual(zones.take('a', 600_000), { nodes: [], waitMs: undefined });
  const found = new Map([
    ['a', count(0, 2)],
    ['b', count(1, 0)],
  ]);
  t.is(zones.review(found, 700_000), 'all begins anew');
  t.is(zones.review(found, 705_000), 'go on');
  t.deepEqual(zones.take('a', 720_000).nodes, ['0']);
});

test('where one zone after the other fails, nobody is evicted once the last has, in the first of them either', (t) => {
  const zones = waiting('a', 9);
  const both = (b: ReturnType<typeof count>) =>
    new Map([
      ['a', count(0, 9)],
      ['b', b],
    ]);
  t.is(zones.review(both(count(1, 0)), 0), 'go on');
  t.deepEqual(zones.take('a', 0).nodes, ['0']);
  t.is(zones.review(both(count(0, 1)), 5_000), 'all is lost');
  t.deepEqual(zones.take('a', 600_000), { nodes: [], waitMs: undefined });
  t.is(zones.review(both(count(1, 0)), 605_000), 'all begins anew');
  t.is(zones.take('a', 620_000).nodes.length, 1);
});

test('a zone whose nodes are gone is forgotten', (t) => {
  const zones = waiting('a', 1);
  zones.dequeue('a', '0');
  t.is(zones.review(new Map(), 0), 'go on');
  t.deepEqual(zones.take('a', 0), { nodes: [], waitMs: undefined });
});
