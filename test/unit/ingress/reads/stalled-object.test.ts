// Large answers that are no lists, and clients that stop reading them: they hold the room that others wait for as long as a request may
// take, and no longer.
import test from 'ava';
import type { HubProtocol } from '../../../../actors/hub/protocol.ts';
import { Paths } from '../../../../actors/ingress/paths/paths.ts';
import { inTime } from '../../../../actors/ingress/reads/answer-time.ts';
import { Reads } from '../../../../actors/ingress/reads/reads.ts';
import { isStatusError } from '../../../../api/status/status.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { JOB_BYTES_MIN } from '../../../../rendering/jobs.ts';
import { ProtobufRecords } from '../../../../rendering/protobuf-records.ts';
import type { Ref } from '../../../../runtime/actor.ts';
import { NO_JOB_POOL } from '../../../../runtime/jobs/job-pool.ts';
import { HeapRoom } from '../../../../runtime/memory/heap-room.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { Records } from '../../hub/records.ts';
import { renderingOf, representationOf } from '../../rendering/representations.ts';
import { exchangeOver } from '../exchanges.ts';
import { NO_CONVERSION, SAME_FORMS } from '../no-conversion.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const YAML = representationOf(renderingOf({ group: '', version: 'v1', kind: 'ConfigMap' }, { encoding: 'yaml' }));
const LARGE = { apiVersion: 'v1', kind: 'ConfigMap', data: { text: 'x'.repeat(JOB_BYTES_MIN) } };

/** In a room for one such object. */
function readsAt(timers: VirtualTime): Reads {
  return new Reads({
    hub: {} as Ref<HubProtocol>,
    slabs: new Records().thread,
    records: new ProtobufRecords(DIALECTS.orch),
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    metaGroup: 'meta',
    timers,
    jobs: NO_JOB_POOL,
    heapRoom: new HeapRoom(1),
    conversion: NO_CONVERSION,
    forms: SAME_FORMS,
  });
}

function fullResponse(): FakeResponse {
  const response = new FakeResponse();
  response.isFull = () => true;
  return response;
}

test('a large object whose client stops reading is cut off, and the next one goes out', async (t) => {
  const time = new VirtualTime();
  const reads = readsAt(time);
  const [stalled, next] = [fullResponse(), new FakeResponse()];
  const exchange = exchangeOver(stalled);
  const first = reads.sendObject(exchange, 200, LARGE, YAML);
  await time.advance(REQUEST_TIMEOUT_MS / 2);
  const second = reads.sendObject(exchangeOver(next), 200, LARGE, YAML);
  await time.advance(REQUEST_TIMEOUT_MS / 2 - 1);
  t.deepEqual([stalled.aborted, next.status], [false, 0]);
  await time.advance(2);
  await Promise.all([first, second]);
  t.true(stalled.aborted && exchange.isCutOff);
  t.true(next.ended);
});

test('an answer that has not begun when its time is over is refused, and not begun any more', async (t) => {
  const time = new VirtualTime();
  const exchange = exchangeOver(new FakeResponse());
  const refused = inTime(new Promise(() => {}), exchange, time, REQUEST_TIMEOUT_MS).catch((error: unknown) => error);
  await time.advance(REQUEST_TIMEOUT_MS);
  const error = await refused;
  t.is(isStatusError(error) ? error.status.code : 0, 504);
  t.false(exchange.isCutOff);
});

test('metrics whose client stops reading are cut off', async (t) => {
  const time = new VirtualTime();
  const metrics = new MetricsRegistry();
  const upTo = Array.from({ length: 40 }, (_, bucket) => bucket);
  for (let i = 0; i < 500; i++) metrics.histogram('seconds', 'Seconds.', upTo, { resource: `type${i}` }).observe(i);
  const paths = new Paths({
    brand: 'orch',
    discovery: () => ({ document: () => undefined, paths: [] }),
    metrics: () => Promise.resolve([metrics.reading()]),
    metricsRules: { disabled: [], allowed: [], release: '1.21', showHiddenFor: '' },
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    timers: time,
  } as unknown as ConstructorParameters<typeof Paths>[0]);
  const response = fullResponse();
  let isOver = false;
  const served = paths
    .serve(exchangeOver(response), { path: '/metrics', verb: 'get' } as Parameters<Paths['serve']>[1])
    .then(() => {
      isOver = true;
    });
  // Its code is loaded in real time.
  while (response.chunks.length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    await time.advance(0);
  }
  t.false(isOver);
  await time.advance(REQUEST_TIMEOUT_MS);
  await served;
  t.true(response.aborted);
  t.is(response.chunks.length, 1);
});
