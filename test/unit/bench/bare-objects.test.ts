// Goal: the bare server does what it is measured for: it stores what it answers with, and answers when that is on the disk.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openBareEngine } from '../../../bench/floors/bare-engine.ts';
import { BareObjects, type Written } from '../../../bench/floors/bare-objects.ts';

const MAPS = '/api/v1/namespaces/bench/configmaps';

test('objects of the bare server are stored, changed and removed as they are answered', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'bare-objects-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const engine = await openBareEngine(join(directory, 'store'));
  const objects = new BareObjects(engine, (error) => t.fail(String(error)));
  const answer = (ask: (written: Written) => void): Promise<unknown> =>
    new Promise((resolve) => ask((object) => resolve(object && JSON.parse(object.toString()))));
  const stored = async (key: string): Promise<unknown> => {
    const value = await engine.get(key);
    return value === undefined ? undefined : JSON.parse(Buffer.from(value).toString());
  };
  const body = (data: object): Buffer => Buffer.from(JSON.stringify({ metadata: { name: 'a' }, data }));

  const created = await answer((written) => objects.create(MAPS, body({ x: '1' }), written));
  t.like(created, { metadata: { name: 'a', resourceVersion: '1' }, data: { x: '1' } });
  t.deepEqual(await stored(`${MAPS}/a`), created);

  const { uid } = (created as { metadata: { uid: string } }).metadata;
  const put = await answer((written) => objects.put(`${MAPS}/a`, body({ y: '2' }), written));
  t.like(put, { metadata: { uid, resourceVersion: '2' }, data: { y: '2' } });
  const patch = Buffer.from('{"data":{"y":null,"z":"3"}}');
  const patched = await answer((written) => objects.patch(`${MAPS}/a`, patch, written));
  t.like(patched, { metadata: { uid, resourceVersion: '3' }, data: { z: '3' } });
  t.deepEqual(await stored(`${MAPS}/a`), patched);
  t.deepEqual(JSON.parse(objects.get(`${MAPS}/a`)!.toString()), patched);

  t.deepEqual(await answer((written) => objects.remove(`${MAPS}/a`, written)), patched);
  t.is(await stored(`${MAPS}/a`), undefined);
  t.is(await answer((written) => objects.remove(`${MAPS}/a`, written)), undefined);
  t.deepEqual(objects.batches, { count: 4, writes: 4 });
  await engine.close();
});
