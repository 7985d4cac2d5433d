// What the edge does when the hub's mailbox is full: nothing is lost that a watch or a client hangs on.

import test from 'ava';
import type { HubProtocol } from '../../../actors/hub/protocol.ts';
import type { Arrival } from '../../../actors/ingress/exchange/exchange.ts';
import type { AnswerForm } from '../../../actors/ingress/reads/answer-forms.ts';
import { Reads } from '../../../actors/ingress/reads/reads.ts';
import { Watches } from '../../../actors/ingress/watch/watches.ts';
import { parseQuery } from '../../../api/requests/query.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { StatusError } from '../../../api/status/status.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { NO_JOB_POOL } from '../../../runtime/jobs/job-pool.ts';
import { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import type { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import { FakeResponse } from '../hub/fake-response.ts';
import { exchangeOver } from './exchanges.ts';
import { NO_CONVERSION, SAME_FORMS } from './no-conversion.ts';

test('a watch that is ready for more says so again when the hub had no room for the news', async (t) => {
  const time = new VirtualTime();
  const told: string[] = [];
  let isFull = true;
  const hub = {
    ask: () => Promise.resolve({ revision: 1 }),
    tell: ({ type }: { type: string }) => {
      if (isFull) return 'full';
      told.push(type);
      return 'queued';
    },
  } as unknown as Ref<HubProtocol>;
  const context = { timers: time, random: new SeededRandom(1) } as unknown as ActorContext;
  const limits = { requestTimeoutMs: 1000, minRequestTimeoutMs: 1000, metaGroup: 'meta' };
  const watches = new Watches({
    context,
    hub,
    conversion: NO_CONVERSION,
    forms: SAME_FORMS,
    schema: () => schemaOf(DIALECTS.orch),
    bearerPrefix: 'bearer.',
    ...limits,
  });
  const response = new FakeResponse();
  const request = { isWebSocket: false } as unknown as Arrival['request'];
  const exchange = exchangeOver(response, { request, query: parseQuery('watch=1') });
  const info = { namespace: '', name: '' } as Parameters<Watches['serve']>[1];
  const type = { storageKey: 'core/pods', selectableFields: [] };
  const form = { type, representation: { contentType: 'application/json' } };
  void watches.serve(exchange, info, form as unknown as AnswerForm);
  await time.runUntilIdle();
  watches.frames({ watchers: [1], chunk: Buffer.from('{}\n'), throughRevision: 1, catchUp: true, parks: 0 });
  response.disconnect();
  await time.advance(1000);
  t.deepEqual(told, []);
  isFull = false;
  await time.advance(1000);
  t.deepEqual(told, ['watchReady', 'watchClosed']);
});

const LATE_CASES = [
  ['the hub has no room', () => Promise.reject(new OrchError('Overloaded', 'full'))],
  ['the store that knew the place is gone', () => Promise.resolve({ revision: 2 })],
] as const;

for (const [why, ask] of LATE_CASES) {
  test(`a write that is done and cannot be shown, because ${why}, is answered 504`, async (t) => {
    const reads = new Reads({
      hub: { ask } as unknown as Ref<HubProtocol>,
      slabs: { holds: () => false } as unknown as ThreadSlabs,
      records: new ProtobufRecords(DIALECTS.orch),
      requestTimeoutMs: 1000,
      metaGroup: 'meta',
      timers: new VirtualTime(),
      jobs: NO_JOB_POOL,
      heapRoom: new HeapRoom(0),
      conversion: NO_CONVERSION,
      forms: SAME_FORMS,
    });
    const exchange = exchangeOver();
    const form = {} as AnswerForm;
    const place = { incarnation: 1, revision: 2, slab: 0, offset: 0 };
    const error = await t.throwsAsync(async () => reads.sendWritten(exchange, 201, place, form), {
      instanceOf: StatusError,
    });
    t.is(error.status.code, 504);
  });
}
