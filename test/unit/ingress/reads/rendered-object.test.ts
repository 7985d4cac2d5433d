// Objects that are rendered for their answer: large ones share the heap.
import test from 'ava';
import { sendListValue, sendRenderedObject } from '../../../../actors/ingress/reads/rendered-object.ts';
import { JOB_BYTES_MIN } from '../../../../rendering/jobs.ts';
import { itemsText } from '../../../../rendering/value-pieces.ts';
import { NO_JOB_POOL } from '../../../../runtime/jobs/job-pool.ts';
import { HeapRoom } from '../../../../runtime/memory/heap-room.ts';
import { yamlText } from '../../../../transport/yaml/write.ts';
import { renderingOf, representationOf } from '../../rendering/representations.ts';
import { Client } from './client.ts';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const YAML = representationOf(renderingOf(CONFIG_MAP, { encoding: 'yaml' }));

test('a large object is rendered when those before it have gone out, and not at all where its client has gone', async (t) => {
  const work = { pause: () => Promise.resolve(), jobs: NO_JOB_POOL, heapRoom: new HeapRoom(1) };
  const send = (client: Client, text: string): Promise<void> | undefined => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text } };
    return sendRenderedObject(client.exchange, 200, object, YAML, work);
  };
  const large = 'x'.repeat(JOB_BYTES_MIN);
  const [slow, next, gone, small] = [new Client(), new Client(), new Client(), new Client()];
  slow.fullAfter = 1;
  const sent = [send(slow, large), send(next, large), send(gone, large)];
  await send(small, 'x');
  t.true(small.ended);
  t.deepEqual([slow.pieces, next.pieces], [1, 0]);
  gone.aborted = true;
  slow.fullAfter = Number.POSITIVE_INFINITY;
  slow.drain();
  await Promise.all(sent);
  t.true(slow.ended && next.ended);
  t.is(next.text, slow.text);
  t.is(gone.text, '');
});

for (const length of [2, 20_000]) {
  test(`a list whose ${length === 2 ? 'few ' : ''}items come as texts goes out in every encoding as one of objects would`, async (t) => {
    const work = { pause: () => Promise.resolve(), jobs: NO_JOB_POOL, heapRoom: new HeapRoom(1) };
    const items = ['a', 'b', 'c'].map((name) => ({ data: { text: name.repeat(length) }, metadata: { name } }));
    const whole = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items };
    const list = { ...whole, items: [itemsText(items.slice(0, 2)), itemsText(items.slice(2))] };
    const texts = await Promise.all(
      [{}, { pretty: true }, { encoding: 'yaml' as const }].map(async (how) => {
        const client = new Client();
        await sendListValue(client.exchange, list, representationOf(renderingOf(CONFIG_MAP, how)), work);
        return client.text;
      }),
    );
    t.deepEqual(texts, [`${JSON.stringify(whole)}\n`, JSON.stringify(whole, null, 2), yamlText(whole)]);
  });
}
