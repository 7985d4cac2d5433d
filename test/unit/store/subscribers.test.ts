import test from 'ava';
import { Subscribers } from '../../../actors/store/readers/subscribers.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { SlabPool } from '../../../storage/records/slab-pool.ts';
import { SharedState } from '../../../storage/shared-state.ts';

interface Told {
  readonly type: string;
  readonly after: number;
  readonly sequence: number;
}

/** Subscribers whose mailboxes have room as the test says, and what each was told. */
function rig() {
  const timers = new VirtualTime();
  const shared = new SharedState();
  const told: string[] = [];
  const sequences: { readonly name: string; readonly after: number; readonly sequence: number }[] = [];
  const room = { isLeft: true };
  const refNamed = (name: string) => {
    const tell = ({ type, after, sequence }: Told): 'queued' | 'full' => {
      if (!room.isLeft) return 'full';
      told.push(`${name} ${type}`);
      if (type === 'storeBatch') sequences.push({ name, after, sequence });
      return 'queued';
    };
    return { tell, tellSoon: tell };
  };
  const context = {
    timers,
    clock: timers,
    random: new SeededRandom(1),
    log: { warn: () => {} },
    refNamed,
  } as unknown as ActorContext;
  const subscribers = new Subscribers(context, shared, new SlabPool(4096, shared), {
    patienceMs: 10,
    denseRecords: 32,
  });
  /** Publishes as many records of one slab. */
  const publish = (records = 0, movedRuns: readonly number[] = []): void =>
    subscribers.publish({
      lastRevision: 1,
      compactedRevision: 0,
      runs: records > 0 ? [0, 0, records] : [],
      movedRuns,
    });
  /** What came to this subscriber since it was asked last: the publication before, and the last in it. */
  const heard = (name: string) =>
    sequences.splice(0).flatMap((one) => (one.name === name ? [`${one.after}-${one.sequence}`] : []));
  return { timers, shared, told, room, subscribers, publish, heard };
}

test('who subscribes holds back what is given up after the publication that it begins with, and nothing before', (t) => {
  const { shared, subscribers, publish } = rig();
  publish();
  publish();
  const slot = subscribers.add('hub/0');
  t.is(shared.readerEpoch(slot), 2);
  t.is(shared.lowestEpoch(), 2);
  publish();
  t.is(subscribers.add('hub/0'), slot);
  t.is(shared.readerEpoch(slot), 2, 'what it read before it subscribed again is its own to let go');
  subscribers.remove('hub/0');
  t.is(shared.lowestEpoch(), Number.POSITIVE_INFINITY);
});

test('who falls behind holds its slabs, and is told so until it hears it and nothing else', async (t) => {
  const { timers, shared, told, room, subscribers, publish } = rig();
  const slot = subscribers.add('hub/0');
  publish();
  room.isLeft = false;
  publish();
  await timers.advance(200);
  t.is(shared.readerEpoch(slot), 0);
  room.isLeft = true;
  await timers.advance(100);
  publish();
  t.deepEqual(told, ['hub/0 storeBatch', 'hub/0 storeLost']);
  t.is(shared.readerEpoch(slot), 0);
  subscribers.add('hub/0');
  subscribers.lose('hub/0');
  publish();
  t.deepEqual(told.slice(2), ['hub/0 storeLost']);
  t.is(shared.readerEpoch(slot), 0);
});

test('while little is written, everybody hears of it at once', async (t) => {
  const { timers, subscribers, publish, heard } = rig();
  subscribers.add('controllers', true);
  for (let written = 0; written < 10; written += 1) {
    publish(1);
    await timers.advance(1);
    t.deepEqual(heard('controllers'), [`${written}-${written + 1}`]);
  }
  publish(1000);
  t.deepEqual(heard('controllers'), ['10-11'], 'the first of much, too');
});

test('while much is written, who is patient hears of it some milliseconds later, all of it in one; others at once', async (t) => {
  const { timers, subscribers, publish, heard } = rig();
  subscribers.add('controllers', true);
  subscribers.add('hub/0');
  publish(40);
  await timers.advance(10);
  heard('');
  publish(1);
  publish(2);
  t.deepEqual(heard('hub/0'), ['1-2', '2-3']);
  publish(40);
  t.deepEqual(heard('controllers'), []);
  await timers.advance(10);
  t.deepEqual(heard('controllers'), ['1-4']);
  publish(1);
  await timers.advance(10);
  t.deepEqual(heard('controllers'), ['4-5']);
  publish(1);
  t.deepEqual(heard('controllers'), ['5-6'], 'the window before had little');
  await timers.advance(1000);
  t.deepEqual(heard('controllers'), [], 'nothing is told twice');
});

test('after a quiet time the first to be written is told at once, however much was written before', async (t) => {
  const { timers, subscribers, publish, heard } = rig();
  subscribers.add('controllers', true);
  publish(1000);
  await timers.advance(25);
  heard('');
  publish(1);
  t.deepEqual(heard('controllers'), ['1-2']);
});

test('what is held is told before a record moves, and before somebody else begins with the present', async (t) => {
  const { timers, subscribers, publish, heard } = rig();
  subscribers.add('controllers', true);
  publish(40);
  await timers.advance(10);
  publish(1);
  heard('');
  publish(0, [0, 0, 1]);
  t.deepEqual(heard('controllers'), ['1-3'], 'the move comes last in it');
  publish(1);
  subscribers.add('scheduler', true);
  t.deepEqual(heard('controllers'), ['3-4']);
  publish(1);
  await timers.advance(10);
  t.deepEqual(heard('scheduler'), ['4-5']);
});
