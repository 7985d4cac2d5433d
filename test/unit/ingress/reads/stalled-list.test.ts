// A list whose client stops reading: it holds the store's memory back for as long as a request may take, and no longer.

import test from 'ava';
import type { HubProtocol, ListAnswer } from '../../../../actors/hub/protocol.ts';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import type { AnswerForm } from '../../../../actors/ingress/reads/answer-forms.ts';
import { Lists } from '../../../../actors/ingress/reads/lists.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { ProtobufRecords } from '../../../../rendering/protobuf-records.ts';
import type { Ref } from '../../../../runtime/actor.ts';
import type { Timers } from '../../../../runtime/environment.ts';
import { NO_JOB_POOL } from '../../../../runtime/jobs/job-pool.ts';
import { HeapRoom } from '../../../../runtime/memory/heap-room.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { Records } from '../../hub/records.ts';
import { renderingOf, representationOf } from '../../rendering/representations.ts';
import { exchangeOver } from '../exchanges.ts';
import { NO_CONVERSION, SAME_FORMS } from '../no-conversion.ts';

const REQUEST_TIMEOUT_MS = 60_000;
const PIN = 7;
const ITEMS = 200;

/** One list of a megabyte, and which pins they have let go of. */
function listsOfOne(timers: Timers): { readonly lists: Lists; readonly released: readonly number[] } {
  const records = new Records();
  const places = new Uint32Array(ITEMS * 2);
  for (let i = 0; i < ITEMS; i++) {
    const { slab, offset } = records.write({ namespace: 'a', name: `o${i}`, text: 'x'.repeat(5000) }, i + 1);
    places.set([slab, offset], i * 2);
  }
  const { incarnation } = records.slabs;
  const answer: ListAnswer = { places, incarnation, revision: ITEMS, continueToken: '', remaining: 0, pin: PIN };
  const released: number[] = [];
  const hub = {
    ask: () => Promise.resolve(answer),
    tell: ({ pin }: { pin: number }) => {
      released.push(pin);
      return 'queued';
    },
  } as unknown as Ref<HubProtocol>;
  const lists = new Lists({
    hub,
    slabs: records.thread,
    records: new ProtobufRecords(DIALECTS.orch),
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    metaGroup: 'meta',
    timers,
    jobs: NO_JOB_POOL,
    heapRoom: new HeapRoom(0),
    conversion: NO_CONVERSION,
    forms: SAME_FORMS,
  });
  return { lists, released };
}

function listed(lists: Lists, exchange: Exchange): Promise<void> {
  const type = { storageKey: 'core/samples', apiVersion: 'v1', listKind: 'SampleList', selectableFields: [] };
  const info = { namespace: '', name: '' } as Parameters<Lists['list']>[1];
  const target = { kind: 'Sample', apiVersion: 'v1' } as unknown as Parameters<typeof renderingOf>[0];
  const representation = representationOf(renderingOf(target));
  return lists.list(exchange, info, { type, representation } as unknown as AnswerForm);
}

for (const [what, isFull, isCut] of [
  ['is cut off', () => true, true],
  ['that was read is left alone', () => false, false],
] as const) {
  test(`a list ${what}, and lets go of what it holds back`, async (t) => {
    const time = new VirtualTime();
    const { lists, released } = listsOfOne(time);
    const response = new FakeResponse();
    response.isFull = isFull;
    const exchange = exchangeOver(response);
    const done = listed(lists, exchange);
    await time.advance(REQUEST_TIMEOUT_MS - 1);
    t.deepEqual([response.aborted, response.ended, released.length], [false, !isCut, isCut ? 0 : 1]);
    await time.advance(1);
    await done;
    t.is(response.aborted, isCut);
    t.is(exchange.isCutOff, isCut);
    t.deepEqual(released, [PIN]);
  });
}

test('of long lists that go out together one goes on at a time, however many there are', async (t) => {
  const time = new VirtualTime();
  let waiting = 0;
  let waitingMost = 0;
  const soon = (callback: () => void): void => {
    waitingMost = Math.max(waitingMost, ++waiting);
    time.soon(() => {
      waiting--;
      callback();
    });
  };
  const timers: Timers = { soon, after: time.after.bind(time), every: time.every.bind(time) };
  const { lists } = listsOfOne(timers);
  const responses = Array.from({ length: 50 }, () => new FakeResponse());
  const all = Promise.all(responses.map((response) => listed(lists, exchangeOver(response))));
  await time.advance(1);
  await all;
  t.true(responses.every(({ ended }) => ended));
  t.is(waitingMost, 1);
});
