// Snapshots of a running store, and what it measures from time to time.
import test from 'ava';
import type { RevisionLog } from '../../../actors/store/log/revision-log.ts';
import type { OpenedSnapshot } from '../../../actors/store/protocol.ts';
import { Snapshots } from '../../../actors/store/snapshots.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { createSimulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { SNAPSHOT_FORMAT, SnapshotReader, snapshotHeader } from '../../../storage/upkeep/snapshot-file.ts';
import { DEADLINE_MS, gate, HeldEngine, type Rig, rigFor, settle, startRig, until } from './store-rig.ts';

const deadline = { deadlineMs: DEADLINE_MS };
const KEYS = Array.from({ length: 40 }, (_, number) => `core/pods/default/p${number}`);
const TEXT = 'x'.repeat(30_000);

async function open(rig: Rig): Promise<OpenedSnapshot> {
  const opened = await rig.store.ask({ type: 'openSnapshot' }, deadline);
  if ('refused' in opened) throw new Error(opened.refused);
  return opened;
}

function read(rig: Rig, id: number) {
  return rig.store.ask({ type: 'readSnapshot', id }, deadline);
}

/** Reads a snapshot to its end: every key's revision. Throws when it is not whole. `between` runs after each slice. */
async function readSnapshot(rig: Rig, between: () => Promise<void>): Promise<Map<string, number>> {
  const { id, ...header } = await open(rig);
  const reader = new SnapshotReader();
  reader.read(snapshotHeader({ snapshotFormat: SNAPSHOT_FORMAT, dialect: 'orch', prefix: '', wallMs: 0, ...header }));
  const found = new Map<string, number>();
  for (;;) {
    const { payload } = await read(rig, id);
    if (payload.byteLength === 0) break;
    for (const [key, value] of reader.read(Buffer.from(payload))) found.set(key, value.readDoubleLE(8));
    await between();
  }
  reader.finish();
  rig.store.tell<'closeSnapshot'>({ type: 'closeSnapshot', id });
  return found;
}

test('a snapshot is of one revision, while writes go on between its slices', async (t) => {
  const rig = await rigFor(t);
  for (const key of KEYS) await rig.put(key, TEXT);
  let slices = 0;
  const found = await readSnapshot(rig, async () => {
    slices++;
    await rig.put(KEYS[slices % KEYS.length]!, 'changed');
    await rig.commit((writer) => [writer.remove(KEYS.at(-slices)!, -1)]);
    await rig.put(`core/pods/default/new-${slices}`);
  });
  t.true(slices > 3);
  t.deepEqual(found, new Map(KEYS.map((key, index) => [key, index + 1])));
});

test('a snapshot asked for while a batch is being written is of that batch', async (t) => {
  const engine = new HeldEngine();
  const rig = await rigFor(t, { engine });
  await rig.put(KEYS[0]!);
  const disk = gate();
  engine.beforeCommit = () => disk.passed;
  const second = rig.put(KEYS[1]!);
  await until(() => engine.batches.length === 2);
  const opened = open(rig);
  await settle();
  disk.open();
  t.is((await opened).revision, await second);
  const { objects } = await opened;
  t.is(objects, 2);
});

test('who began to read a snapshot before the store restarted reads none of those that others take after it', async (t) => {
  const before = await open(await rigFor(t));
  const rig = await rigFor(t);
  await open(rig);
  t.is((await t.throwsAsync<OrchError>(read(rig, before.id))).code, 'Refused');
});

test('two snapshots are read at a time, and a third has to wait', async (t) => {
  const rig = await rigFor(t);
  const { id } = await open(rig);
  await open(rig);
  t.is((await t.throwsAsync<OrchError>(open(rig))).code, 'Overloaded');
  rig.store.tell<'closeSnapshot'>({ type: 'closeSnapshot', id });
  await t.notThrowsAsync(open(rig));
  t.is((await t.throwsAsync<OrchError>(read(rig, id))).code, 'Refused');
  t.is((await t.throwsAsync<OrchError>(read(rig, 99))).code, 'Refused');
});

test('a snapshot that nobody goes on reading is closed after a minute', async (t) => {
  const { environment, delivery, time } = createSimulation(1);
  const rig = await whileTimePasses(time, startRig({ environment, delivery }));
  const { id } = await whileTimePasses(time, open(rig));
  await time.advance(50_000);
  t.is((await whileTimePasses(time, read(rig, id))).payload.byteLength, 0);
  await time.advance(50_000);
  await t.notThrowsAsync(whileTimePasses(time, read(rig, id)));
  await time.advance(61_000);
  await t.throwsAsync(whileTimePasses(time, read(rig, id)), { message: /not open any more/ });
  await whileTimePasses(time, rig.running.stop());
});

