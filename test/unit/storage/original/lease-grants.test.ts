import test from 'ava';
import { EtcdError } from '../../../../storage/etcd/etcd-cluster.ts';
import { LeaseGrants } from '../../../../storage/etcd/original/lease-grants.ts';

function grants(reuseSeconds: number) {
  const granted: (readonly [id: number, seconds: number])[] = [];
  const world = { nowMs: 0, granted, fails: false, full: [] as number[] };
  const leases = new LeaseGrants({
    cluster: {
      grantLease: async (id: number, seconds: number): Promise<void> => {
        if (world.fails) throw new EtcdError('unknown', 'nobody answered');
        granted.push([id, seconds]);
      },
    } as never,
    monotonicMs: () => world.nowMs,
    freshId: () => granted.length + 1,
    reuseSeconds,
    onFull: (objects) => void world.full.push(objects),
  });
  return { world, leases };
}

test('a lease is shared as long as it lasts as long as asked for', async (t) => {
  const { world, leases } = grants(60);
  t.deepEqual([await leases.take(3600), await leases.take(3600)], [1, 1]);
  world.nowMs = 59_999;
  t.is(await leases.take(3600), 1);
  world.nowMs = 60_000;
  t.is(await leases.take(3600), 2);
  t.deepEqual(world.granted, [
    [1, 3660],
    [2, 3660],
  ]);
});

test('those who ask at once share one lease, also when the last has had its time or was not granted', async (t) => {
  const { world, leases } = grants(60);
  const several = () => Promise.all(Array.from({ length: 20 }, () => leases.take(3600)));
  t.deepEqual([...new Set(await several())], [1]);
  world.nowMs = 60_000;
  t.deepEqual([...new Set(await several())], [2]);
  t.deepEqual(world.full, [20]);
  world.nowMs = 120_000;
  world.fails = true;
  await t.throwsAsync(several());
  world.fails = false;
  t.deepEqual([...new Set(await several())], [3]);
});

test('a lease lasts a twentieth longer at most, and short ones are shared by nobody', async (t) => {
  const { world, leases } = grants(60);
  await leases.take(400);
  t.not(await leases.take(15), await leases.take(15));
  t.deepEqual(
    world.granted.map(([, seconds]) => seconds),
    [420, 15, 15],
  );
});

test('a thousand objects share a lease, and one that has ended is not taken again', async (t) => {
  const { leases, world } = grants(60);
  const taken = new Set<number>();
  for (let i = 0; i < 1000; i++) taken.add(await leases.take(3600));
  t.is(taken.size, 1);
  t.deepEqual(world.full, []);
  t.is(await leases.take(3600), 2);
  t.deepEqual(world.full, [1000], 'whoever counts them is told');
  leases.forget(3600);
  t.is(await leases.take(3600), 3);
});

test('a grant that failed is asked for again', async (t) => {
  const { world, leases } = grants(60);
  world.fails = true;
  await t.throwsAsync(leases.take(3600));
  world.fails = false;
  t.is(await leases.take(3600), 1);
});
