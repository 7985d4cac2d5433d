// What is measured of a store from time to time: its objects by resource, and what it takes on the disk.
import test from 'ava';
import { type MeasurePeriods, StoreMeasures } from '../../../actors/store/store-measures.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import type { MemberBytes, SharedEngine } from '../../../storage/engines/shared-engine.ts';
import { LiveDigests } from '../../../storage/live-digest.ts';

const SIZES = ['apiserver_storage_db_total_size_in_bytes', 'etcd_db_total_size_in_bytes'];
const COUNTS = ['apiserver_storage_objects', 'etcd_object_counts'];

function measured(periods: Partial<MeasurePeriods>, shared?: Pick<SharedEngine, 'memberBytes'>) {
  const time = new VirtualTime();
  const metrics = new MetricsRegistry();
  const digests = new LiveDigests();
  const disk = { answer: (): Promise<number> => Promise.resolve(1), asked: 0 };
  const engine = {
    diskBytes: () => {
      disk.asked++;
      return disk.answer();
    },
  };
  const measures = new StoreMeasures({ timers: time, metrics } as unknown as ActorContext, shared ?? engine, digests);
  measures.start({ objectCountMs: 0, diskSizeMs: 0, storeName: 'etcd', endpoint: 'https://a:2379', ...periods });
  /** The values of these metrics, by resource or else by endpoint; they are the same under each of the names. */
  const read = (names: readonly string[]): Readonly<Record<string, number>> | undefined => {
    const reading = metrics.reading();
    const [one, other] = names.map((name) => {
      const series = reading.find((family) => family.name === name)?.series;
      return (
        series &&
        Object.fromEntries(series.map(({ labels, value }) => [labels.resource ?? labels.endpoint ?? '', value]))
      );
    });
    if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error('the names say different things');
    return one;
  };
  return { time, digests, disk, counts: () => read(COUNTS), sizes: () => read(SIZES) };
}

const POD = 'core/pods/default/a';
const DEPLOYMENT = 'apps/deployments/default/a';

test('objects are counted by resource from period to period, and a resource that has none left is at 0', async (t) => {
  const { time, digests, counts } = measured({ objectCountMs: 60_000 });
  digests.change(POD, 1, 0, 5);
  digests.change(DEPLOYMENT, 2, 0, 6);
  await time.runUntilIdle();
  t.deepEqual(counts(), { pods: 1, 'deployments.apps': 1 });
  digests.change(POD, 1, 5, 0);
  t.deepEqual(counts(), { pods: 1, 'deployments.apps': 1 }, 'as last counted');
  await time.advance(60_000);
  t.deepEqual(counts(), { pods: 0, 'deployments.apps': 1 });
});

test('who asks before anything was there to be counted need not wait for a period', async (t) => {
  const { time, digests, counts } = measured({ objectCountMs: 60_000 });
  await time.runUntilIdle();
  digests.change(POD, 1, 0, 5);
  t.deepEqual(counts(), { pods: 1 });
});

test('what a store takes on the disk is looked at from period to period, and stays what it was where that fails', async (t) => {
  const { time, disk, sizes, counts } = measured({ diskSizeMs: 30_000 });
  await time.runUntilIdle();
  t.deepEqual([sizes(), disk.asked], [{ 'https://a:2379': 1 }, 1], 'with the label that dashboards go by');
  disk.answer = () => Promise.reject(new Error('EIO'));
  await time.advance(30_000);
  t.deepEqual([sizes(), disk.asked], [{ 'https://a:2379': 1 }, 2]);
  disk.answer = () => Promise.resolve(7);
  await time.advance(30_000);
  t.deepEqual(sizes(), { 'https://a:2379': 7 });
  t.is(counts(), undefined);
});

test('of a store that several members have, each has a size of its own, which it keeps while it does not answer', async (t) => {
  const [one, other] = ['http://a:2379', 'http://b:2379'] as const;
  const said = {
    sizes: [
      [one, 5],
      [other, 6],
    ] as MemberBytes,
  };
  const { time, sizes } = measured({ diskSizeMs: 30_000 }, { memberBytes: () => Promise.resolve(said.sizes) });
  await time.runUntilIdle();
  t.deepEqual(sizes(), { [one]: 5, [other]: 6 });
  said.sizes = [[other, 7]];
  await time.advance(30_000);
  t.deepEqual(sizes(), { [one]: 5, [other]: 7 });
});

test('what has a period of 0 is never measured, and one that is very short not more than ten times a second', async (t) => {
  const never = measured({});
  never.digests.change(POD, 1, 0, 5);
  await never.time.advance(3_600_000);
  t.deepEqual([never.counts(), never.sizes(), never.disk.asked], [undefined, undefined, 0]);
  const often = measured({ diskSizeMs: 1 });
  await often.time.advance(1000);
  t.is(often.disk.asked, 11);
});