test('what a snapshot reads is let go when it is closed, and when nobody goes on reading', async (t) => {
  const { environment, delivery, time } = createSimulation(4);
  const engine = new HeldEngine();
  let views = 0;
  engine.view = () => {
    views++;
    const view = engine.inner.view();
    const close = async (): Promise<void> => {
      views--;
      await view.close();
    };
    return { next: (bytesMax) => view.next(bytesMax), close };
  };
  const rig = await whileTimePasses(time, startRig({ environment, delivery, engine }));
  const { id } = await whileTimePasses(time, open(rig));
  await whileTimePasses(time, open(rig));
  t.is(views, 2);
  rig.store.tell<'closeSnapshot'>({ type: 'closeSnapshot', id });
  await time.advance(1);
  t.is(views, 1);
  await time.advance(61_000);
  t.is(views, 0);
  rig.store.tell<'closeSnapshot'>({ type: 'closeSnapshot', id });
  await time.advance(1);
  t.is(views, 0);
  await whileTimePasses(time, rig.running.stop());
});

test('a snapshot that cannot be read is let go after a minute, too, although nobody closes it', async (t) => {
  const { environment, delivery, time } = createSimulation(5);
  const engine = new HeldEngine();
  const next = () => Promise.reject(new OrchError('StoreUnusable', 'the disk does not answer'));
  engine.view = () => ({ next, close: async () => {} });
  const rig = await whileTimePasses(time, startRig({ environment, delivery, engine }));
  for (const { id } of [await whileTimePasses(time, open(rig)), await whileTimePasses(time, open(rig))])
    await t.throwsAsync(whileTimePasses(time, read(rig, id)), { message: 'the disk does not answer' });
  await time.advance(61_000);
  await t.notThrowsAsync(whileTimePasses(time, open(rig)));
  await whileTimePasses(time, rig.running.stop());
});

test('no snapshot is taken of a store with values that cannot be read: it would not be whole, and the refusal names one', (t) => {
  const values = ['theirs', 'garbled'].map((name) => {
    const key = `core/secrets/default/${name}`;
    return { key, path: `/registry/${key}`, why: 'no key', since: 0, isKnown: false };
  });
  const answersBeside = (unreadable: typeof values): unknown => {
    const log = { revision: 7, digests: { total: 3 }, current: { size: 1 } } as unknown as RevisionLog;
    const view = () => ({ next: async () => [], close: async () => {} });
    const snapshots = new Snapshots(view, { log, unreadable: { all: () => unreadable } }, realEnvironment.timers, 6);
    let answered: unknown;
    const reply = { isAwaited: true, send: () => t.fail(), fail: () => t.fail() };
    snapshots.onMessage({ type: 'openSnapshot' }, reply, (answer) => {
      answered = answer();
    });
    return answered;
  };
  t.deepEqual(answersBeside(values), {
    refused: 'the value of /registry/core/secrets/default/theirs and 1 more cannot be read: no key',
  });
  t.deepEqual(answersBeside(values.slice(1)), {
    refused: 'the value of /registry/core/secrets/default/garbled cannot be read: no key',
  });
  t.deepEqual(answersBeside([]), { id: 7, revision: 7, objects: 1, digest: 3 });
});

function objectCounts(rig: Rig): Record<string, number> {
  const families = rig.running.metrics().flat();
  const family = families.find(({ name }) => name === 'apiserver_storage_objects');
  return Object.fromEntries((family?.series ?? []).map(({ labels, value }) => [labels.resource, value]));
}

test('objects are counted by resource when somebody first asks and at each period, also down to none', async (t) => {
  const { environment, delivery, time } = createSimulation(2);
  const measures = { objectCountMs: 60_000, diskSizeMs: 30_000, storeName: 'store', endpoint: '/data' };
  const rig = await whileTimePasses(time, startRig({ environment, delivery, options: { measures } }));
  for (let number = 0; number < 7; number++) await whileTimePasses(time, rig.put(`core/pods/default/p${number}`));
  await whileTimePasses(time, rig.put('apps/deployments/default/d'));
  t.deepEqual(objectCounts(rig), { pods: 7, 'deployments.apps': 1 });
  await whileTimePasses(time, rig.put('core/pods/default/p7'));
  t.is(objectCounts(rig).pods, 7);
  await time.advance(61_000);
  t.deepEqual(objectCounts(rig), { pods: 8, 'deployments.apps': 1 });
  await whileTimePasses(
    time,
    rig.commit((writer) => [writer.remove('apps/deployments/default/d', -1)]),
  );
  await time.advance(61_000);
  t.deepEqual(objectCounts(rig), { pods: 8, 'deployments.apps': 0 });
  const families = rig.running.metrics().flat();
  for (const store of ['apiserver_storage', 'store'])
    t.true(families.some(({ name }) => name === `${store}_db_total_size_in_bytes`));
  await whileTimePasses(time, rig.running.stop());
});

test('periods of 0 measure nothing', async (t) => {
  const { environment, delivery, time } = createSimulation(3);
  const measures = { objectCountMs: 0, diskSizeMs: 0, storeName: 'store', endpoint: '/data' };
  const rig = await whileTimePasses(time, startRig({ environment, delivery, options: { measures } }));
  await whileTimePasses(time, rig.put(KEYS[0]!));
  await time.advance(600_000);
  const names = rig.running
    .metrics()
    .flat()
    .map(({ name }) => name);
  t.false(names.some((name) => name.startsWith('apiserver_storage_')));
  await whileTimePasses(time, rig.running.stop());
});
