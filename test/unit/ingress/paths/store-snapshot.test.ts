// A snapshot of the store on its way to whoever asked for it.
import test from 'ava';
import { sendSnapshot } from '../../../../actors/ingress/paths/store-snapshot.ts';
import { SUPERUSERS } from '../../../../api/authorization/attributes.ts';
import { isStatusError } from '../../../../api/status/status.ts';
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

/** What is said of a request for a snapshot. `groups`: of who asks; `opened`: what the store answers. */
async function answerTo(groups: readonly string[], opened: object) {
  const response = new FakeResponse();
  const asked: string[] = [];
  const payloads = [Buffer.from('a'), Buffer.from('b'), Buffer.alloc(0)];
  const store = {
    ask: async ({ type, id }: { readonly type: string; readonly id?: number }) => {
      asked.push(id === undefined ? type : `${type} ${id}`);
      return type === 'openSnapshot' ? opened : { payload: payloads.shift() };
    },
    tell: ({ type, id }: { readonly type: string; readonly id: number }) => asked.push(`${type} ${id}`),
  } as unknown as Parameters<typeof sendSnapshot>[1]['store'];
  const exchange = exchangeOver(response);
  exchange.user = { name: 'a', uid: '', groups, extra: {} };
  const time = new VirtualTime();
  const parts = { store, clock: time, dialect: 'orch', storePrefix: '/registry', timeoutMs: TIMEOUT_MS };
  let refusal: unknown;
  await sendSnapshot(exchange, parts, time).catch((error: unknown) => {
    refusal = error;
  });
  return { response, asked, status: isStatusError(refusal) ? refusal.status : undefined, wallMs: time.nowMs() };
}

test('a snapshot begins with what it is of, and its pieces follow', async (t) => {
  const opened = { id: 7, revision: 5, objects: 2, digest: 9 };
  const { response, asked, wallMs } = await answerTo(['a', SUPERUSERS], opened);
  t.is(response.status, 200);
  t.deepEqual(response.headers.find(([name]) => name === 'Content-Type')?.[1], 'application/octet-stream');
  const [header, pieces] = response.text.split('\n');
  const { id: _, ...of } = opened;
  t.deepEqual(JSON.parse(header!), { snapshotFormat: 1, dialect: 'orch', prefix: '/registry', ...of, wallMs });
  t.deepEqual([pieces, response.ended], ['ab', true]);
  t.deepEqual(asked, ['openSnapshot', 'readSnapshot 7', 'readSnapshot 7', 'readSnapshot 7', 'closeSnapshot 7']);
});

test('nobody but a superuser is given a snapshot, and nobody one that the store cannot make', async (t) => {
  const other = await answerTo(['system:authenticated'], { id: 7 });
  t.like(other.status, { code: 403, reason: 'Forbidden' });
  t.deepEqual([other.asked, other.response.status], [[], 0]);
  const refused = await answerTo([SUPERUSERS], { refused: 'too many' });
  t.like(refused.status, { code: 500 });
  t.regex(refused.status?.message ?? '', /too many/);
  t.deepEqual([refused.asked, refused.response.status], [['openSnapshot'], 0]);
});
