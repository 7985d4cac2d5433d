import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { realEnvironment } from '../../../runtime/real-environment.ts';

const { disk, random, timers, clock } = realEnvironment;
const folder = mkdtempSync(join(tmpdir(), 'orch-disk-'));
// The environment's timers do not keep a process alive; this one does.
const awake = setInterval(() => {}, 1000);
test.after.always(() => {
  clearInterval(awake);
  rmSync(folder, { recursive: true, force: true });
});

test('a file is written whole, replaced whole, readable by its owner only, and leaves no neighbour behind', async (t) => {
  const place = join(folder, 'deep', 'er');
  await disk.makeDirectory(place);
  const path = join(place, 'file');
  t.false(await disk.exists(path));
  await disk.writeFileAtomic(path, Uint8Array.of(1, 2, 3));
  await disk.writeFileAtomic(path, Uint8Array.of(4));
  t.deepEqual([...(await disk.readFile(path))], [4]);
  t.true(await disk.exists(path));
  t.is(statSync(path).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(place), ['file']);
});

test('a write that cannot be finished leaves no neighbour behind', async (t) => {
  const place = join(folder, 'blocked');
  await disk.makeDirectory(join(place, 'file'));
  await t.throwsAsync(disk.writeFileAtomic(join(place, 'file'), Uint8Array.of(1)));
  t.deepEqual(readdirSync(place), ['file']);
});

test('a delay longer than Node can count does not fire at once', async (t) => {
  let fired = false;
  const timer = timers.after(2 ** 40, () => {
    fired = true;
  });
  await new Promise<void>((resolve) => timers.after(20, resolve));
  t.false(fired);
  timer.cancel();
  timer.cancel();
});

test('timers that were cancelled do not fire', async (t) => {
  const fired: string[] = [];
  timers.after(1, () => fired.push('after')).cancel();
  const every = timers.every(1, () => fired.push('every'));
  await new Promise<void>((resolve) => timers.soon(resolve));
  every.cancel();
  fired.length = 0;
  await new Promise<void>((resolve) => timers.after(10, resolve));
  t.deepEqual(fired, []);
});

test('uuids and bytes are new each time, and the clock does not run backwards', (t) => {
  t.regex(random.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.notDeepEqual(random.bytes(16), random.bytes(16));
  t.is(random.bytes(16).buffer.byteLength, 16);
  const before = clock.monotonicMs();
  t.true(clock.monotonicMs() >= before);
});
