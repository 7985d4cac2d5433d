// Events so large that sending them to all who watch would keep the thread for long.
import test from 'ava';
import { Watches } from '../../../actors/ingress/watch/watches.ts';
import { HubWorld, type Version } from './hub-world.ts';

const WATCHERS = 12;
const LARGE = 40_000;
/** Room for two sockets. */
const FAN_OUT_BYTES = 2 * LARGE;

const version = (name: string, length: number): Version => ({
  namespace: 'a',
  name,
  labels: {},
  text: 'x'.repeat(length),
});

/** How many sockets each chunk of at least so many bytes was for, and how many chunks were made, while `run` lasts. */
async function sentDuring(bytes: number, run: () => Promise<void>): Promise<{ sockets: number[]; chunks: number }> {
  const sockets: number[] = [];
  const chunks = new Set<Uint8Array>();
  const original = Watches.prototype.frames;
  Watches.prototype.frames = function frames(message): void {
    if (message.chunk.byteLength >= bytes) {
      sockets.push(message.watchers.length);
      chunks.add(message.chunk);
    }
    original.call(this, message);
  };
  try {
    await run();
  } finally {
    Watches.prototype.frames = original;
  }
  return { sockets, chunks: chunks.size };
}

test.serial('a large event goes to as many as there is room for, and to the others one after the other', async (t) => {
  const world = await HubWorld.start({ fanOutBytesMax: FAN_OUT_BYTES });
  await world.commit([version('first', 10)]);
  const watches = Array.from({ length: WATCHERS }, () => world.watch('resourceVersion=1'));
  await world.settle();
  const { sockets, chunks } = await sentDuring(LARGE, async () => {
    for (let round = 0; round < 3; round++) {
      await world.commit([version('large', LARGE)]);
      await world.commit([version('small', 10)]);
    }
    await world.settle();
  });
  t.is(Math.max(...sockets), 2, sockets.join());
  t.true(chunks <= 6, `${chunks} chunks for three events`);
  for (const { seen } of watches) t.deepEqual(seen, world.expectedAfter(1));
  const small = await sentDuring(1, async () => {
    await world.commit([version('small', 11)]);
    await world.settle();
  });
  t.deepEqual(small.sockets, [WATCHERS], 'all are together again');
  await world.stop();
});

test.serial('who ends while it waits for its large event, and whose socket fills, holds nobody up', async (t) => {
  const world = await HubWorld.start({ fanOutBytesMax: FAN_OUT_BYTES });
  await world.commit([version('first', 10)]);
  const watches = Array.from({ length: WATCHERS }, () => world.watch('resourceVersion=1'));
  await world.settle();
  const [gone, slow] = [watches[WATCHERS - 1]!.response, watches[WATCHERS - 2]!.response];
  slow.isFull = () => true;
  const committed = world.commitSoon([version('large', LARGE)]);
  gone.disconnect();
  await world.during(committed);
  await world.commit([version('large', LARGE + 1)]);
  await world.settle();
  slow.isFull = () => false;
  slow.drain();
  await world.settle();
  for (const { seen, response } of watches) if (response !== gone) t.deepEqual(seen, world.expectedAfter(1));
  await world.stop();
});

test.serial(
  'who is to have its large event alone, and whose socket turns out to be full, has it when that drains',
  async (t) => {
    const world = await HubWorld.start({ fanOutBytesMax: FAN_OUT_BYTES });
    await world.commit([version('first', 10)]);
    const watches = Array.from({ length: WATCHERS }, () => world.watch('resourceVersion=1'));
    await world.settle();
    const slow = watches[WATCHERS - 1]!.response;
    slow.isFull = () => true;
    world.delivery.hold('ingress');
    await world.commit([version('small', 10)]);
    await world.settle();
    // The hub hears in one turn of the large event, of a new watch, behind which it sends that, and of the full socket.
    world.delivery.hold('hub');
    const committed = world.commitSoon([version('large', LARGE)]);
    await world.settle();
    world.watch('resourceVersion=1', 'b');
    await world.settle();
    world.delivery.letGo('ingress');
    await world.settle();
    world.delivery.letGo('hub');
    await world.during(committed);
    await world.settle();
    slow.isFull = () => false;
    slow.drain();
    await world.settle();
    for (const { seen } of watches) t.deepEqual(seen, world.expectedAfter(1));
    await world.stop();
  },
);
