// Watches in Protobuf beside watches in JSON, over a real store and hub: they tell the same, each object is encoded once
// for all of them (so the tests run one by one: that is counted), and what ends or marks a watch comes in its own encoding.
import test from 'ava';
import { decodedCount } from '../../../storage/forms/stored-json.ts';
import { readEvents } from '../../server/kubernetes-messages.ts';
import { HubWorld, type WatchClient } from './hub-world.ts';

interface Seen {
  readonly type: string;
  readonly object: { readonly kind: string; readonly metadata?: Readonly<Record<string, string>> };
}

function eventsOf({ response }: WatchClient): readonly Seen[] {
  const { events, rest } = readEvents(Buffer.concat(response.chunks));
  if (rest.length > 0) throw new Error('the stream ends inside an event');
  return events as unknown as readonly Seen[];
}

const brief = (watch: WatchClient): string[] =>
  eventsOf(watch).map(
    ({ type, object: { metadata = {} } }) =>
      `${type} ${metadata.namespace ?? ''}/${metadata.name ?? ''} ${metadata.resourceVersion}`,
  );

test.serial(
  'watches in Protobuf tell what those in JSON do, from the present state, a revision, and by selection',
  async (t) => {
    const world = await HubWorld.start();
    await world.put('a/o0');
    await world.put('b/o1');
    const queries = ['', 'resourceVersion=1', 'fieldSelector=metadata.name%3Do0', 'resourceVersion=0'];
    const inJson = queries.map((query) => world.watch(query));
    const inProtobuf = queries.map((query) => world.watchProtobuf(query));
    await world.put('a/o0');
    await world.put('a/o2');
    await world.remove('a/o0');
    await world.settle();
    for (const [i, watch] of inProtobuf.entries()) {
      t.deepEqual(brief(watch), inJson[i]!.seen, queries[i]);
      t.true(brief(watch).length > 0);
    }
    await world.stop();
  },
);

test.serial('an event is encoded once for all who watch in Protobuf, whatever they select', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watches = [
    ...Array.from({ length: 20 }, () => world.watchProtobuf('resourceVersion=1')),
    ...Array.from({ length: 20 }, () => world.watchProtobuf('resourceVersion=1', 'a')),
    ...Array.from({ length: 5 }, () => world.watchProtobuf('resourceVersion=1&fieldSelector=metadata.namespace%3Da')),
  ];
  await world.settle();
  const before = decodedCount();
  await world.put('a/o1');
  await world.settle();
  t.is(decodedCount() - before, 1);
  for (const watch of watches) t.deepEqual(brief(watch), ['ADDED a/o1 2']);
  await world.stop();
});

test.serial('a bookmark comes in Protobuf', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watchProtobuf('resourceVersion=1&allowWatchBookmarks=1', 'b');
  await world.put('a/o1');
  await world.simulation.time.advance(25_000);
  t.deepEqual([...new Set(brief(watch))], ['BOOKMARK / 2']);
  t.is(eventsOf(watch)[0]!.object.kind, 'ConfigMap');
  await world.stop();
});

test.serial(
  'a revision that is forgotten ends a watch with a Status in Protobuf, at its start and later',
  async (t) => {
    const world = await HubWorld.start({ historyEventsMax: 20 });
    await world.put('a/o0');
    const slow = world.watchProtobuf('resourceVersion=1');
    await world.settle();
    slow.response.isFull = () => true;
    for (let i = 0; i < 100; i++) await world.put(`a/o${i % 5}`);
    const late = world.watchProtobuf('resourceVersion=3');
    await world.settle();
    slow.response.isFull = () => false;
    slow.response.drain();
    await world.settle();
    for (const watch of [slow, late]) {
      const last = eventsOf(watch).at(-1)!;
      t.is(last.type, 'ERROR');
      t.like(last.object, { kind: 'Status', code: 410, reason: 'Expired' });
      t.true(watch.finished);
    }
    await world.stop();
  },
);
