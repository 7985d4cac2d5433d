// A snapshot of the store on its way to whoever asked for it.
import test from 'ava';
import { sendSnapshot } from '../../../../actors/ingress/paths/store-snapshot.ts';
import { SUPERUSERS } from '../../../../api/authorization/attributes.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { exchangeOver } from '../exchanges.ts';

const TIMEOUT_MS = 1000;
const PIECES = 5;

/** A snapshot of some pieces that is being sent, and what the store was told of it at the end. */
function sendingTo(response: FakeResponse, time: VirtualTime) {
  const closed: number[] = [];
  let left = PIECES;
  const store = {
    ask: async ({ type }: { readonly type: string }) =>
      type === 'openSnapshot'
        ? { id: 7, revision: 1, objects: 0, digest: 0 }
        : { payload: Buffer.alloc(left-- > 0 ? 10 : 0) },
    tell: ({ id }: { readonly id: number }) => closed.push(id),
  } as unknown as Parameters<typeof sendSnapshot>[1]['store'];
  const exchange = exchangeOver(response);
  exchange.user = { name: 'a', uid: '', groups: [SUPERUSERS], extra: {} };
  const parts = { store, clock: time, dialect: 'orch', storePrefix: '/registry', timeoutMs: TIMEOUT_MS };
  const sent = sendSnapshot(exchange, parts, time);
  return { exchange, closed, sent };
}

test('a snapshot takes as long as its client needs that goes on reading', async (t) => {
  const time = new VirtualTime();
  const response = new FakeResponse();
  response.isFull = () => true;
  const { closed, sent } = sendingTo(response, time);
  for (let drained = 0; drained <= PIECES; drained++) {
    await time.advance(TIMEOUT_MS - 1);
    response.drain();
  }
  await sent;
  t.deepEqual([response.aborted, response.ended, response.chunks.length], [false, true, PIECES + 1]);
  t.deepEqual(closed, [7]);
});

test('a snapshot whose client takes nothing is cut off, and the store need not keep it', async (t) => {
  const time = new VirtualTime();
  const response = new FakeResponse();
  response.isFull = () => true;
  const { exchange, closed, sent } = sendingTo(response, time);
  await time.advance(TIMEOUT_MS - 1);
  t.deepEqual([response.aborted, closed], [false, []]);
  await time.advance(1);
  await sent;
  t.true(response.aborted && exchange.isCutOff);
  t.deepEqual(closed, [7]);
});
