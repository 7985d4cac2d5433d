import anyTest, { type TestFn } from 'ava';
import { failure, PATIENT, refContract, untilRoom } from './ref-contract.ts';
import { actors, SUBJECT_MAILBOX_MAX, type SubjectProtocol } from './ref-subject.ts';
import { twoThreads } from './two-threads.ts';

const test = anyTest as TestFn;
const ROSTER_URL = new URL('./ref-subject.js', import.meta.url).href;

const start = () => twoThreads(actors, ROSTER_URL);

// Serial: every test has a worker of its own.
refContract(test.serial, 'remote', { refusesNonPlain: true }, async () => {
  const threads = await start();
  return { ref: threads.ref<SubjectProtocol>('subject'), stop: () => threads.stop() };
});

test.serial('remote: a payload shares nothing with the sender once it is sent', async (t) => {
  const threads = await start();
  const ref = threads.ref<SubjectProtocol>('subject');
  const payload = Uint8Array.of(1, 2, 3, 4);
  const bytes = ref.ask({ type: 'bytesOf', payload }, PATIENT);
  await ref.ask({ type: 'notes' }, PATIENT);
  payload.fill(9);
  t.deepEqual(await bytes, [1, 2, 3, 4]);
  await threads.stop();
});

test.serial(
  'remote: payloads begin at multiples of eight bytes, and other bytes leave their pool behind',
  async (t) => {
    const threads = await start();
    const ref = threads.ref<SubjectProtocol>('subject');
    const pooled = Buffer.from('pooled');
    t.true(pooled.buffer.byteLength > pooled.length, 'Node gives small buffers out of a pool');
    const seen = await Promise.all(
      [3, 5, 8].map((length) =>
        ref.ask({ type: 'memoryBehind', payload: new Uint8Array(length), extra: pooled }, PATIENT),
      ),
    );
    t.deepEqual(
      seen.map(({ payloadOffset }) => payloadOffset),
      [0, 8, 16],
    );
    t.deepEqual(
      seen.map(({ extra }) => extra),
      [6, 6, 6],
    );
    await threads.stop();
  },
);

test.serial(
  'remote: when the thread dies its asks fail with ActorDown, and the ref works again with the next thread',
  async (t) => {
    const threads = await start();
    const ref = threads.ref<SubjectProtocol>('subject');
    t.is(await ref.ask({ type: 'noteAndCount', note: 1 }, PATIENT), 1);
    const held = ref.ask({ type: 'hold', key: 'k' }, PATIENT);
    const crash = ref.ask({ type: 'crash' }, PATIENT);
    await failure(t, held, 'ActorDown');
    await failure(t, crash, 'ActorDown');
    await threads.worker.exited;
    await failure(t, ref.ask({ type: 'notes' }, PATIENT), 'ActorDown');
    t.is(ref.tell({ type: 'note', note: 2 }), 'full');

    await threads.replace();
    t.deepEqual(await ref.ask({ type: 'notes' }, PATIENT), []);
    for (let note = 0; note < SUBJECT_MAILBOX_MAX; note++) t.is(ref.tell({ type: 'note', note }), 'queued');
    await untilRoom(ref);
    await threads.stop();
  },
);

test.serial('remote: an actor that is not placed answers ActorDown', async (t) => {
  const threads = await start();
  const ref = threads.ref<SubjectProtocol>('nobody');
  await failure(t, ref.ask({ type: 'notes' }, PATIENT), 'ActorDown');
  t.is(ref.tell({ type: 'note', note: 2 }), 'full');
  await threads.stop();
});
